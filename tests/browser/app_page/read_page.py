"""Reads off the page of the app what it shows, as a visitor sees it."""

import copy
import itertools
import json
import re
from dataclasses import dataclass

import torch

from tests.browser.app_page.operate_page import show_plane, shown_plane
from tests.browser.server import wait_until

PLAIN = ("grad_output", "dilated_grad_output")  # what a panel is called, and is, at stride 1
LABEL = re.compile(r"(\w+)\[(\d+), (\d+)\]")

# One look at everything, so that all of it belongs to the same moment. A panel that is too large for numbers has
# them in plotly's graph only; its trace is the one whose picture stands where the panel stands.
SNAPSHOT = """() => {
  const box = (node) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    return [left, top, width, height];
  };
  const off = (a, b) => Math.max(...a.map((value, i) => Math.abs(value - b[i])));
  const readSection = (section) => {
    const plot = section.querySelector(".cv-plot");
    const traces = (plot.data ?? []).map((trace) => ({
      name: trace.name,
      z: Array.from(trace.z, (row) => Array.from(row)),
      box: box(plot.querySelector(`.subplot.${trace.xaxis}${trace.yaxis} .hm image`) ?? plot),
    }));
    const panels = [...section.querySelectorAll("[data-panel]")].map((panel) => {
      const svg = panel.querySelector("svg.cv-grid");
      const cells = [...svg.querySelectorAll("[data-cell]")];
      const area = box(panel.querySelector(".cv-area"));
      const label = panel.querySelector(".cv-name").textContent;
      const trace = traces.find(({ name }) => name === label.split("[")[0]);
      const own = panel.querySelector(".cv-area > .cv-pixels"); // until plotly's picture takes its place
      return {
        name: panel.dataset.panel,
        label,
        shape: JSON.parse(panel.querySelector(".cv-shape").textContent),
        rows: Number(svg.getAttribute("aria-rowcount")),
        columns: Number(svg.getAttribute("aria-colcount")),
        numbered: svg.classList.contains("cv-numbered"),
        cells: Object.fromEntries(cells.map((cell) => [cell.dataset.cell, Number(cell.dataset.value)])),
        z: trace?.z ?? null,
        off: own ? off(box(own), area) : trace ? off(trace.box, area) : null,
      };
    });
    const seen = section.querySelector(".cv-stage").checkVisibility(); // where there is little room, of one band alone
    return { name: section.dataset.equation, panels, traces: traces.length, seen };
  };
  const sliders = {};
  for (const input of document.querySelectorAll(".cv-app .cv-control:not(.cv-set-weight) input[type=range]")) {
    const control = input.closest(".cv-control");
    const both = (sliders[/cv-set-(\\w+)/.exec(control.className)[1]] ??= []);
    if (!control.hidden) both.push(Number(input.value));
    else if (both.length) both.push(both[0]); // the width's, while it goes with the height
  }
  const menus = [...document.querySelectorAll(".cv-app .cv-control label select")].map((menu) => [
    menu.closest("label").querySelector("span").textContent,
    menu.selectedOptions[0]?.text,
  ]);
  const switches = [...document.querySelectorAll(".cv-app .cv-check:has(input)")].map((box) => [
    box.textContent.trim(),
    box.querySelector("input").checked,
  ]);
  const weight = document.querySelector(".cv-app .cv-set-weight"); // of the chosen weight
  return {
    sliders,
    menus: Object.fromEntries(menus),
    switches: Object.fromEntries(switches),
    weight: weight && {
      place: weight.querySelector(".cv-which").textContent.match(/\\d+,\\d+(?=]$)/)[0],
      value: Number(weight.querySelector(".cv-number").textContent.replace("\u2212", "-")),
    },
    loss: document.querySelector(".cv-loss").textContent,
    truth: document.querySelector(".cv-board .cv-truth").textContent,
    truth_ok: document.querySelector(".cv-board .cv-truth").dataset.ok,
    from: document.querySelector(".cv-board").dataset.from,
    equations: [...document.querySelectorAll("[data-equation]")].map(readSection),
  };
}"""


def snapshot(page):
    """Return everything that the page shows at one moment, as plain data."""
    # As one text: over thousands of single numbers Playwright takes longer than the page takes to look.
    return json.loads(page.evaluate(f"JSON.stringify(({SNAPSHOT})())"))


def same_state(one, other):
    """Return whether two snapshots show the same numbers and settings, wherever the keyboard is."""
    return plain(one) == plain(other)


def plain(shot):
    """A snapshot without what is no setting: places in pixels, and which weight the long slider moves."""
    shot = copy.deepcopy(shot)
    del shot["weight"]
    for section in shot["equations"]:
        del section["seen"]
        for panel in section["panels"]:
            del panel["off"]
    return shot


