"""The sentences of rules and picture: each id in the files is used, each that is used is there with its arguments, and
nothing that a visitor reads is written elsewhere: in a language of brackets all of it stands in brackets."""

import ast
import re
from importlib.resources import files
from pathlib import Path

import pytest

from convviz.facts import facts
from convviz.facts.words import sentences
from convviz.settings.compute import compute
from convviz.settings.link import from_link
from convviz.settings.source import Source
from convviz.settings.state import Settings
from convviz.views import captions
from convviz.views.panels import Sign, equations
from tests.geometries import EDGE_CASES, random_specs

PACKAGE = Path(__file__).parents[1] / "convviz"
JS = files("convviz.board").joinpath("js")
# What says the sentences of each file: a folder of Python, and one of JavaScript whose say.js others import as well.
PARTS = {"rules": "settings", "state": "settings", "picture": "views"}
# What names sentences that somebody else says: the kernel those about what its numbers were held against.
NAMED_IN = {"rules": [], "state": [], "picture": ["app/wire.py"]}
JS_CALL = re.compile(r'\bsay\("(?P<id>[\w.]+)"(?:, \{ (?P<given>[^{}]*) \})?\)')
JS_TEXT = re.compile(r'"(?P<plain>[\w.]+)"|`(?P<made>[\w.]*\$\{[^`]*)`')


def python_sources(part):
    paths = sorted((PACKAGE / PARTS[part]).rglob("*.py"))
    return [path for path in paths if f'sentences("{part}")' in path.read_text(encoding="utf-8")]


def js_sources(part):
    others = [path for path in JS.rglob("*.js") if f'from "../{part}/say.js"' in path.read_text(encoding="utf-8")]
    own = JS.joinpath(part)
    return sorted([*(own.iterdir() if own.is_dir() else []), *others], key=str)


def arguments_of(text):
    """Return the names of a text's arguments; of forms those of all together, and the number that chooses one."""
    if isinstance(text, str):
        return set(re.findall(r"\{(\w+)\}", text))
    return {"count"}.union(*map(arguments_of, text.values()))


def written(node):
    """Yield a pattern for each text that an expression can be, as far as it is written in it."""
    if isinstance(node, ast.IfExp):
        yield from written(node.body)
        yield from written(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield re.escape(node.value)
    elif isinstance(node, ast.JoinedStr):
        yield "".join(re.escape(part.value) if isinstance(part, ast.Constant) else ".*" for part in node.values)


def said_in_python(part):
    """Yield (pattern, names of the arguments, where) of each say(...) whose id is written there."""
    for path in python_sources(part):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
                names = {keyword.arg for keyword in node.keywords}
                for pattern in written(node.args[0]):
                    yield pattern, names, f"{path.name}:{node.lineno}"


def said_in_js(part):
    """Yield (pattern, names of the arguments, where) of each say("...", { ... }) of JavaScript."""
    for path in js_sources(part):
        for found in JS_CALL.finditer(path.read_text(encoding="utf-8")):
            given = re.sub(r"\([^()]*\)|\[[^\]]*\]", "", re.sub(r"\([^()]*\)", "", found["given"] or ""))
            names = {each.split(":")[0].strip() for each in given.split(",") if each}
            yield re.escape(found["id"]), names, path.name


@pytest.mark.parametrize("part", PARTS)
def test_what_is_said_is_there_with_its_arguments(part):
    texts = {id: arguments_of(text) for id, text in facts(f"words/{part}").items()}
    calls = [*said_in_python(part), *said_in_js(part)]
    assert len(calls) > 10
    for pattern, names, where in calls:
        found = [id for id in texts if re.fullmatch(pattern, id)]
        assert found, f"{where} says {pattern}, which words/{part}.json has not"
        # None stands for **values, whose names are not written there; a pattern may fit ids that are not meant.
        fits = None in names or names in [texts[id] for id in found]
        assert fits, f"{where} says {pattern} with {names}: it takes {[texts[id] for id in found]}"


@pytest.mark.parametrize("part", PARTS)
def test_every_sentence_is_used(part):
    patterns = set()
    for path in [*python_sources(part), *(PACKAGE / name for name in NAMED_IN[part])]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        patterns.update(pattern for node in ast.walk(tree) for pattern in written(node))
    for path in js_sources(part):
        for found in JS_TEXT.finditer(path.read_text(encoding="utf-8")):
            made = re.split(r"\$\{(?:[^{}]|\{[^}]*\})*\}", found["made"] or found["plain"])
            patterns.add(".*".join(map(re.escape, made)))
    patterns = {pattern for pattern in patterns if pattern.strip(".*")}
    assert [id for id in facts(f"words/{part}") if not any(re.fullmatch(each, id) for each in patterns)] == []


def test_a_sentence_that_is_not_there_or_lacks_an_argument_is_told():
    with pytest.raises(KeyError, match=r"has no sentence 'moved\.nothing'"):
        sentences("rules")("moved.nothing")
    with pytest.raises(KeyError, match="needs 'old'"):
        sentences("rules")("moved.padding_mode")


# -- another language ----------------------------------------------------------------------------------------------


def bracketed(text):
    return f"⟦{text}{'~' * (len(text) // 2)}⟧"


@pytest.fixture
def brackets(monkeypatch):
    """Say everything in brackets, half as long again."""

    def longer(text):
        return bracketed(text) if isinstance(text, str) else {form: longer(each) for form, each in text.items()}

    def foreign(name):
        known = facts(name)
        return {id: longer(text) for id, text in known.items()} if name.startswith("words/") else known

    monkeypatch.setattr("convviz.facts.words.facts", foreign)


def outside(text):
    """Return what of a text stands outside of all brackets."""
    while text != (shorter := re.sub(r"⟦[^⟦⟧]*⟧", "", text)):
        text = shorter
    return text.strip()


def test_nothing_about_the_still_picture_is_written_outside_of_its_sentences(brackets):
    seen = 0
    for number, spec in enumerate([*EDGE_CASES.values(), *random_specs(31, 60)]):
        transposed = spec.padding_mode == "zeros" and number % 2 == 0
        bias = Source("values", (1.0,), (1,)) if number % 3 else None
        settings = Settings(spec=spec, transposed=transposed, bias=bias)
        result = compute(settings, compare=False)
        texts = [captions.loss(result)]
        for view in ("window", "stamps"):
            for row in equations(result, settings.plane, view):
                texts += [row.title, captions.formula(result, settings.plane, row.name, view)]
                texts += [item.note for item in row.items if isinstance(item, Sign)]
        assert [text for text in texts if outside(text)] == [], spec
        seen += len(list(filter(None, texts)))
    assert seen > 700


def test_nothing_that_a_link_leaves_out_is_written_outside_of_its_sentences(brackets):
    _, of_links = from_link("v=1&size=x&padding=x&digit=x&loss=x&link_axes=x&input=x&bias=x&plane=x&one=1&loss=sum")
    _, of_others = from_link("v=9&a=1&b=1&c=1&d=1&e=1&f=1")
    _, of_geometries = from_link("v=x&size=1&kernel=9&groups=3")
    told = [*of_links, *of_others]
    assert len(told) >= 10
    assert [text for text in told if outside(text)] == []
    # Why torch has no such geometry is said where it is raised.
    assert all(text.startswith("⟦") and text.endswith("⟧") for text in of_geometries)
