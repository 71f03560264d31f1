"""The sentences of board, tabs and app: every id in their files is said somewhere, and what is said is there."""

import ast
import re
from pathlib import Path

import pytest

from convviz.facts import facts
from convviz.facts.words import ARGUMENT

PACKAGE = Path(__file__).parents[1] / "convviz"
SCRIPTS = [*PACKAGE.joinpath("board", "js").rglob("*.js"), *PACKAGE.joinpath("export").glob("*.js")]
MODULES = sorted(PACKAGE.rglob("*.py"))
PARTS = (
    "board", "tabs", "pane", "mistakes", "app", "served", "because", "player", "race", "calling", "audit", "exercise",
    "yours", "check", "gate", "stack", "double", "broken",
)  # fmt: skip
JS_TEXT = re.compile(r'"([\w.]+)"|`([a-z]+\.\w*\$\{[\w\[\]]+\}\w*(?:\$\{\w+\}\w*)?|\$\{\w+\}\.\w+)`')


def said_in_scripts(part):
    """Return a pattern for every text in a script that reads a part: an id, or a template of several."""
    patterns = set()
    for path in SCRIPTS:
        source = path.read_text(encoding="utf-8")
        if f"/facts/words/{part}.json" in source:
            for plain, template in JS_TEXT.findall(source):
                patterns.add(r"\w+".join(map(re.escape, re.split(r"\$\{[^}]*\}", plain or template))))
    return patterns


def calls(part):
    """Yield (module, call) for every place in Python that says a sentence of a part."""
    makers = (f"sentences('{part}')", f"words.sentences('{part}')")
    for path in MODULES:
        source = path.read_text(encoding="utf-8")
        if f'sentences("{part}")' not in source:
            continue
        nodes = list(ast.walk(ast.parse(source)))
        made = [node for node in nodes if isinstance(node, ast.Assign) and ast.unparse(node.value) in makers]
        named = {ast.unparse(node.targets[0]) for node in made}
        yield from (
            (path.name, node) for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) in named
        )


def texts_in(tree):
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def arguments(text):
    forms = [text] if isinstance(text, str) else [*text.values(), "{count}"]
    return {name for form in forms for name in ARGUMENT.findall(form)}


def said_in_python(part):
    """Return a pattern for every id that Python says, in one place or by a name that is made there."""
    patterns = set()
    for path in MODULES:
        source = path.read_text(encoding="utf-8")
        if f'sentences("{part}")' not in source:
            continue
        tree = ast.parse(source)
        patterns |= {re.escape(text) for text in texts_in(tree)}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                pieces = [re.escape(v.value) if isinstance(v, ast.Constant) else r"\w*" for v in node.values]
                patterns.add("".join(pieces))
    return patterns


@pytest.mark.parametrize("part", PARTS)
def test_every_sentence_is_said(part):
    patterns = said_in_scripts(part) | said_in_python(part)
    ids = {id.removesuffix(".touch") for id in facts(f"words/{part}")}
    unsaid = [id for id in ids if not any(re.fullmatch(each, id) for each in patterns)]
    assert unsaid == []


@pytest.mark.parametrize("part", PARTS)
def test_what_python_says_is_there_with_its_arguments(part):
    table = facts(f"words/{part}")
    for module, call in calls(part):
        id_of, given = call.args[0], {keyword.arg for keyword in call.keywords}
        if not isinstance(id_of, ast.Constant | ast.IfExp):
            continue  # an id that is made: test_every_sentence_is_said finds what it may be
        ids = texts_in(id_of) if isinstance(id_of, ast.Constant) else texts_in(id_of.body) + texts_in(id_of.orelse)
        for id in ids:
            assert id in table, f"{module} says {id!r}, which words/{part}.json lacks"
            if None not in given:
                assert given == arguments(table[id]), f"{module}: {id}"


@pytest.mark.parametrize("part", PARTS)
def test_a_plural_has_the_forms_of_its_language(part):
    for id, text in facts(f"words/{part}").items():
        assert isinstance(text, str) or set(text) == {"one", "other"}, id