def wait_aligned(page):
    """Wait until every heatmap stands where its panel stands; return the snapshot."""

    def aligned():
        shot = snapshot(page)
        shown = [panel for section in shot["equations"] if section["seen"] for panel in section["panels"]]
        return all(panel["off"] is not None and panel["off"] <= 1.5 for panel in shown) and shot

    try:
        return wait_until(aligned, within_s=8)
    except AssertionError:
        off = {f"{panel['label']}": panel["off"] for panel in panels_of(snapshot(page))}
        raise AssertionError(f"pixels between heatmap and panel: {off}") from None


def panels_of(shot):
    """All panels of a snapshot, in reading order."""
    return [panel for section in shot["equations"] for panel in section["panels"]]


def read_panel(page, name, equation=None):
    """Return the numbers of a panel, float64 ``[rows, columns]``.

    Args:
        page: the page.
        name: the stage's name.
        equation: forward, input, weight or bias; default: the first panel of the name.
    """
    sections = snapshot(page)["equations"]
    wanted = [section for section in sections if equation in (None, section["name"])]
    panel = next(panel for section in wanted for panel in section["panels"] if panel["name"] == name)
    return plane_of(panel)


def plane_of(panel):
    """Return the numbers of a panel of a snapshot: of its cells, of plotly's graph where it has no numbers."""
    rows, columns = panel["rows"], panel["columns"]
    if not panel["numbered"]:
        plane = torch.tensor(panel["z"], dtype=torch.float64)
        assert plane.shape == (rows, columns)
        return plane
    places = list(itertools.product(range(rows), range(columns)))
    assert list(panel["cells"]) == [f"{row},{column}" for row, column in places], panel["name"]
    return torch.tensor([panel["cells"][f"{r},{c}"] for r, c in places], dtype=torch.float64).reshape(rows, columns)


@dataclass
class Seen:
    """What a page shows, over all its planes.

    Attributes:
        tensors: every stage that has a panel, whole, float64.
        shot: the controls, as the last snapshot has them.
    """

    tensors: dict[str, torch.Tensor]
    shot: dict

    @property
    def geometry(self):
        """The geometry, as the controls say it."""
        values = {name: [int(value) for value in both] for name, both in self.shot["sliders"].items()}
        pairs = {name: values[name] for name in ("input_size", "kernel_size", "stride", "padding", "dilation")}
        return pairs | {
            "mode": self.shot["menus"]["padding mode"],
            "groups": int(self.shot["menus"]["groups"]),
            "channels": (values["batch"][0], values["in_channels"][0], values["out_channels"][0]),
        }

    @property
    def dtype(self):
        """The dtype, as its menu says it."""
        return self.shot["menus"]["dtype"]


def see(page):
    """Look at every plane that the selectors offer, put them back, and return the whole tensors."""
    shot = snapshot(page)
    groups, (batch, into, out) = int(shot["menus"]["groups"]), _channels(shot)
    planes = {}
    if batch == into == out == 1:  # the selectors offer one
        _collect(shot, planes)
        return Seen({name: _assemble(name, *found) for name, found in planes.items()}, shot)
    before = shown_plane(page)
    for o in range(out):
        group = o // (out // groups)
        for c in range(group * (into // groups), (group + 1) * (into // groups)):
            for n in range(batch):
                for axis, index in (("o", o), ("c", c), ("n", n)):
                    show_plane(page, axis, index)
                shot = snapshot(page)
                _collect(shot, planes)
    for axis in ("o", "c", "n"):
        show_plane(page, axis, before.get(axis, 0))
    return Seen({name: _assemble(name, *found) for name, found in planes.items()}, shot)


def _channels(shot):
    return tuple(int(shot["sliders"][name][0]) for name in ("batch", "in_channels", "out_channels"))


def _collect(shot, planes):
    for section in shot["equations"]:
        for panel in section["panels"]:
            found = LABEL.fullmatch(panel["label"])
            called = found[1] if found else panel["label"]
            assert called == panel["name"] or (called, panel["name"]) == PLAIN, panel["label"]
            at = (int(found[2]), int(found[3])) if found else None if len(panel["shape"]) == 1 else (0, 0)
            shape, seen = planes.setdefault(panel["name"], (tuple(panel["shape"]), {}))
            plane = plane_of(panel)
            assert shape == tuple(panel["shape"]), f"{panel['name']} has two shapes"
            assert torch.equal(seen.setdefault(at, plane), plane), f"{panel['label']} differs between two equations"


def _assemble(name, shape, planes):
    if None in planes:
        assert len(shape) == 1, f"the planes of {name} have no indices"
        return planes[None].reshape(shape)
    assert sorted(planes) == list(itertools.product(range(shape[0]), range(shape[1]))), f"planes of {name}"
    return torch.stack([planes[at] for at in sorted(planes)]).reshape(shape)
