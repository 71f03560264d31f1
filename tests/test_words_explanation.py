"""The sentences of the explanations: each id in a file is used, and each that is used is there with its arguments."""

import ast
import string
from pathlib import Path

from convviz.facts import facts
from convviz.facts.lists import comma, listed, semicolon
from convviz.ops.backends import BACKENDS

PACKAGE = Path(__file__).parents[1] / "convviz"
PARTS = {
    "backend": ["explanation/backend", "ops/backends.py"],
    "graph": ["explanation/graph"],
    "layer": ["explanation/layer"],
    "lessons": ["explanation/gradcheck.py", "explanation/linear_lesson.py", "explanation/matrices.py"],
    "lists": ["facts/lists.py"],
    "quantised": ["explanation/quantised"],
}
BY_NAME = {"backend": {f"is.{name}" for name in BACKENDS}}  # what a call makes of the name of something


def test_every_sentence_is_used_and_has_the_arguments_it_names():
    for part, places in PARTS.items():
        texts = {id: arguments_of(text) for id, text in facts(f"words/{part}").items()}
        said, strings, by_name = set(), set(), [set()]
        for path in modules(places):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            strings |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
            for ids, given, line in calls(tree):
                for id in ids:
                    assert id in texts, f"{path.name}:{line} says {id!r}, which words/{part}.json does not have"
                    assert fits(texts[id], given), f"{path.name}:{line} says {id!r} with {given}, not {texts[id]}"
                    said.add(id)
                if not ids:
                    by_name.append(given)
        left = set(texts) - said - BY_NAME.get(part, set())
        assert left <= strings, f"words/{part}.json has sentences that nothing says: {left - strings}"
        for id in left:
            assert any(fits(texts[id], given) for given in by_name), f"{id!r} of {part} needs {texts[id]}"


def test_a_list_is_joined_as_english_does():
    assert [listed(parts) for parts in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
    assert comma(["a", "b", "c"]) == "a, b, c"
    assert semicolon(["a, b", "c"]) == "a, b; c"


def modules(places):
    for place in places:
        found = PACKAGE / place
        yield from sorted(found.rglob("*.py")) if found.is_dir() else [found]


def arguments_of(text):
    """Return the names of a text's arguments; of forms those of all together, and the number that chooses one."""
    if isinstance(text, str):
        return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    return {"count"}.union(*map(arguments_of, text.values()))


def fits(names, given):
    """Tell whether a call gives just the arguments that a text names; behind ** anything may stand."""
    return given - {None} <= names if None in given else given == names


def calls(tree):
    """Yield (ids, names of the arguments, line) of each say(...); no ids where they are written elsewhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
            yield list(written(node.args[0])), {keyword.arg for keyword in node.keywords}, node.lineno


def written(node):
    """Yield the texts that an expression can be, as far as they are written in it."""
    if isinstance(node, ast.IfExp):
        yield from written(node.body)
        yield from written(node.orelse)
    elif isinstance(node, ast.Constant):
        yield node.value
