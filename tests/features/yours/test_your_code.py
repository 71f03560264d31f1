"""What the tab Your code says of a check: its tasks, and the line of the code that is named."""

import pytest

from convviz.check import TASKS, report
from convviz.features.yours import data as yours

RAISES = """def conv(x, w):
    y = x
    return y + nothing
"""


def test_each_task_has_its_part_and_what_it_takes_and_gives():
    menu = {each["name"]: each for each in yours._data(yours.CHOSEN, {})["tasks"]}
    assert list(menu) == list(TASKS)
    parts = {"conv2d": "forward", "conv1d_input": "input", "conv_transpose2d_backward": "backward"}
    parts |= {"linear": "forward", "binary_conv2d": "function", "conv_transpose1d_module": "module"}
    assert {name: menu[name]["part"] for name in parts} == parts
    assert {each["group"] for each in menu.values()} == {
        "conv2d", "conv_transpose2d", "conv1d", "conv_transpose1d", "linear", "max_pool2d", "avg_pool2d", "binary"
    }  # fmt: skip
    assert menu["conv2d_weight"]["gives"] == ("grad_weight",)


def test_the_line_that_an_exception_names_is_that_of_what_was_pasted():
    found = yours._plain(report(yours._pasted(RAISES), "conv2d"))
    assert found["first"]["line"] == 3
    assert "return y + nothing" in found["first"]["lines"][0], "what was pasted can be read"


@pytest.mark.parametrize("code", ["def conv(x, w):\n    return x", "def conv(x, w):\n    return x[:, :1]"])
def test_where_no_line_is_named_there_is_none(code):
    assert yours._plain(report(yours._pasted(code), "conv2d"))["first"]["line"] is None
