"""What is right of the same numbers, and what a mistake makes of them, asked once: most tests of the checker do."""

from convviz.cases.random_cases import TENSORS
from convviz.cases.tasks import truth
from convviz.mistakes.catalogue import compute


def remembered(patch, *modules):
    """Let modules that ask what is right remember it, by the very numbers."""
    known = {}

    def right(task, case):
        asked = (task, *_numbers(case))
        if asked not in known:
            known[asked] = truth(task, case)
        return dict(known[asked])

    for module in modules:
        patch.setattr(module, "truth", right)


def remembered_mistakes(patch, module):
    """Let a module that computes what a mistake gives remember it, by the very numbers."""
    known, cases = {}, {}

    def gives(of, recipe, case):
        if id(case) not in cases:  # kept with its numbers, so that no later one has its id
            cases[id(case)] = case, _numbers(case)
        asked = (of, frozenset(recipe.items()), cases[id(case)][1])
        if asked not in known:
            known[asked] = compute(of, recipe, case)
        return known[asked]

    patch.setattr(module, "compute", gives)


def _numbers(case):
    return (case.spec, case.rule, *(case.tensor(name).detach().numpy().tobytes() for name in TENSORS))
