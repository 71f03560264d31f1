"""What the file of a lesson may say: its keys, and what a step is made of."""

from collections.abc import Iterator, Mapping
from typing import Any

from convviz.check.tasks import GRADIENTS
from convviz.explanation.quantised.kinds import KINDS
from convviz.facts import facts

# What a file may say: the keys that it needs, and those that it may have beside them.
LESSON = ({"title", "base", "steps", "end"}, {"controls"})
STEP = (
    {"title", "words", "state"},
    {"values", "focus", "band", "pin", "highlight", "do", "question", "why", "tray", "quiet", "tab", "part", "code"},
)
DO = ({"words", "then"}, {"mark", "edit", "walk", "set", "pin", "choose"})
QUESTION = ({"cell", "words", "hint", "because", "answer"}, set[str]())
END = ({"words", "next"}, {"exercise"})
PLACE = {"panel", "row", "column"}
KINDS_OF_TASK = {"edit": {*PLACE, "by"}, "walk": {"places"}, "set": None, "pin": PLACE, "choose": None}
KINDS_OF_VALUE = (
    *("cell", "one", "windows", "outside", "kernel", "setting", "remainder", "sum", "terms", "extent", "numbers"),
    *("reach", "border", "loss", "rate"),
)
EXAMPLES = {
    **dict.fromkeys(("cell", "sum", "terms"), '["grad_input", 0, 0]'),
    **dict.fromkeys(("windows", "outside"), "[0, 0]"),
    "extent": '["output", 0]',
}
LISTED = {kind: example.count(",") + 1 for kind, example in EXAMPLES.items()}  # how long these lists are
BESIDE_A_VALUE = {"when", "plus", "plane"}
CHOICES = {
    "focus": ("forward", "input", "weight", "bias"),
    "band": ("forward", "input", "weight", "bias"),
    "tray": ("full",),
    "quiet": ("until done", "throughout"),
    "tab": tuple(facts("names")["tabs"]),
}
# What can be chosen in a tab: a mistake or the gradient that it is in, a layer or one of its variants.
CHOSEN_IN = {
    "mistakes": {*GRADIENTS, *(mistake["id"] for mistake in facts("mistakes"))},
    "quantised": {*KINDS, *(variant for kind in KINDS.values() for variant in kind.variants)},
}
# What of a tab a step can bring in sight.
PARTS_OF = {
    "mistakes": ("shown",),
    "quantised": ("forward", "variants", "check"),
    "race": ("weights", "seconds", "table"),
}
TOPICS = tuple(id.removeprefix("why.") for id in facts("words/because") if id.startswith("why."))
EDITED = ("padded_input", "weight", "grad_output")  # the panels whose cells are typed into


def what_is_misshapen(step: Mapping[str, Any]) -> Iterator[str]:
    """Yield what keeps a step from being read at all, a sentence each."""
    yield from keys("it", step, *STEP)
    for name, choices in CHOICES.items():
        if step.get(name, choices[0]) not in choices:
            yield f"{name} is one of {', '.join(choices)}: got {step[name]!r:.40}."
    if unknown := [topic for topic in step.get("why", []) if topic not in TOPICS]:
        yield f"why names topics of the board, {', '.join(TOPICS)}: got {unknown[0]!r:.40}."
    for task in step.get("do", []):
        yield from keys("a task in do", task, *DO)
        kinds = [kind for kind in KINDS_OF_TASK if kind in task]
        if len(kinds) != 1:
            yield f"a task in do has one of {', '.join(KINDS_OF_TASK)}: got {', '.join(kinds) or 'none'}."
        elif (needed := KINDS_OF_TASK[kinds[0]]) is not None:
            yield from keys(kinds[0], task[kinds[0]], needed, set())
        if "choose" in task and task["choose"] not in (there := CHOSEN_IN.get(step.get("tab", ""), set[str]())):
            yield (
                f"choose names what stands in the step's tab, which is one of {', '.join(CHOSEN_IN)}: got "
                f"{task['choose']!r:.40}; here are {', '.join(sorted(there)) or 'none'}."
            )
        if "edit" in task and task["edit"].get("panel") not in EDITED:
            yield f"an edit is typed into one of {', '.join(EDITED)}: got {task['edit'].get('panel')!r:.40}."
    for name, value in step.get("values", {}).items():
        for kind in LISTED.keys() & value.keys():
            if not isinstance(value[kind], list) or len(value[kind]) != LISTED[kind]:
                yield f"the value {name}: {kind} is a list such as {EXAMPLES[kind]}: got {value[kind]!r:.40}."
        if len([kind for kind in KINDS_OF_VALUE if kind in value]) != 1 or len(set(value) - BESIDE_A_VALUE) != 1:
            yield f"the value {name} is found by one of {', '.join(KINDS_OF_VALUE)}: got {', '.join(value)}."
    cells = {
        "pin": step.get("pin"),
        **{f"highlight {at}": cell for at, cell in enumerate(step.get("highlight", []), 1)},
    }
    if "question" in step:
        yield from keys("question", step["question"], *QUESTION)
        cells["the question's cell"] = step["question"].get("cell", dict.fromkeys(PLACE))
    for name, cell in cells.items():
        if cell is not None:
            yield from keys(name, cell, PLACE, set())
    if "part" in step and step["part"] not in (parts := PARTS_OF.get(step.get("tab", ""), ())):
        yield f"part is one of its tab's, {', '.join(parts) or 'which has none'}: got {step['part']!r:.40}."
    code = step.get("code", [])
    if not isinstance(code, list) or not all(isinstance(line, str) for line in code):
        yield f"code is a list of lines: got {code!r:.40}."
    if not isinstance(step.get("state"), str):
        yield 'state is the keys of a link that are other than in base, such as "stride=2", or "".'


def keys(what: str, given: Any, needed: set[str], may: set[str]) -> Iterator[str]:
    """Yield what a JSON object lacks of what is needed, and what it has that is not in ``may`` either."""
    if not isinstance(given, Mapping):
        yield f"{what} is a JSON object: got {given!r:.40}."
        return
    if missing := needed - set(given):
        yield f"{what} lacks {listed(missing)}."
    for key in sorted(set(given) - needed - may):
        yield f"{what} has an unknown key {key!r:.40}: known are {listed(needed | may)}."


def listed(names: set[str]) -> str:
    """Return names as a sentence lists them."""
    return ", ".join(sorted(names))
