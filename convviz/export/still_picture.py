"""The picture of one state as still SVG, for readers whose page runs no script: one drawing an equation, and tables."""

from html import escape

from convviz.export.draw_panels_and_equations import draw_equation, scene
from convviz.export.number_tables import tables
from convviz.export.primitives import LOOKS
from convviz.export.svg import svg
from convviz.geometry.shown_plane import Plane
from convviz.ops.stages import Stages
from convviz.views import captions
from convviz.views.panels import Equation, equations
from convviz.views.scales import ends


def still_figures(stages: Stages, plane: Plane, input_view: str, scale: str) -> str:
    """Add their numbers as tables."""
    rows = equations(stages, plane, input_view)
    return "\n".join([still_pictures(stages, plane, input_view, scale), tables(rows, stages.transposed)])


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
