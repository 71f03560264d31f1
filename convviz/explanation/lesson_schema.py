"""What the file of a lesson may say: its keys, and what a step is made of."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from convviz.cases.tasks import GRADIENTS
from convviz.facts import facts
from convviz.facts.features import FEATURES, TABS

# Which keys a file needs and may have; tasks; values, with an example of those that are lists; words and parts.
FACTS = facts("lesson")
KINDS_OF_TASK: list[str] = FACTS["tasks"]
EXAMPLES: dict[str, list[Any] | None] = FACTS["values"]
CHOICES: dict[str, list[str]] = {**FACTS["choices"], "tab": TABS}
# What of a tab a step can bring in sight.
PARTS_OF: dict[str, list[str]] = {name: feature.get("parts", []) for name, feature in FEATURES.items()}
EDITED: list[str] = FACTS["edited"]  # the panels whose cells are typed into
# What can be chosen in a tab: a mistake or the gradient that it is in, a layer or one of its variants.
MISTAKES = {*GRADIENTS, *(mistake["id"] for mistake in facts("mistakes"))}
CHOSEN_IN = {
    name: MISTAKES if feature["choices"] == "mistakes" else {*feature["choices"]}
    for name, feature in FEATURES.items()
    if "choices" in feature
}
TOPICS = tuple(id.removeprefix("why.") for id in facts("words/why_buttons") if id.startswith("why."))


def what_is_misshapen(step: Mapping[str, Any]) -> Iterator[str]:
    """Yield what keeps a step from being read at all, a sentence each."""
    yield from keys("it", step, "step")
    for name, choices in CHOICES.items():
        if name in step and step[name] not in choices:
            yield f"{name} is one of {', '.join(choices)}: got {step[name]!r:.40}."
    if unknown := [topic for topic in step.get("why", []) if topic not in TOPICS]:
        yield f"why names topics of the board, {', '.join(TOPICS)}: got {unknown[0]!r:.40}."
    for task in step.get("do", []):
        yield from keys("a task in do", task, "do")
        kinds = [kind for kind in KINDS_OF_TASK if kind in task]
        if len(kinds) != 1:
            yield f"a task in do has one of {', '.join(KINDS_OF_TASK)}: got {', '.join(kinds) or 'none'}."
        elif (known := {"pin": "place"}.get(kinds[0], kinds[0])) in FACTS["keys"]:
            yield from keys(kinds[0], task[kinds[0]], known)
        if "choose" in task and task["choose"] not in (there := CHOSEN_IN.get(step.get("tab", ""), set[str]())):
            yield (
                f"choose names what stands in the step's tab, which is one of {', '.join(CHOSEN_IN)}: got "
                f"{task['choose']!r:.40}; here are {', '.join(sorted(there)) or 'none'}."
            )
        if "edit" in task and task["edit"].get("panel") not in EDITED:
            yield f"an edit is typed into one of {', '.join(EDITED)}: got {task['edit'].get('panel')!r:.40}."
    for name, value in step.get("values", {}).items():
        for kind, example in EXAMPLES.items():
            if example and kind in value and (not isinstance(value[kind], list) or len(value[kind]) != len(example)):
                yield f"the value {name}: {kind} is a list such as {json.dumps(example)}: got {value[kind]!r:.40}."
        if len(EXAMPLES.keys() & value) != 1 or len(set(value) - set(FACTS["beside_a_value"])) != 1:
            yield f"the value {name} is found by one of {', '.join(EXAMPLES)}: got {', '.join(value)}."
    cells = {
        "pin": step.get("pin"),
        **{f"highlight {at}": cell for at, cell in enumerate(step.get("highlight", []), 1)},
    }
    if "question" in step:
        yield from keys("question", step["question"], "question")
        cells["the question's cell"] = step["question"].get("cell", dict.fromkeys(FACTS["keys"]["place"]["needs"]))
    for name, cell in cells.items():
        if cell is not None:
            yield from keys(name, cell, "place")
    if "part" in step and step["part"] not in (parts := PARTS_OF.get(step.get("tab", ""), [])):
        yield f"part is one of its tab's, {', '.join(parts) or 'which has none'}: got {step['part']!r:.40}."
    code = step.get("code", [])
    if not isinstance(code, list) or not all(isinstance(line, str) for line in code):
        yield f"code is a list of lines: got {code!r:.40}."
    if not isinstance(step.get("state"), str):
        yield 'state is the keys of a link that are other than in base, such as "stride=2", or "".'


def keys(what: str, given: Any, kind: str) -> Iterator[str]:
    """Yield which keys a JSON object lacks, and which it cannot have."""
    needed, may = (set(FACTS["keys"][kind][part]) for part in ("needs", "may"))
    if not isinstance(given, Mapping):
        yield f"{what} is a JSON object: got {given!r:.40}."
        return
    if missing := needed - set(given):
        yield f"{what} lacks {listed(missing)}."
    for key in sorted(set(given) - needed - may):
        yield f"{what} has an unknown key {key!r:.40}: known are {listed(needed | may)}."


def listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
