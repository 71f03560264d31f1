"""The sentences of the explanations: each id in a file is used, and each that is used is there with its arguments."""

import ast
import string
from pathlib import Path

from convviz.facts import facts
from convviz.facts.lists import comma, listed

PACKAGE = Path(__file__).parents[1] / "convviz"
PARTS = {
    "backend": ["explanation/backend"],
    "lists": ["facts/lists.py"],
    "quantised": ["explanation/quantised"],
}


def test_every_sentence_is_used_and_has_the_arguments_it_names():
    for part, places in PARTS.items():
        texts = {id: arguments_of(text) for id, text in facts(f"words/{part}").items()}
        said, strings = set(), set()
        for path in modules(places):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            strings |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
            for ids, given, line in calls(tree):
                for id in ids:
                    assert texts.get(id) == given, f"{path.name}:{line} says {id!r} of {part} with {given}"
                    said.add(id)
        left = set(texts) - said
        assert left <= strings, f"words/{part}.json has sentences that nothing says: {left - strings}"
        assert not any(texts[id] for id in left), f"said by a name alone, so without arguments: {left}"


def test_a_list_is_joined_as_english_does():
    assert [listed(parts) for parts in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
    assert comma(["a", "b", "c"]) == "a, b, c"


def modules(places):
    for place in places:
        found = PACKAGE / place
        yield from sorted(found.rglob("*.py")) if found.is_dir() else [found]


def arguments_of(text):
    """Return the names of a text's arguments; of forms those of all together, and the number that chooses one."""
    if isinstance(text, str):
        return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    return {"count"}.union(*map(arguments_of, text.values()))


def calls(tree):
    """Yield (ids, names of the arguments, line) of each say(...) whose id is written there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
            ids = list(written(node.args[0]))
            if ids:
                yield ids, {keyword.arg for keyword in node.keywords}, node.lineno


def written(node):
    """Yield the texts that an expression can be, as far as they are written in it."""
    if isinstance(node, ast.IfExp):
        yield from written(node.body)
        yield from written(node.orelse)
    elif isinstance(node, ast.Constant):
        yield node.value
