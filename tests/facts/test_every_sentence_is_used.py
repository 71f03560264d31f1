"""The sentences that visitors read: each is said somewhere, with its arguments, and none is written elsewhere.

The ids that scripts say are there, or tsc complains. What lessons say, test_lessons.py holds.
"""

import ast
import functools
import re
from pathlib import Path

import pytest

from convviz.facts import facts
from convviz.facts.join_lists import comma, listed, semicolon
from convviz.facts.words import ARGUMENT, sentences
from convviz.settings.compute import compute
from convviz.settings.link import from_link
from convviz.settings.state import Settings
from convviz.settings.tensor_source import Source
from convviz.views import captions
from convviz.views.panels import Sign, equations
from tests.geometries import EDGE_CASES, random_specs

PACKAGE = Path(__file__).parents[2] / "convviz"
# As `sentences` takes them: the name of a file in words/, or of a feature.
PARTS = [path.stem for path in sorted(PACKAGE.joinpath("facts", "data", "words").glob("*.json"))]
PARTS += [f"features/{path.parent.name}" for path in sorted(PACKAGE.joinpath("features").glob("*/words.json"))]
# Ids that are names of something else: of controls and panels, lessons, words of the field, sections of the article.
BY_NAME = {"article", "help", "lesson_titles", "terms"}
# What names sentences that somebody else says: what numbers were held against, why there is no answer.
NAMED_IN = {"picture": PACKAGE / "app" / "step_numbers.py", "server_failures": PACKAGE / "serve" / "worker_pool.py"}
JS_TEXTS = (re.compile(r'"([\w.]+)"'), re.compile(r"`([\w.]*\$\{[^`]*)`"))
JS_CALL = re.compile(r'\b(\w+)\("([\w.]+)"(?:, \{ ([^{}]*) \})?\)')


