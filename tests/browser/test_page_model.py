"""The model of a page without a kernel, against Python: the same states, the same words, the same numbers."""

import json
import random

import pytest
import torch
from convviz.app.model import Model

from convviz.app.app import App
from convviz.settings import change
from convviz.settings.state import Settings, Source
from convviz.views.theme import COLORSCALES
from tests.browser.scripts import expose
from tests.states import random_action, random_states

ASK = """([data, states]) => states.map((state) => {
  const model = createPageModel({ ...data, state, plotly: null }, fromPage);
  return { structure: model.get("structure"), values: told(model.get("values")), state: model.settings() };
})"""
ACT = """([data, state, actions]) => {
  let now = 0;
  const model = createPageModel({ ...data, state, plotly: null }, fromPage, () => (now += 5000));
  const changes = {
    axis: (settings, ...rest) => setAxis(settings, ...rest),
    geometry: setGeometry,
    kernel: chooseKernel,
    bias: setBias,
    link: linkAxes,
    transposed: setTransposed,
    set: (settings, fields) => [replaced(settings, fields), []],
  };
  return actions.map(([name, args]) => {
    if (name === "send") model.send(args[0]);
    else if (changes[name]) model.change((settings) => changes[name](settings, ...args));
    else model.send({ type: name });
    return {
      state: model.settings(), notice: model.get("notice"), failed: model.get("failed"),
      undo: model.canUndo(), redo: model.canRedo(), kernel: kernelName(model.settings()),
    };
  });
}"""
TOLD = """window.told = ({ planes, thumbs, ...rest }) => {
  const lists = (all) => Object.fromEntries(Object.entries(all).map(([name, list]) => [name, [...list]]));
  return { ...rest, planes: lists(planes), thumbs: lists(thumbs) };
};"""
RULES = [f"rules/{name}.js" for name in ("change", "settings", "bounds", "plane", "samples")]


@pytest.fixture
def ask(page):
    """Return a function that evaluates a script with the page's model in reach."""
    page.goto("about:blank")
    expose(page, "numbers/model.js", "numbers/from_page.js", *RULES)
    page.add_script_tag(content=TOLD)
    return lambda script, *rest: page.evaluate(script, [{"colorscales": COLORSCALES}, *rest])


def plain(value):
    """Bring Python's payload into the form that it has in the page."""
    return json.loads(json.dumps(value))


def numbers(wires):
    return {name: torch.frombuffer(bytearray(wire), dtype=torch.float64).tolist() for name, wire in wires.items()}


def number_in(text):
    return float(text.replace("\N{MINUS SIGN}", "-"))


def assert_values(found, expected, about):
    """Numbers within 1e-6 (they come from another order of the same sums), words exactly."""
    for name in ("planes", "thumbs"):
        assert found[name].keys() == expected[name].keys(), about
        for panel, numbers_there in numbers(expected[name]).items():
            assert found[name][panel] == pytest.approx(numbers_there, rel=1e-6, abs=1e-9), (panel, about)
    assert found["limits"].keys() == expected["limits"].keys(), about
    for key, end in expected["limits"].items():
        # Six digits are written, and Python and JavaScript round an exact half of the last one differently.
        assert found["limits"][key] == pytest.approx(end, rel=1e-5) or end == pytest.approx(0, abs=1e-12), (key, about)
    for name in ("dtype", "formulas", "notes"):
        assert found[name] == expected[name], about
    (words, loss), (same_words, same_loss) = (each["loss"].rsplit(" ", 1) for each in (found, expected))
    assert words == same_words, about
    # An exact half of the last digit goes one way or the other with the order of the sum.
    assert number_in(loss) == pytest.approx(number_in(same_loss), rel=2e-5, abs=1e-12), about


@pytest.mark.parametrize("seed", range(3))
def test_structure_values_and_words_are_pythons(ask, seed):
    states = list(random_states(seed, 60))
    app = App(state=states[0])
    for state, found in zip(states, ask(ASK, [Settings.from_dict(state).to_dict() for state in states]), strict=True):
        app.set_state(state)
        app._drawn = None  # the structure anew, whatever was drawn before
        app._show_result()
        about = json.dumps(state)
        structure = plain(app.board.structure) | {"version": 1}
        for key in structure:
            assert found["structure"][key] == structure[key], (key, about)
        assert found["structure"].keys() == structure.keys()
        assert_values(found["values"], app.board.values, about)
        assert found["values"].keys() == app.board.values.keys()
        assert found["state"] == plain(app.state()), about
    app.close()


def do(model, name, args):
    """Do in Python what the page's model does for the same action."""
    settings = model.settings
    if name == "send":
        model.attempt(lambda: model.act(args[0]))
    elif name in ("undo", "redo", "reset"):
        model.attempt(getattr(model, name))
    elif name == "set":
        fields = {key: Source(**value) if isinstance(value, dict) else value for key, value in args[0].items()}
        model.attempt(lambda: model.apply(settings.replace(**fields)))
    elif name == "axis":
        made = change.set_axis(settings, *args)
        model.attempt(lambda: model.apply(made, change.moved_along(settings, made)))
    elif name == "geometry":
        model.attempt(lambda: model.apply(*change.set_geometry(settings, **args[0])))
    else:
        what = {"kernel": change.choose_kernel, "bias": change.set_bias, "link": change.link_axes}
        made = (what | {"transposed": change.set_transposed})[name](settings, args[0])
        model.attempt(lambda: model.apply(*(made if isinstance(made, tuple) else (made,))))


@pytest.mark.parametrize("seed", range(8))
def test_every_action_does_what_it_does_in_python(ask, seed):
    draw = random.Random(seed)
    (state,) = random_states(1000 + seed, 1)
    start = Settings() if seed == 0 else Settings.from_dict(state)
    start = start.replace(dtype="float64")
    model = Model(start, clock=iter(range(0, 10**6, 5)).__next__)
    actions, expected = [], []
    for _ in range(60):
        action = random_action(draw, model.settings)
        do(model, *action)
        actions.append(action)
        expected.append(
            {
                "state": plain(model.state()),
                "notice": model.notice,
                "failed": model.failed,
                "undo": model.can_undo,
                "redo": model.can_redo,
                "kernel": change.kernel_name(model.settings),
            }
        )
    for number, (found, wanted) in enumerate(zip(ask(ACT, start.to_dict(), actions), expected, strict=True)):
        about = json.dumps(actions[: number + 1][-6:])
        for key, value in wanted.items():
            assert found[key] == value, (key, number, about)
