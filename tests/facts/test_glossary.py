"""The Chinese catalogues and pages use the glossary's words, each for one thing, and Chinese punctuation."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from convviz.facts.i18n import current_language
from convviz.facts.i18n.current_language import languages
from convviz.facts.i18n.update_catalogues import strings_of

DOCS = Path(__file__).parents[2] / "docs"
TERMS, _, UNUSED = (DOCS / "glossary.md").read_text(encoding="utf-8").partition("\n## Words that the catalogues do not")
CHINESE = [tag for tag in languages() if tag.startswith("zh")]
HAN = r"\u4e00-\u9fff"
HALF_WIDTH = re.compile(rf"[{HAN}][,;:?!(]|\([^()−]*[{HAN}][^()−]*\)")  # a difference in parentheses is a formula
ENGLISH = re.compile(r"\b(?:stride|padding|dilation|kernel|batch) (?:[{\d]|从|從)")  # as a word, not as an argument


def rows(table):
    """Return the cells of a table's rows, the two at its head left out."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def in_language(tag, cell):
    found = re.search(rf'<span lang="{tag}">(.*?)</span>', cell)
    return found[1] if found else ""


def texts(tag):
    """Return all that is read in a language: id → sentence, of its catalogue and of its page in the manual."""
    with current_language.FOLDER.joinpath(f"{tag}.po").open("rb") as file:
        messages = [message for message in read_po(file) if message.id]
    found = {
        message.context.removeprefix("words/").replace("/words:", ":"): strings_of(message)[-1] for message in messages
    }
    return found | {path.name: path.read_text(encoding="utf-8") for path in DOCS.joinpath(tag).glob("*.md")}


def unused(tag):
    """Return the words that a language does not use, each with its term and the ids that may."""
    for term, *not_in, exceptions in rows(UNUSED):
        for word in filter(None, in_language(tag, "".join(not_in)).split("、")):
            yield term, word, re.findall("`(.*?)`", exceptions)


@pytest.mark.parametrize("tag", CHINESE)
def test_a_catalogue_uses_each_term_of_the_glossary_and_none_of_the_words_beside_it(tag):
    said, terms = texts(tag), {row[0].strip("*"): in_language(tag, "".join(row)) for row in rows(TERMS)}
    wrong = [
        f"nothing says {chosen} for {term}"
        for term, chosen in terms.items()
        if (word := re.match(rf"[{HAN}]+", chosen)) and not any(word[0] in text for text in said.values())
    ]
    for term, word, exceptions in unused(tag):
        assert word not in terms[term], f"{term}: {word} is used and is not"
        for id, text in said.items():
            if word in text and not any(fnmatchcase(id, each) for each in exceptions):
                wrong.append(f"{id} says {word}; {term} is {terms[term]}: {text}")
    assert wrong == []


def test_each_exception_of_the_glossary_is_needed():
    listed, needed = set(), set()
    for tag in CHINESE:
        said = texts(tag)
        for _, word, exceptions in unused(tag):
            listed.update(exceptions)
            having = [id for id, text in said.items() if word in text]
            needed.update(each for each in exceptions if any(fnmatchcase(id, each) for id in having))
    assert listed == needed


@pytest.mark.parametrize("tag", CHINESE)
def test_chinese_sentences_have_chinese_punctuation_and_no_english_word_where_there_is_a_chinese_one(tag):
    said = {id: text for id, text in texts(tag).items() if not id.endswith(".md")}
    assert {id: text for id, text in said.items() if HALF_WIDTH.search(text)} == {}
    assert {id: text for id, text in said.items() if re.search(f"[{HAN}]", text) and ENGLISH.search(text)} == {}
