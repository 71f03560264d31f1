"""The page's engine of mistakes: each way that it knows is Python's, the right one autograd's."""

import json

import pytest
import torch

from convviz.cases.battery import make_case
from convviz.mistakes.catalogue import catalogue, compute
from tests.autograd_truth import truth
from tests.geometries import EDGE_CASES, random_specs

GRADIENTS = ("grad_input", "grad_weight", "grad_bias")
RESULTS = (*GRADIENTS, "output")
# For each geometry: what each recipe makes of its numbers, and what the taps do.
RUN = """(text) => {
  const { cases, recipes } = JSON.parse(text);
  const { mistakenGradient, gradientRight, mistakenNumber, mistakenProducts } = js["numbers/compute_mistake.js"];
  const { MistakeResults } = js["numbers/mistake_results.js"];
  const { computesTheSame } = js["numbers/diagnose_number.js"];
  const { rightProducts } = js["rules/products.js"];
  const tensor = ({ shape, data }) => ({ shape, data: Float64Array.from(data) });
  const plain = (tensor) => tensor && { shape: tensor.shape, data: [...tensor.data] };
  return JSON.stringify(cases.map(({ spec, ...tensors }) => {
    const given = Object.fromEntries(Object.entries(tensors).map(([name, each]) => [name, tensor(each)]));
    const gradients = ["grad_input", "grad_weight", "grad_bias"];
    const right = Object.fromEntries(gradients.map((of) => [of, plain(gradientRight(of, spec, given))]));
    const outputBy = (recipe) => {
      const products = mistakenProducts("output", recipe, spec);
      const count = products?.shape.reduce((total, size) => total * size, 1);
      const numberAt = (_, index) => mistakenNumber("output", products, given, index);
      return products && { shape: products.shape, data: Array.from({ length: count }, numberAt) };
    };
    const ways = recipes.map(([of, recipe]) =>
      of === "output" ? outputBy(recipe) : plain(mistakenGradient(of, recipe, spec, given)));
    const reported = recipes.map(([of, recipe]) => {
      if (of === "output") return null;
      const [ours, theirs] = [rightProducts(of, spec), mistakenProducts(of, recipe, spec)];
      if (!theirs || String(ours.shape) !== String(theirs.shape)) return null;
      const index = Math.floor(right[of].data.length / 2);
      const { kept, missing, extra } = new MistakeResults(spec, given).compared(of, recipe, index, index);
      const sum = (list) => list.reduce((total, { value }) => total + value, 0);
      const reported = { index, same: computesTheSame(ours, { ...theirs, bias: ours.bias }) };
      return { ...reported, right: sum(kept) + sum(missing), wrong: (sum(kept) + sum(extra)) * theirs.factor };
    });
    return { right, ways, reported };
  }));
}"""


def plain(tensor):
    return {"shape": list(tensor.shape), "data": tensor.flatten().tolist()}


def known(way):
    """Return whether the page computes a way; rules/recipe_steps.js has the same list."""
    known_ones = {"axes": {"exchanged"}, "groups": {"ignored", "reversed"}, "shape": {"[1]"}}
    return all(choice in known_ones.get(step, {choice}) for step, choice in way.items())


def recipes():
    """Return (id, result, recipe) of every way of every mistake, and of the right ones."""
    ways = [
        (mistake.id, of, way)
        for mistake in catalogue().values()
        for of in mistake.of
        for way in mistake.ways
        if of in RESULTS and mistake.is_of("") and known(way)
    ]
    return ways + [("right", of, {}) for of in RESULTS]


def cases():
    specs = [*EDGE_CASES.items(), *((f"random {n}", spec) for n, spec in enumerate(random_specs(21, 80)))]
    # The checker's recipes know one padding an axis.
    even = [
        (name, spec.replace(padding=tuple(min(sides) for sides in spec.padding))) for name, spec in specs if fits(spec)
    ]
    return [make_case(name, spec, number) for number, (name, spec) in enumerate(even)]


def fits(spec):
    room = (size + 2 * min(sides) for size, sides in zip(spec.input_size, spec.padding, strict=True))
    return all(cells >= kernel for cells, kernel in zip(room, spec.effective_kernel, strict=True))


@pytest.fixture(scope="module")
def computed(js):
    """(case, what the page says of it) for each geometry."""
    made, tried = cases(), recipes()
    tensors = ("grad_output", "weight", "input", "bias")
    sent = [{"spec": case.spec.to_dict(), **{name: plain(case.tensor(name)) for name in tensors}} for case in made]
    text = json.dumps({"cases": sent, "recipes": [[of, way] for _, of, way in tried]})
    return list(zip(made, json.loads(js.page.evaluate(RUN, text)), strict=True))


def agrees(found, wanted, about):
    assert (found is None) == (wanted is None), about
    if wanted is None:
        return
    assert found["shape"] == list(wanted.shape), about
    ours = torch.tensor(found["data"], dtype=torch.float64).reshape(wanted.shape)
    assert torch.allclose(ours, wanted, rtol=1e-9, atol=1e-9), about


def test_every_way_of_every_mistake_is_pythons(computed):
    assert len(computed) >= 70
    seen = set()
    for case, found in computed:
        for (name, of, way), ours in zip(recipes(), found["ways"], strict=True):
            agrees(ours, compute(of, way, case), (name, way, case.spec))
            seen |= {name} if ours is None else set()
    assert seen, "some geometry makes a way crash"


def test_the_right_gradient_is_autograds_by_the_taps_and_by_the_right_recipe(computed):
    right = dict(enumerate(recipes()))
    for case, found in computed:
        given = {"input": case.input, "weight": case.weight, "bias": case.bias, "grad": case.grad_output}
        wanted = truth(case.spec, "weighted_sum", given)
        for of in GRADIENTS:
            agrees(found["right"][of], wanted[of], (of, "taps", case.spec))
        for place, (name, of, _) in right.items():
            if name == "right":
                agrees(found["ways"][place], wanted[of], (of, "recipe", case.spec))


def test_the_products_of_a_cell_add_up_to_both_numbers(computed):
    for case, found in computed:
        for (name, of, way), ours, reported in zip(recipes(), found["ways"], found["reported"], strict=True):
            if reported is None:
                continue
            about, index = (name, way, case.spec), reported["index"]
            assert reported["right"] == pytest.approx(found["right"][of]["data"][index], abs=1e-9), about
            assert reported["wrong"] == pytest.approx(ours["data"][index], abs=1e-9), about
            if name == "right":
                assert reported["same"], about
