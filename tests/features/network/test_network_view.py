"""What `convviz.explain(model, x)` opens in a notebook: the network, and in its place a convolution on the board."""

import pytest
import torch
from torch import nn

import convviz
from convviz.features.network.export_page import network_page

FAR = {"operation": 1, "cell": [0, 99, 0]}


@pytest.fixture
def view(closing):
    torch_numbers = torch.Generator().manual_seed(0)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 3, stride=2))
    view = closing(convviz.explain(model, torch.randn(2, 1, 12, 12, generator=torch_numbers), lang="en"))
    view.answers = []
    view._pane.send = view.answers.append
    return view


def ask(view, **message):
    view._answer(view._pane, {"id": 7, **message}, [])
    assert view.answers[-1].pop("id") == 7, "an answer names its question"
    return view.answers[-1]


def shown(view):
    return [type(child).__name__ for child in view.children]


def test_a_convolution_opens_at_a_cell_and_a_button_leads_back(view):
    assert shown(view) == ["NetworkPane"]
    assert ask(view, ask="open", operation=3, cell=[1, 2, 2]) == {"opened": 3}
    assert shown(view) == ["NetworkPane", "Button", "App"]
    assert view._pane.layout.display == "none", "it keeps its place"
    app = view.children[-1]
    network = view.network
    torch.testing.assert_close(app.output, network.operations[3].output)
    assert torch.equal(app.grad_output, network.gradients[3])
    assert "layer '2' (Conv2d)" in app.introduction()
    assert "All of it is shown." in app.introduction(), "as explain(layer=) shows it"
    assert app.state()["plane"] == app._start["plane"] == {"sample": 0, "out_channel": 1, "in_channel": 0}
    view._leave.click()
    assert (shown(view), view._pane.layout.display) == (["NetworkPane"], None)


def test_it_opens_with_the_gradient_that_was_sent_back_last(view):
    back = ask(view, ask="back", **{"from": {"kind": "cell", "operation": 3, "cell": [1, 2, 2]}})
    ask(view, ask="open", operation=1, cell=[0, 5, 5], back=back["index"])
    app = view.children[-1]
    truth = view.network.back(3, (1, 2, 2)).gradients[1]
    assert torch.equal(app.grad_output[0], truth[0])
    assert app.grad_output[1].count_nonzero() == 0, "the 1 was one sample's"
    assert "as grad_output the gradient of conv2d 2[1, 2, 2]." in app.introduction()


def test_of_a_layer_that_does_not_fit_the_windows_around_the_cell_open(closing):
    model = nn.Sequential(nn.Conv2d(1, 20, 3, padding=1), nn.ReLU())
    x = torch.randn(12, 1, 90, 30, generator=torch.Generator().manual_seed(1))
    view = closing(convviz.explain(model, x, lang="en"))
    app = closing(view.open_convolution(1, [17, 60, 4]))
    said = app.introduction()
    assert "with the cell that you opened: sample 0 of 12, output channels 12 to 19 of 20, output rows 4" in said
    assert "window=" not in said, "nobody typed anything"
    plane = app.state()["plane"]
    shown = app.output[plane["sample"], plane["out_channel"]]
    first = int(said.partition("output rows ")[2].split()[0])
    wanted = view.network.operations[1].output[0, 17, first : first + shown.shape[0]]
    torch.testing.assert_close(shown, wanted)
    assert first <= 60 < first + shown.shape[0]


def test_what_cannot_be_opened_is_refused_in_a_sentence(view):
    assert (
        "The board shows 2-D convolutions: relu 1 is none."
        in ask(view, ask="open", operation=2, cell=[0, 0, 0])["refused"]
    )
    for message in ({}, {"operation": 99, "cell": [0]}, {"operation": 1, "cell": "x"}, {"operation": 1}, FAR):
        assert "refused" in ask(view, ask="open", **message), message
    assert "refused" in ask(view, ask="sing")
    assert shown(view) == ["NetworkPane"]


def test_its_page_is_alone_and_asks_nobody(view):
    page = network_page(view.network, title="My <net>")
    assert "<h1>My &lt;net&gt;</h1>" in page
    assert '"live":false' in page
    assert "http" not in page.replace("http://www.w3.org/", ""), "no address but those of SVG"
