"""Pooling in the page: against torch's autograd, and each sentence about a cell against what it claims."""

import contextlib
import itertools
import json
import re

import pytest
import torch
import torch.nn.functional as F

from convviz.geometry.spec import ConvSpec
from convviz.settings.link import from_link
from tests.browser.call_javascript import called

FILES = [f"../features/pooling/{name}.js" for name in ("pool_plane", "pooling_sentences", "poolable", "linked_cells")]
POOLABLE = FILES[2]
RUN = """(text) => JSON.stringify(JSON.parse(text).map(({ spec, pooling, input, grad, words }) => {
  const { poolPlane, gradInput } = js["../features/pooling/pool_plane.js"];
  const { cellWords, sizeOf } = js["../features/pooling/pooling_sentences.js"];
  const { overlaps } = js["../features/pooling/linked_cells.js"];
  const pooled = poolPlane(spec, pooling, input, grad);
  const planes = ["padded_input", "output", "grad_output", "mask", "grad_input"];
  const said = (plane, overwritten = false) => Array.from({ length: sizeOf(pooled, plane).reduce((a, b) => a * b) },
    (_, index) => cellWords({ pooled, window: 0, overwritten }, { plane, index }));
  return {
    ...{ size: pooled.output_size, output: pooled.output.map(String), grad_input: pooled.grad_input },
    ...{ assigned: gradInput(pooled, true), overlap: overlaps(spec, pooled.output_size) },
    words: words ? Object.fromEntries(planes.map((plane) => [plane, said(plane)])) : null,
    assigning: words ? said("grad_input", true) : null,
  };
}))"""


@pytest.fixture(scope="module")
def js(request):
    with called(request, lambda text: text, FILES) as functions:
        yield functions


class Case:
    """One plane pooled by torch, with its gradient."""

    def __init__(self, spec, kind, ceil, include, ties, seed):
        self.spec, self.max = spec, kind == "max_pool2d"
        self.pooling = {"kind": kind, "ceil_mode": ceil, "count_include_pad": include}
        generator = torch.Generator().manual_seed(seed)
        shape = (1, 1, *spec.input_size)
        self.x = torch.randn(shape, generator=generator, dtype=torch.float64) - 1  # mostly negative
        self.x = (self.x.round() if ties else self.x).requires_grad_()
        padding = [side[0] for side in spec.padding]
        if self.max:
            geometry = (spec.kernel_size, spec.stride, padding, spec.dilation)
            self.y, self.winners = F.max_pool2d(self.x, *geometry, ceil_mode=ceil, return_indices=True)
        else:
            self.y = F.avg_pool2d(self.x, spec.kernel_size, spec.stride, padding, ceil, include)
        self.g = torch.randn(self.y.shape, generator=generator, dtype=torch.float64)
        (self.gx,) = torch.autograd.grad(self.y, self.x, self.g)

    def __str__(self):
        return f"{self.spec} {self.pooling} {self.x.tolist()}"

    def asked(self, words=False):
        x, g = (tensor.detach().flatten().tolist() for tensor in (self.x, self.g))
        return {"spec": self.spec.to_dict(), "pooling": self.pooling, "input": x, "grad": g, "words": words}

    def padded(self, i):
        width, (top, left) = self.spec.input_size[1], (side[0] for side in self.spec.padding)
        return f"padded_input[{i // width + top}, {i % width + left}]"

    def corner(self, k):
        return f"[{k // self.spec.kernel_size[1]}, {k % self.spec.kernel_size[1]}]"

    def windows(self):
        """Return the pixels of each window, by its cells; None where padding is."""
        height, width = self.spec.input_size
        found = []
        for o in itertools.product(*map(range, self.y.shape[2:])):
            cells = []
            for k in itertools.product(*map(range, self.spec.kernel_size)):
                row, column = (
                    o[axis] * self.spec.stride[axis] - self.spec.padding[axis][0] + k[axis] * self.spec.dilation[axis]
                    for axis in (0, 1)
                )
                cells.append(row * width + column if 0 <= row < height and 0 <= column < width else None)
            found.append(cells)
        return found


