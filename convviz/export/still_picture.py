"""The picture of one state as still SVG, for readers whose page runs no script: one drawing an equation, and tables."""

from html import escape

from convviz.export.draw_panels_and_equations import draw_equation, scene
from convviz.export.primitives import LOOKS
from convviz.export.svg import svg
from convviz.facts.format_numbers import format_number
from convviz.facts.words import sentences
from convviz.geometry.shown_plane import Plane
from convviz.ops.stages import Stages
from convviz.settings.tensor_display_names import cell_words
from convviz.views import captions
from convviz.views.cell_kinds import COPY, DATA, INSERTED, PADDING, REMAINDER
from convviz.views.panels import Equation, Panel, equations
from convviz.views.scales import ends

say = sentences("board")


def still_figures(stages: Stages, plane: Plane, input_view: str, scale: str) -> str:
    rows = equations(stages, plane, input_view)
    return "\n".join([still_pictures(stages, plane, input_view, scale), _tables(rows, stages.transposed)])


def still_pictures(stages: Stages, plane: Plane, input_view: str, scale: str) -> str:
    """Return the equations as HTML figures with inline SVG, and the loss."""
    drawn: list[str] = []
    end = ends(stages, scale)
    for equation in equations(stages, plane, input_view):
        formula = captions.formula(stages, plane, equation.name, equation.view)
        caption = f"<b>{escape(equation.title)}</b> <code>{escape(formula)}</code>"
        look = LOOKS["light"]
        picture = svg(scene(draw_equation(equation, end, look), look, words_of(equation), edge=1), alone=False)
        drawn.append(f"<figure><figcaption>{caption}</figcaption>\n{picture}\n</figure>")
    return "\n".join([*drawn, f"<p>{escape(captions.loss(stages))}</p>"])


def words_of(equation: Equation) -> str:
    """Return what an equation's picture shows, for those who do not see it."""
    return f"{equation.title}: {', '.join(panel.label for panel in equation.panels)}"


def _tables(rows: tuple[Equation, ...], transposed: bool) -> str:
    """Made as in ``web/board/layout/number_tables.js``."""
    panels = {panel.name: panel for row in rows for panel in row.panels}
    left_over = cell_words(transposed)
    drawn = {kind: say(f"cell.{name}") for kind, name in ((PADDING, "padding"), (COPY, "copy"), (INSERTED, "inserted"))}
    words = {**drawn, REMAINDER: left_over["remainder"], DATA: ""}
    made = "\n".join(_table(panel, words, left_over["unread"]) for panel in panels.values())
    return f'<details class="cv-tables">\n<summary>{say("tables")}</summary>\n<div>{made}</div>\n</details>'


def _table(panel: Panel, words: dict[str, str], never_read: str) -> str:
    """Return one table, without the ends of rows and cells, which HTML lets be left out."""

    def headers(scope: str, letters: str, unread: tuple[int, ...]) -> list[str]:
        roles = [[words[letter], never_read if index in unread else ""] for index, letter in enumerate(letters)]
        said = [", ".join(filter(None, role)) for role in roles]
        small = [f" <small>{escape(role)}</small>" if role else "" for role in said]
        return [f"<th scope={scope}>{index}{role}" for index, role in enumerate(small)]

    columns = headers("col", panel.roles.columns, panel.roles.unread_columns)
    rows = headers("row", panel.roles.rows, panel.roles.unread_rows)
    lines = [
        f"<tr>{header}{''.join(f'<td>{format_number(value)}' for value in values)}"
        for header, values in zip(rows, panel.values.tolist(), strict=True)
    ]
    caption = escape(say("panel.shape", name=panel.label, shape=list(panel.shape)))
    return f"<table><caption>{caption}</caption><thead><tr><td>{''.join(columns)}<tbody>{''.join(lines)}</table>"
