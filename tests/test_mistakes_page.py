"""The catalogue as a page: made from the facts; each setting that it names shows its mistake, by torch's autograd."""

import dataclasses
import runpy
from pathlib import Path

import torch

from convviz.check.battery import make_case
from convviz.check.compare import same
from convviz.check.mistakes import catalogue, compute
from convviz.check.tasks import TASKS, truth
from convviz.facts import facts
from convviz.settings.compute import compute as numbers_of
from convviz.settings.link import from_link

DOCS = Path(__file__).parents[1] / "docs"


def test_the_committed_page_is_the_one_that_is_made():
    made = runpy.run_path(str(DOCS / "mistakes.py"))["page"]()
    assert (DOCS / "mistakes.md").read_text(encoding="utf-8") == made, "write it anew: python docs/mistakes.py"
    for mistake in catalogue().values():
        assert f"\n| {mistake.id} | " in made


def test_a_link_can_open_the_tab_at_each_mistake_that_it_has():
    gradients = {("grad_input",), ("grad_weight",), ("grad_bias",)}
    there = {mistake.id for mistake in catalogue().values() if mistake.of in gradients and mistake.setting}
    choices = facts("settings")["fields"]["mistake"]["words"]
    assert (choices[0], {*choices[1:]}, len(choices)) == ("", there, 1 + len(there))


def test_every_row_of_the_page_has_as_many_cells_as_its_table():
    rows = [row for row in (DOCS / "mistakes.md").read_text(encoding="utf-8").splitlines() if row.startswith("|")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {6}


def test_the_board_shows_each_mistake_at_the_setting_that_its_file_names():
    for mistake in catalogue().values():
        if not mistake.setting or not mistake.ways:
            continue
        settings, left_out = from_link(mistake.setting)
        assert not left_out, f"{mistake.id}: {left_out}"
        shown = numbers_of(settings)
        case = make_case("shown", settings.spec, 0)
        numbers = {name: getattr(shown, name) for name in ("input", "weight", "bias", "grad_output")}
        numbers["bias"] = torch.zeros_like(case.bias) if numbers["bias"] is None else numbers["bias"]
        case = dataclasses.replace(case, **{name: value.detach().double() for name, value in numbers.items()})
        right = truth(TASKS["conv2d_function"], case)
        for of in mistake.of:
            for way in mistake.ways:
                found = compute(of, way, case)
                assert found is None or not same(found, right[of], 1e-6), f"{mistake.id}, {way}: {mistake.setting}"