def cases():
    """Every setting that torch pools with, ties included."""
    seed = 0
    sizes, kernels = ((4, 5), (7, 6)), ((1, 1), (2, 2), (3, 3), (3, 2))
    for size, kernel, stride, dilation in itertools.product(sizes, kernels, (1, 2, 3, (2, 1)), (1, 2)):
        for padding in sorted({0, min(kernel) // 2}):
            if any(dilation * (k - 1) + 1 > h + 2 * padding for k, h in zip(kernel, size, strict=True)):
                continue
            spec = ConvSpec(size, 1, 1, kernel, stride, padding, dilation)
            for ceil, other in itertools.product((False, True), repeat=2):
                seed += 1
                yield Case(spec, "max_pool2d", ceil, True, other, seed)
                if dilation == 1:
                    yield Case(spec, "avg_pool2d", ceil, other, False, seed)


def ask(js, all, words=False):
    return json.loads(js.page.evaluate(RUN, json.dumps([case.asked(words) for case in all])))


def test_the_page_pools_as_torch_does_with_every_setting(js):
    all = list(cases())
    assert len(all) > 400
    hidden = 0
    for case, found in zip(all, ask(js, all), strict=True):
        assert found["size"] == list(case.y.shape[2:]), case
        output = torch.tensor([float(each) for each in found["output"]], dtype=torch.float64)
        assert torch.allclose(output, case.y.flatten(), rtol=0, atol=1e-14), case
        gradient = torch.tensor(found["grad_input"], dtype=torch.float64)
        assert torch.allclose(gradient, case.gx.flatten(), rtol=0, atol=1e-14), case
        counts = [sum(i in window for window in case.windows()) for i in range(case.x.numel())]
        assert found["overlap"] == (max(counts) > 1), case
        if not found["overlap"]:
            assert found["assigned"] == found["grad_input"], f"= for += is hidden: {case}"
        hidden += not found["overlap"]
    assert 0 < hidden < len(all)


def test_what_is_assigned_is_what_a_loop_with_it_gives(js):
    all = [case for number, case in enumerate(cases()) if number % 7 == 0 and case.max]
    for case, found in zip(all, ask(js, all), strict=True):
        wrong = torch.zeros(case.x.numel(), dtype=torch.float64)
        for window, winner, g in zip(case.windows(), case.winners.flatten(), case.g.flatten(), strict=True):
            for i in (i for i in window if i is not None):
                wrong[i] = g if i == winner else 0
        assert found["assigned"] == wrong.tolist(), case


MASK_FORMS = {"is the largest", "is the first of", "is smaller than", "is as large as", "is padding"}


def named(plane, index, columns):
    return f"{plane}[{index // columns}, {index % columns}]"


NUMBER = r"(−?[\d.]+(?:e−?\d+)?)"


def number(text):
    return float(text.replace("−", "-"))


def last_number(text):
    """Return the total that stands before the colon or the comma that begins the reason."""
    head = re.split(r"[:,] (?=[a-z0-9])", text.split("] = ", 1)[1])[0]
    return number(re.findall(NUMBER, head)[-1])


def close(one, other):
    return one == pytest.approx(other, rel=1e-5, abs=1e-9)


def test_every_sentence_about_max_pooling_is_true(js):
    all = [case for case in cases() if case.max][::5]
    seen = set()
    for case, found in zip(all, ask(js, all, words=True), strict=True):
        (height, width), windows = case.spec.input_size, case.windows()
        x, winners = case.x.detach().flatten().tolist(), case.winners.flatten().tolist()
        top, left = (side[0] for side in case.spec.padding)
        across = case.y.shape[3]

        for o, window in enumerate(windows):
            ties = sum(i is not None and x[i] == x[winners[o]] for i in window)
            out, sent = found["words"]["output"][o], found["words"]["grad_output"][o]
            assert out.startswith(f"{named('output', o, across)} = "), case
            assert out.endswith(f"{case.padded(winners[o])}."), f"{out} {case}"
            assert close(last_number(out), x[winners[o]]), f"{out} {case}"
            assert (f"{ties} numbers" in out) == (ties > 1) == (f"first of {ties}" in sent), f"{out} {sent} {case}"
            assert f"added to {named('grad_input', winners[o], width)} alone" in sent, f"{sent} {case}"
            assert close(last_number(sent.replace(" is added", ": it")), case.g.flatten()[o].item()), sent
        for k, i in enumerate(windows[0]):
            said = found["words"]["mask"][k]
            seen |= {form for form in MASK_FORMS if form in said}
            assert said.startswith(f"mask = {int(i == winners[0])} at {case.corner(k)}: "), f"{said} {case}"
            place = case.corner(windows[0].index(winners[0]))
            assert ("is padding" in said) == (i is None), f"{said} {case}"
            if "smaller than" in said:
                assert x[i] < x[winners[0]], f"{said} {case}"
                assert f"at {place} of the window" in said, f"{said} {case}"
            if "as large as" in said:
                assert x[i] == x[winners[0]], f"{said} {case}"
                assert f"at {place} of the window" in said, f"{said} {case}"
                assert i > winners[0], f"{said} {case}"
        for i in range(height * width):
            inside, taken = [o for o, w in enumerate(windows) if i in w], winners.count(i)
            said = found["words"]["grad_input"][i]
            assert said.startswith(f"{named('grad_input', i, width)} = "), f"{said} {case}"
            assert close(last_number(said), case.gx.flatten()[i].item()), f"{said} {case}"
            count = {0: "", 1: "one window"}.get(taken, f"{taken} windows")
            assert count in said, f"{said} {case}"
            assert ("no window contains it" in said) == (not inside), f"{said} {case}"
            if "it was the largest" in said:
                for o in (o for o in inside if winners[o] == i):
                    assert sum(j is not None and x[j] >= x[i] for j in windows[o]) == 1, f"{said} {case}"
            if "because the number at" in said or "in the first of them" in said:
                assert taken == 0, f"{said} {case}"
                first = inside[0]
                assert ("was larger" in said) == (x[winners[first]] > x[i]), f"{said} {case}"
                assert f"at {case.corner(windows[first].index(winners[first]))}" in said, f"{said} {case}"
                assert f"none of its {len(inside)} windows" in said or len(inside) == 1, f"{said} {case}"
            if len(inside) > 0:
                columns = width + 2 * left
                columns = max(
                    columns,
                    (across - 1) * case.spec.stride[1] + (case.spec.kernel_size[1] - 1) * case.spec.dilation[1] + 1,
                )
                pixel = found["words"]["padded_input"][(i // width + top) * columns + i % width + left]
                assert pixel.startswith(f"{case.padded(i)} = "), f"{pixel} {case}"
                many = f"{len(inside)} window{'s' * (len(inside) > 1)}"
                assert f"it is in {many}, and is taken as the largest by {taken}." in pixel, f"{pixel} {case}"
            reported = found["assigning"][i]
            if "with =, because" in reported:
                wrong = number(re.search(rf"\] = {NUMBER} with", reported)[1])
                assert close(wrong, found["assigned"][i]), f"{reported} {case}"
                assert not close(wrong, case.gx.flatten()[i].item()), f"{reported} {case}"
                assert f"that of {named('output', inside[-1], across)}." in reported, f"{reported} {case}"
    assert seen == MASK_FORMS, "each form of the sentence was tried"


def test_every_sentence_about_average_pooling_is_true(js):
    all = [case for case in cases() if not case.max][::3]
    for case, found in zip(all, ask(js, all, words=True), strict=True):
        windows, x = case.windows(), case.x.detach().flatten().tolist()
        for o, window in enumerate(windows):
            said = found["words"]["output"][o]
            total, divisor, mean = map(number, re.search(rf"= {NUMBER} / {NUMBER} = {NUMBER}:", said).groups())
            assert close(mean, case.y.flatten()[o].item()), f"{said} {case}"
            assert close(total, sum(x[i] for i in window if i is not None)), f"{said} {case}"
            assert divisor == round(total / mean) or abs(mean) < 1e-3, f"{said} {case}"
            inside = sum(i is not None for i in window)
            assert ("no padding" in said) == (divisor == inside < len(window)), f"{said} {case}"
            assert ("zeros of the padding are counted" in said) == (divisor > inside), f"{said} {case}"
            sent = found["words"]["grad_output"][o]
            assert close(number(re.search(rf"= {NUMBER}, however", sent)[1]), case.g.flatten()[o].item() / divisor)
        for i, gradient in enumerate(case.gx.flatten().tolist()):
            said = found["words"]["grad_input"][i]
            assert close(last_number(said), gradient), f"{said} {case}"
            count = sum(i in window for window in windows)
            part = {0: "no window", 1: "share of one window"}.get(count, f"shares of {count} windows")
            assert part in said, f"{said} {case}"


LINKS = {
    "v=2&kernel=2&padding=2&size=5": ["at most half of the kernel, rounded down: 1"],
    "v=2&kernel=3&padding=1,0x1,1&size=5": ["its two sides differ"],
    "v=2&mode=reflect&padding=1&size=5": ["padding_mode is reflect"],
    "v=2&transposed=1": ["no transposed pooling"],
    "v=2&size=5&dilation=2&kernel=3&padding=2": ["at most half"],
}


@pytest.mark.parametrize("kind", ["max_pool2d", "avg_pool2d"])
def test_what_torch_refuses_is_said_and_the_nearest_is_taken(js, kind):
    taken = 0
    for h, k, s, p, d in itertools.product((1, 4, 6), (1, 2, 3, 4), (1, 2), (0, 1, 2, 3), (1, 2, 3)):
        if d * (k - 1) + 1 > h + 2 * p:
            continue
        spec = ConvSpec(h, 1, 1, k, s, p, d)
        settings = {"spec": spec.to_dict(), "transposed": False}
        (reported,), (near,) = (
            js(POOLABLE, "refusals", [[settings, kind]]),
            js(POOLABLE, "nearestSpec", [[spec.to_dict(), kind]]),
        )
        assert bool(reported) == (not pools(spec, kind)), f"{spec} {kind} {reported}"
        nearest = ConvSpec.from_dict(near)
        assert pools(nearest, kind), f"{spec} {kind} → {nearest}"
        if not reported:
            assert nearest == spec
        taken += not reported
    assert taken > 20


def pools(spec, kind):
    x, padding = torch.zeros(1, 1, *spec.input_size), [side[0] for side in spec.padding]
    if kind == "avg_pool2d" and spec.dilation != (1, 1):
        return False
    more = (spec.dilation,) if kind == "max_pool2d" else ()
    with contextlib.suppress(RuntimeError):
        getattr(F, kind)(x, spec.kernel_size, spec.stride, padding, *more)
        return True
    return False


def test_other_settings_that_pooling_has_not_are_said_one_by_one(js):
    for link, wanted in LINKS.items():
        settings, notices = from_link(link)
        assert not notices, link
        (reported,) = js(POOLABLE, "refusals", [[settings.to_dict(), "max_pool2d"]])
        assert len(reported) == len(wanted), f"{link}: {reported}"
        for words, part in zip(reported, wanted, strict=True):
            assert part in words, link
