"""The catalogue of mistakes as cards: `{mistakes} I` shows those whose id begins with I, in the language of the page.

A card has the title, what to change, a link to the live page where the mistake shows, and, of a gradient with one
plane, the right numbers beside the wrong ones.
"""

import itertools
from html import escape

import torch
from docutils import nodes
from live_boards import SITE, language_of
from sphinx.util.docutils import SphinxDirective

from convviz.cases.battery import Case
from convviz.export.site import app_of
from convviz.facts import facts
from convviz.facts.format_numbers import format_number
from convviz.facts.i18n.current_language import use_locale
from convviz.mistakes.catalogue import catalogue, compute
from convviz.settings.compute import compute as compute_settings
from convviz.settings.link import from_link
from convviz.views.scales import QUANTITIES
from convviz.views.theme import COLORSCALES, color_at, ink_on

CELL = 21  # pixels
WIDEST = 9  # cells of a plane that is drawn


class Mistakes(SphinxDirective):
    """Cards; what is given is the letter of their ids."""

    required_arguments = 1

    def run(self):
        tag = language_of(self.env.docname)
        with use_locale(tag):
            cards = [self.card(one, tag) for one in catalogue().values() if one.id[0] == self.arguments[0]]
        return [nodes.raw("", f'<div class="mistakes">{"".join(cards)}</div>', format="html")]

    def card(self, mistake, tag):
        id = mistake.id
        heading = f'<h4 id="{id}"><a href="#{id}">{id}</a> {escape(mistake.title)}</h4>'
        met = f'<p class="met">Met in {escape(", ".join(mistake.met))}</p>' if mistake.met else ""
        return (
            f"<section>{heading}{picture(mistake)}<p>{escape(mistake.fix)}</p>{self.link(mistake, tag)}{met}</section>"
        )

    def link(self, mistake, tag):
        if not mistake.setting:
            return ""
        in_tab = mistake.id in facts("settings")["fields"]["mistake"]["words"]
        address = f"{mistake.setting}&tab=mistakes&mistake={mistake.id}" if in_tab else mistake.setting
        root = "../" * self.env.docname.count("/")
        page = f"{root}{SITE}/{app_of(tag)}?lang={tag}#{address}"
        return f'<p>See it at <a href="{escape(page)}"><code>{escape(mistake.setting)}</code></a></p>'


def picture(mistake):
    """Return right and wrong beside each other; nothing where there are no two planes of one size, and few cells."""
    if mistake.of not in (("grad_input",), ("grad_weight",)) or not mistake.setting:
        return ""
    settings, _ = from_link(mistake.setting)
    stages = compute_settings(settings.replace(dtype="float64"), compare=False)
    bias = torch.ones(settings.spec.out_channels, dtype=torch.float64)
    case = Case("", settings.spec, stages.input, stages.weight, bias, stages.grad_output, bias)
    right, wrong = (compute(mistake.of[0], way, case) for way in ({}, mistake.ways[0]))
    if wrong is None or wrong.ndim != 4 or not wrong.numel() or max(*right.shape[2:], *wrong.shape[2:]) > WIDEST:
        return ""
    same = right.shape == wrong.shape
    apart = (right - wrong).abs() > 1e-9 if same else torch.ones(wrong.shape, dtype=torch.bool)
    at = tuple(apart.nonzero()[0, :2])  # the first plane in which something is wrong
    most = max(right[at].abs().max().item(), wrong[at].abs().max().item()) or 1
    planes = ((right[at], torch.zeros(right.shape[2:], dtype=torch.bool), "right"), (wrong[at], apart[at], "wrong"))
    scale = COLORSCALES["light"][QUANTITIES[mistake.of[0]]]
    return f'<div class="planes">{"".join(plane(*each, most, scale) for each in planes)}</div>'


def plane(values, off, name, most, scale):
    """Return a plane of numbers as a small heatmap; frames are around those that are off."""
    rows, columns = values.shape
    places = itertools.product(range(rows), range(columns))
    cells = "".join(cell(values[place].item(), most, *place, off[place], scale) for place in places)
    width, height = columns * CELL + 2, rows * CELL + 2
    drawn = f'<svg viewBox="-1 -1 {width} {height}" width="{width}" height="{height}" role="img">{cells}</svg>'
    return f"<figure>{drawn}<figcaption>{name}</figcaption></figure>"


def cell(value, most, row, column, is_off, scale):
    color = color_at(scale, (value / most + 1) / 2)
    fill = ",".join(str(round(part)) for part in color)
    x, y = column * CELL, row * CELL
    box = f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="rgb({fill})"/>'
    frame = f'<rect class="off" x="{x + 1.5}" y="{y + 1.5}" width="{CELL - 3}" height="{CELL - 3}"/>' if is_off else ""
    return f'{box}{frame}<text x="{x + CELL / 2}" y="{y + 14}" fill="{ink_on(color)}">{format_number(value)}</text>'


def setup(app):
    app.add_directive("mistakes", Mistakes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