def written(node):
    """Yield a pattern for each text that an expression can be, as far as it is written in it."""
    if isinstance(node, ast.IfExp):
        yield from written(node.body)
        yield from written(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield re.escape(node.value)
    elif isinstance(node, ast.JoinedStr):
        yield "".join(re.escape(part.value) if isinstance(part, ast.Constant) else ".*" for part in node.values)


def part_said_by(node):
    """Return the part of an expression such as `sentences("app")`; None of any other."""
    called = isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "sentences"
    return node.args[0].value if called and node.args and isinstance(node.args[0], ast.Constant) else None


def in_python(path):
    """Return the parts that a module says, its texts, and its calls: (part, patterns, names of arguments, where)."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    parts = {part for part in map(part_said_by, nodes) if part}
    named = {
        ast.unparse(node.targets[0]): part_said_by(node.value)
        for node in nodes
        if isinstance(node, ast.Assign) and part_said_by(node.value)
    }
    calls = [
        (named.get(ast.unparse(node.func)) or part_said_by(node.func), node)
        for node in nodes
        if isinstance(node, ast.Call) and node.args
    ]
    said = [
        (part, list(written(node.args[0])), {each.arg for each in node.keywords}, f"{path.name}:{node.lineno}")
        for part, node in calls
        if part
    ]
    return parts, {pattern for node in nodes for pattern in written(node)}, said


def words_in(path):
    """Return the files of sentences that a script imports: its name of each → part."""
    source, own = path.read_text(encoding="utf-8"), f"features/{path.resolve().relative_to(PACKAGE).parts[1]}"
    found = dict(re.findall(r'import (\w+) from "[./]*/facts/data/words/(\w+)\.json"', source))
    return found | dict.fromkeys(re.findall(r'import (\w+) from "\./words\.json"', source), own)


def parts_named(path):
    """Return what a script names to say the sentences of a part: name → part."""
    said = re.findall(r"const (\w+) = (?:sentences|pieces)\((\w+)\)", path.read_text(encoding="utf-8"))
    return {name: words_in(path).get(of) for name, of in said}


def in_script(path):
    """Return the same of a script."""
    source, words, named = path.read_text(encoding="utf-8"), words_in(path), parts_named(path)
    for names, file in re.findall(r'import \{([^}]*)\} from "([./\w]+/(?:\w+_)?sentences\.js)"', source):
        shared, _, _ = in_script(path.parent / file)
        if len(shared) == 1:
            named |= dict.fromkeys(re.findall(r"\w+", names), *shared)
        elif shared:
            named |= {name: of for name, of in parts_named(path.parent / file).items() if name in names}
    texts = {
        ".*".join(map(re.escape, re.split(r"\$\{(?:[^{}]|\{[^}]*\})*\}", text)))
        for form in JS_TEXTS
        for text in form.findall(source)
    }
    said = []
    for name, id, given in JS_CALL.findall(source):
        if part := named.get(name):
            plain = re.sub(r"\([^()]*\)|\[[^\]]*\]", "", re.sub(r"\([^()]*\)", "", given))
            names = {each.split(":")[0].strip() for each in plain.split(",") if each.strip()}
            names = {None if name.startswith("...") else name for name in names}
            said.append((part, [re.escape(id)], names, path.name))
    return {*words.values(), *filter(None, named.values())}, texts, said


@functools.cache
def sources():
    """Return (parts, texts, calls) of every module and script, read once."""
    scripts = [
        *(path for path in PACKAGE.joinpath("web").rglob("*.js") if "vendor" not in path.parts),
        *PACKAGE.joinpath("features").rglob("*.js"),
        *PACKAGE.joinpath("export").glob("*.js"),
    ]
    return {path: in_python(path) for path in PACKAGE.rglob("*.py")} | {path: in_script(path) for path in scripts}


def words_of(part):
    return facts(f"{part}/words" if "/" in part else f"words/{part}")


def arguments_of(text):
    """Return the names of a text's arguments; of forms those of all together, and the number that chooses one."""
    if isinstance(text, str):
        return set(ARGUMENT.findall(text))
    return {"count"}.union(*map(arguments_of, text.values()))


@pytest.mark.parametrize("part", PARTS)
def test_what_is_said_is_there_with_its_arguments(part):
    texts = {id: arguments_of(text) for id, text in words_of(part).items()}
    for _, _, said in sources().values():
        for of, patterns, names, where in said:
            for pattern in patterns if of == part else ():
                found = [arguments for id, arguments in texts.items() if re.fullmatch(pattern, id)]
                assert found, f"{where} says {pattern}, which the words of {part} have not"
                # None stands for **values or ...values, whose names are not written there; a pattern may fit other ids.
                fits = any(names - {None} <= each if None in names else names == each for each in found)
                assert fits, f"{where} says {pattern} with {names}: it takes {found}"


@pytest.mark.parametrize("part", [part for part in PARTS if part not in BY_NAME])
def test_every_sentence_is_said(part):
    patterns = {
        pattern
        for path, (parts, texts, _) in sources().items()
        if part in parts or path == NAMED_IN.get(part)
        for pattern in texts
        if pattern.strip(".*")
    }
    ids = {id.removesuffix(".touch") for id in words_of(part)}
    assert [id for id in ids if not any(re.fullmatch(each, id) for each in patterns)] == []


def test_a_plural_has_the_forms_of_english():
    for part in PARTS:
        for id, text in words_of(part).items():
            assert isinstance(text, str) or set(text) == {"one", "other"}, (part, id)


def test_a_sentence_that_is_not_there_or_lacks_an_argument_is_reported():
    with pytest.raises(KeyError, match=r"has no sentence 'moved\.nothing'"):
        sentences("rules")("moved.nothing")
    with pytest.raises(KeyError, match="needs 'old'"):
        sentences("rules")("moved.padding_mode")


def test_a_list_is_joined_as_english_does():
    assert [listed(parts) for parts in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
    assert comma(["a", "b", "c"]) == "a, b, c"
    assert semicolon(["a, b", "c"]) == "a, b; c"


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
    reported = [*of_links, *of_others]
    assert len(reported) >= 10
    assert [text for text in reported if outside(text)] == []
    # Why torch has no such geometry is said where it is raised.
    assert all(text.startswith("⟦") and text.endswith("⟧") for text in of_geometries)
