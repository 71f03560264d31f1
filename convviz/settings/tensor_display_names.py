"""What the page calls each tensor and axis: a transposed convolution has its own words for the same panels."""

from convviz.facts import facts
from convviz.geometry.spec import ConvSpec

# A panel is named after the convolution that is read the other way; these are the layer's words for it. What the one
# convolution puts out the other takes in, so the letters of the channels change places as well.
SHOWN: dict[str, str] = facts("names")["transposed"]["panels"]
LETTERS: dict[str, str] = facts("names")["transposed"]["letters"]


def shown_name(name: str, transposed: bool) -> str:
    return SHOWN.get(name, name) if transposed else name


def panel_name(name: str, spec: ConvSpec, transposed: bool) -> str:
    """Return what the page calls a panel; at stride 1 dilated_grad_output is grad_output."""
    plain = name == "dilated_grad_output" and tuple(spec.stride) == (1, 1)
    return shown_name("grad_output" if plain else name, transposed)


def axis_word(axis: str, transposed: bool) -> str:
    """Return what an axis of planes counts: n, o and c of the convolution."""
    return str(facts("names")["axes"][shown_letter(axis, transposed)])


def shown_letter(axis: str, transposed: bool) -> str:
    return LETTERS.get(axis, axis) if transposed else axis


def cell_words(transposed: bool) -> dict[str, str]:
    return dict(facts("names")["cells"]["transposed" if transposed else "convolution"])
