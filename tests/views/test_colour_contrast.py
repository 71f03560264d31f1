"""That every colour can be read where it lies, in both themes, and means one thing to everybody's eyes."""

import itertools
import math
import re
from importlib.resources import files

import pytest

from convviz.views.theme import COLORSCALES, color_at, ink_on, luminance, rgb
from convviz.web.widget_assets import joined

THEMES = ("light", "dark")
CSS = joined([files("convviz.web").joinpath("board", "board.css")])
HUES = ("input", "weight", "output")
GROUNDS = ("paper", "card")
SCALES = tuple(COLORSCALES["light"])
SIZES = (0.25, 0.5, 0.75, 1)  # of numbers, of their scale's end
APART = dict(zip(SIZES, (0.045, 0.08, 0.09, 0.1), strict=True))  # 0.02 is just seen
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
    low, high = sorted(luminance(rgb(each) if isinstance(each, str) else each) for each in (one, other))
    return (high + 0.05) / (low + 0.05)


def seen(name, eyes):
    """A colour in Oklab, where a distance is about as large as it looks; its first number is lightness."""
    parts = rgb(name) if isinstance(name, str) else name
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in parts)]
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
    (middle,) = {color_at(scale, 0.5) for scale in COLORSCALES[theme].values()}
    found = contrast(color("zero", theme), middle)
    assert 4.5 <= found <= 5.5, f"{found:.2f} on {middle}"
    assert found < contrast(color("ink", theme), middle) / 2
    assert contrast(middle, color("card", theme)) > 1.1, "a zero's cell is seen on the card"
    assert contrast(middle, color("padding", theme)) > 1.1, "and is no padding"
    assert contrast(color("zero-marked", theme), color("padding", theme)) >= 4.5, "the zero of the padding"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("eyes", EYES)
def test_three_hues_are_three_for_everybody(theme, eyes):
    for one, other in itertools.combinations(HUES, 2):
        apart = math.dist(seen(color(one, theme), eyes), seen(color(other, theme), eyes))
        assert apart > 0.07, f"{one} and {other}: {apart:.3f}"  # 0.02 is just seen


@pytest.mark.parametrize("theme", THEMES)
def test_a_variables_largest_number_has_the_colour_of_its_name(theme):
    assert {name: scale[-1][1] for name, scale in COLORSCALES[theme].items() if name in HUES} == {
        name: color(name, theme) for name in HUES
    }


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", SCALES)
def test_the_number_of_a_cell_can_be_read_on_each_of_256_colours(theme, name):
    for step in range(256):
        fill = color_at(COLORSCALES[theme][name], step / 255)
        found = contrast(ink_on(fill), fill)
        assert found >= 4.5, f"step {step}: {found:.2f}"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("name", SCALES)
def test_a_negative_number_looks_like_no_positive_one(theme, eyes, name):
    """Of one size they are apart, and in hue and lightness; of two sizes, a pair of one look would lie."""
    below, above = (
        {size: seen(color_at(COLORSCALES[theme][name], 0.5 + sign * size / 2), eyes) for size in SIZES}
        for sign in (-1, 1)
    )
    for size in SIZES:
        apart = math.dist(below[size], above[size])
        assert apart > APART[size], f"{size}: {apart:.3f}"
    lighter = {size: below[size][0] - above[size][0] for size in SIZES}
    for size in SIZES[1:]:
        assert abs(lighter[size]) > 0.04, f"{size}: {lighter[size]:.3f}"
        assert (lighter[size] > 0) == (theme == "light"), "as the paper: a negative number is the paler one"
    for one, other in itertools.product(SIZES, SIZES):
        apart = math.dist(below[one], above[other])
        assert apart > 0.03, f"-{one} and {other}: {apart:.3f}"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", SCALES)
def test_the_smallest_number_is_tinted_and_no_zero(theme, name):
    for sign, eyes in itertools.product((-1, 1), EYES):
        zero, least = (seen(color_at(COLORSCALES[theme][name], 0.5 + sign * size), eyes) for size in (0, 0.01))
        assert math.dist(zero, least) > 0.02, f"{sign}, {eyes}"


def test_no_sheet_names_a_size_of_letters_outside_the_scale():
    assert [re.search(rf"--cv-type-{step}:(\d+)px", CSS)[1] for step in (1, 2, 3, 4)] == ["28", "20", "16", "13"]
