"""Students' code for the checker's tests: right in many styles, and wrong in every listed way; the mistakes' list is
``mistaken_input`` and ``mistaken_weight``. Written from descriptions of the mistakes, not from the checker's own."""

from convviz.cases.battery import battery
from convviz.cases.tasks import TASKS, truth
from convviz.check.call_outcome import same
from convviz.check.calling import open_student
from tests.check import mistaken_input, mistaken_weight, students_grad_input, students_grad_weight
from tests.check.student_code_styles import backward_of

RIGHT = {
    "conv2d_input": students_grad_input.RIGHT,
    "conv2d_weight": students_grad_weight.RIGHT,
    "conv2d_bias": students_grad_weight.RIGHT_BIAS,
    "conv2d_backward": {
        f"{a}, {b}, {c}": backward_of(dx, dw, db)
        for a, dx in students_grad_input.RIGHT.items()
        for b, dw in students_grad_weight.RIGHT.items()
        for c, db in students_grad_weight.RIGHT_BIAS.items()
    },
}
WAYS = mistaken_input.MISTAKES | mistaken_weight.MISTAKES
PARTS = ("conv2d_input", "conv2d_weight", "conv2d_bias")


def part_of(id):
    """Return the task that asks for the gradient in which the mistake is made."""
    return PARTS["IWB".index(id[0])]


def mistaken(id):
    """Return the functions of a mistake, as written for its own gradient."""
    if id[0] == "B":
        return mistaken_weight.BIAS[id]
    return [style(**steps) for style, steps in WAYS[id]]


def in_backward(made):
    """Return a ``conv2d_backward`` that is right but for the given parts: ``{"conv2d_input": fn, ...}``."""
    right = (students_grad_input.rotate(), students_grad_weight.correlated(), students_grad_weight.bias_by_sum)
    return backward_of(*(made.get(part, rest) for part, rest in zip(PARTS, right, strict=True)))


def plain_backward(dout, x, w, b, stride=1, padding=0):
    """A ``conv2d_backward`` that is right and knows neither dilation nor groups nor borders."""
    return in_backward({})(dout, x, w, b, stride, padding, (1, 1), 1, "zeros")


def changed(dx=None, dw=None, db=None):
    """Return a ``conv2d_backward`` that is right but for what is done to its results."""

    def backward(*given):
        parts = zip((dx, dw, db), in_backward({})(*given), strict=True)
        return tuple(change(part) if change else part for change, part in parts)

    return backward


IDS = (*mistaken_input.MISTAKES, *mistaken_weight.MISTAKES, *mistaken_weight.BIAS)


def pairs_in_one(ids=None):
    """Yield (id, id, task, fn) for two mistakes in one gradient: ways of one style whose wrong steps are others."""
    listed = list(WAYS) if ids is None else ids
    for at, one in enumerate(listed):
        for other in listed[at + 1 :]:
            if one[0] == other[0]:
                made = next(_together(WAYS[one], WAYS[other]), None)
                if made is not None:
                    yield one, other, part_of(one), made


def _together(ones, others):
    for style, steps in ones:
        for other_style, other_steps in others:
            if style is other_style and not steps.keys() & other_steps.keys():
                yield style(**steps, **other_steps)


def asked(fn, task, without=(), **given):
    """Return a student and how many cases it was asked, after holding every answer against autograd."""
    cases = [case for case in battery("all", 0, linear=task.startswith("linear")) if case.name not in without]
    student = open_student(fn, TASKS[task], cases, **given)
    count = 0
    for case in map(student.suited, cases):
        if student.takes(case) is None:
            answer, right = student.answer(case), truth(student.task, case)
            where = f"{fn} at {case.name}: {answer.kind} {answer.message} {student.assumed}"
            assert (answer.kind, tuple(answer.results)) == ("ok", student.results), where
            for name, value in answer.results.items():
                assert same(value, right[name]), f"{where} {name} {tuple(value.shape)}"
            count += 1
    return student, count
