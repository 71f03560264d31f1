"""That every colour can be read where it lies, in both themes, and that three hues are three for everybody's eyes."""

import itertools
import math
import re
from importlib.resources import files

import pytest

from convviz.views.theme import COLORSCALES, luminance, rgb
from convviz.web.widget_assets import joined

THEMES = ("light", "dark")
CSS = joined([files("convviz.web").joinpath("board", "board.css")])
HUES = ("input", "weight", "output")
GROUNDS = ("paper", "card")
# Machado, Oliveira and Fernandes (2009), for those who lack one kind of cones, on linear RGB.
EYES = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}


def color(name, theme):
    """The value of one of the board's variables."""
    found = re.findall(rf"--cv-{name}:(#\w+)", CSS)
    assert len(found) == 2, f"--cv-{name} stands once in each theme: {found}"
    return found[THEMES.index(theme)]


def contrast(one, other):
    low, high = sorted((luminance(rgb(one)), luminance(rgb(other))))
    return (high + 0.05) / (low + 0.05)


def seen(name, eyes):
    """A colour in Oklab, where a distance is about as large as it looks."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in rgb(name))]
    red, green, blue = (min(max(sum(map(float.__mul__, map(float, row), linear)), 0), 1) for row in EYES[eyes])
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.793617785 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.428592205 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.808675766 * short,
    )


@pytest.mark.parametrize("theme", THEMES)
def test_words_can_be_read_on_card_and_paper(theme):
    for name, ground in itertools.product((*HUES, "ink", "muted", "accent", "good", "bad"), GROUNDS):
        found = contrast(color(name, theme), color(ground, theme))
        assert found >= 4.5, f"{name} on {ground}: {found:.2f}"


@pytest.mark.parametrize("theme", THEMES)
def test_a_zero_is_paler_than_the_other_numbers_and_can_be_read(theme):
    middle = COLORSCALES[theme][2][1]
    found = contrast(color("zero", theme), middle)
    assert 4.5 <= found <= 5.5, f"{found:.2f} on {middle}"
    assert found < contrast(color("ink", theme), middle) / 2
    assert contrast(middle, color("card", theme)) > 1.1, "a zero's cell is seen on the card"
    assert contrast(middle, color("padding", theme)) > 1.1, "and is no padding"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("eyes", EYES)
def test_three_hues_are_three_for_everybody(theme, eyes):
    for one, other in itertools.combinations(HUES, 2):
        apart = math.dist(seen(color(one, theme), eyes), seen(color(other, theme), eyes))
        assert apart > 0.07, f"{one} and {other}: {apart:.3f}"  # 0.02 is just seen


@pytest.mark.parametrize("theme", THEMES)
def test_no_hue_of_a_variable_is_one_of_a_sign(theme):
    for name, (at, end) in itertools.product(HUES, (COLORSCALES[theme][0], COLORSCALES[theme][-1])):
        apart = math.dist(seen(color(name, theme), "all"), seen(end, "all"))
        assert apart > 0.1, f"{name} and the scale at {at}: {apart:.3f}"


def test_no_sheet_names_a_size_of_letters_outside_the_scale():
    assert [re.search(rf"--cv-type-{step}:(\d+)px", CSS)[1] for step in (1, 2, 3, 4)] == ["28", "20", "16", "13"]
