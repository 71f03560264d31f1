"""Update all catalogues with the English texts: ``python -m convviz.facts.i18n.update_catalogues``.

A catalogue is gettext's PO: a message's context says where its text stands, its id is the English text. One whose
English has changed is marked fuzzy, and said in English until somebody has looked at it; what English no longer has
goes. A new language begins as an empty file ``languages/<tag>.po``.
"""

import io
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.plurals import get_plural
from babel.messages.pofile import read_po, write_po

from convviz.facts.i18n import current_language
from convviz.facts.i18n.current_language import ENDING, ENGLISH, languages
from convviz.facts.i18n.read_po import is_whole, strings_of
from convviz.facts.i18n.translatable_texts import Text, all_texts
from convviz.facts.words import ARGUMENT

MARKS = ("`", "*", "\n", "](")  # which a translation has as often as the English text
HEAD = """msgid ""
msgstr ""
"Project-Id-Version: convviz\\n"
"Language: {tag}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {forms}\\n"

"""


def renewed(tag: str, before: str, given: Mapping[str, Sequence[str]] | None = None) -> tuple[str, list[str]]:
    """Return a catalogue with the texts of today and what is ``given``, and the contexts that English has no more."""
    read = read_po(io.StringIO(before))
    there = {str(message.context): message for message in read if message.id}
    forms = read.plural_forms if "Plural-Forms:" in before else get_plural(tag.partition("-")[0]).plural_forms
    made = Catalog()
    made.mime_headers = [("Plural-Forms", forms)]
    texts = all_texts()
    for context, text in texts.items():
        _add(made, context, text, there.get(context), (given or {}).get(context))
    out = io.BytesIO()
    write_po(out, made, width=0, omit_header=True, include_previous=True)
    return HEAD.format(tag=tag, forms=forms) + out.getvalue().decode(), sorted(set(there) - set(texts))


def _add(made: Catalog, context: str, text: Text, before: Message | None, given: Sequence[str] | None) -> None:
    id = text if isinstance(text, str) else (text["one"], text["other"])
    if given is not None:
        made.add(id, given[0] if isinstance(id, str) else tuple(given), context=context)
    elif before is None:
        made.add(id, context=context)
    elif before.id == id or not any(strings_of(before)):
        made.add(id, before.string, flags=before.flags, previous_id=before.previous_id, context=context)
    else:
        forms = strings_of(before)
        string = forms[-1] if isinstance(id, str) else tuple(forms[:1] * made.num_plurals if len(forms) == 1 else forms)
        made.add(id, string, flags={"fuzzy"}, previous_id=before.id, context=context)


def faults(tag: str) -> Iterator[str]:
    """Yield what is wrong with a catalogue: what lacks, has no use, or is unlike its English."""
    with current_language.FOLDER.joinpath(f"{tag}{ENDING}").open("rb") as file:
        there = {str(message.context): message for message in read_po(file) if message.id}
    texts = all_texts()
    for context in sorted(set(there) - set(texts)):
        yield f"{tag}: {context} is in no file of facts any more"
    for context, text in texts.items():
        message = there.get(context)
        ids = [text] if isinstance(text, str) else [text["one"], text["other"]]
        if message is None or not is_whole(message):
            yield f"{tag}: {context} is not translated: {ids[-1]!r}"
        elif message.fuzzy or ids != ([message.id] if isinstance(message.id, str) else list(message.id)):
            yield f"{tag}: {context} was translated from another English text: look at it, and take the mark fuzzy away"
        else:
            *others, last = strings_of(message)
            free = {"count"} if len(ids) > 1 else set()  # of things, which a form may leave out
            unlike = [*_unlike(last, ids[-1:], free), *(wrong for form in others for wrong in _unlike(form, ids, free))]
            yield from (f"{tag}: {context} {wrong}" for wrong in unlike)


def _unlike(form: str, ids: Sequence[str], free: set[str]) -> Iterator[str]:
    """Yield what a translation has in another way than its English texts."""
    got, wanted = set(ARGUMENT.findall(form)), [set(ARGUMENT.findall(id)) for id in ids]
    if got | free not in [each | free for each in wanted]:
        yield f"has other arguments: {sorted(got)} for {sorted(wanted[-1])}"
    for mark in MARKS:
        if all(form.count(mark) != id.count(mark) for id in ids):
            yield f"has {form.count(mark)} times {mark!r}, the English text {ids[-1].count(mark)} times"
    ends = zip(_ends(ids[-1]), _ends(form), strict=True)
    if any(end.isspace() != own.isspace() and not _is_wide(own) for end, own in ends):
        yield "begins or ends with a space where the English text does not, or the other way round"


def _ends(text: str) -> tuple[str, str]:
    return text[:1], text[-1:]


def _is_wide(letter: str) -> bool:
    return bool(letter) and unicodedata.east_asian_width(letter) in "WF"


def main() -> None:
    for tag in languages():
        if tag == ENGLISH:
            continue
        path = Path(str(current_language.FOLDER.joinpath(f"{tag}{ENDING}")))
        text, gone = renewed(tag, path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")
        for context in gone:
            print(f"{tag}: {context} is in no file of facts any more, and has gone")
        for fault in faults(tag):
            print(fault)


if __name__ == "__main__":
    main()
