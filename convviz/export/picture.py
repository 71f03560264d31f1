"""Pictures for slides and papers: any panel, equation or step of a state, as SVG, PNG or animated GIF."""

import dataclasses
import os
from pathlib import Path

from convviz.export.draw_panels_and_equations import Drawing, draw_equation, draw_panel, scene, stacked, with_words
from convviz.export.primitives import LOOKS, Look, Scene
from convviz.export.state_from_dict_or_link import State, given_settings
from convviz.export.still_picture import words_of
from convviz.export.svg import svg
from convviz.export.window_positions import count_steps, step_at
from convviz.file_io import write
from convviz.ops.stages import Stages
from convviz.optional_dependencies import needs
from convviz.settings.compute import compute
from convviz.settings.state import Settings
from convviz.views.panels import Equation, Panel, equations
from convviz.views.panels import panel as panel_named
from convviz.views.scales import ends, limit

FORMATS = {".svg": "svg", ".png": "png", ".gif": "gif"}
EQUATIONS = ("forward", "input", "weight", "bias")
# A transposed convolution is the picture read the other way: its forward pass is the other's way to the input.
TRANSPOSED = {"forward": "input", "input": "forward"}
MAX_FRAMES = 1024
FRAME, LAST_FRAME, WHOLE = 600, 2000, 40_000  # milliseconds: of a frame, of the last, of a long animation


def export_picture(
    state: State,
    path: str | os.PathLike[str],
    *,
    panel: str | None = None,
    equation: str | None = None,
    step: int | None = None,
    theme: str = "light",
    form: str | None = None,
) -> Path:
    """Draw a state, or a part of it, into a file for a slide or a paper.

    Args:
        state: what ``App.state()`` returned, an App itself, or None for the app's first picture; or a text: a link, the
            address of a page with one, or a file with the JSON of a state, as on the command line.
        path: of the file; it ends in ``.svg``, ``.png`` or ``.gif`` (all steps of one equation, animated).
        panel: the name of one panel, such as ``"grad_input"``; alone, or as it stands in ``equation``.
        equation: ``"forward"``, ``"input"``, ``"weight"`` or ``"bias"``: the forward pass, or the backward pass to
            that tensor; default: all of them.
        step: the position in an equation, counted from 0: so many cells (or stamps) after the first are done, and the
            factors of this one are lit.
        theme: ``"light"`` or ``"dark"``.
        form: ``"svg"``, ``"png"`` or ``"gif"``; default: as the path ends.

    Returns:
        The path that was written.

    Raises:
        ValueError: there is no such panel, equation, step, theme or ending, or the state is not one.
        OSError: a file cannot be read or written.
    """
    path = Path(path)
    chosen = form_of(path, form)
    return write(path, picture_bytes(state, chosen, panel=panel, equation=equation, step=step, theme=theme), "picture")


def picture_bytes(
    state: State,
    form: str,
    *,
    panel: str | None = None,
    equation: str | None = None,
    step: int | None = None,
    theme: str = "light",
) -> bytes:
    if form not in FORMATS.values():
        raise ValueError(f"form is one of {', '.join(FORMATS.values())}: got {form!r}")
    if theme not in LOOKS:
        raise ValueError(f"theme is one of {', '.join(LOOKS)}: got {theme!r}")
    subject = _subject(given_settings(state), panel, equation, LOOKS[theme])
    if form == "gif":
        if step is not None:
            raise ValueError(f"a GIF shows all steps: got step={step!r} as well; leave it out, or write a .png")
        return _animation(subject)
    if step is not None:
        _check_step(subject, step)
    drawn = subject.scene(step)
    if form == "png":
        with needs("a PNG picture"):
            from convviz.export.raster import png
        return png(drawn)
    return svg(drawn).encode()


@dataclasses.dataclass(frozen=True)
class _Subject:
    """What a picture shows: all equations, or one, or one panel of it."""

    settings: Settings
    stages: Stages
    rows: tuple[Equation, ...]
    panel: Panel | None
    look: Look

    def scene(self, number: int | None) -> Scene:
        step = None if number is None else step_at(self.stages, self.settings.plane, self.rows[0], number)
        drawn: Drawing
        end = ends(self.stages, self.settings.scale)
        if self.panel is not None:
            known = end(self.rows[0], self.panel) if self.rows else limit((self.panel,))
            drawn = draw_panel(self.panel, known, self.look, step)
            drawn = drawn if step is None else with_words(drawn, step.text, self.look)
            title = self.panel.label
        elif len(self.rows) == 1:
            drawn, title = draw_equation(self.rows[0], end, self.look, step), words_of(self.rows[0])
        else:
            drawings = [(row.title, draw_equation(row, end, self.look)) for row in self.rows]
            drawn, title = stacked(drawings, self.look), "; ".join(map(words_of, self.rows))
        return scene(drawn, self.look, title if step is None else f"{title}; {step.text}")


def form_of(path: Path, form: str | None) -> str:
    if form is None:
        if path.suffix.lower() not in FORMATS:
            raise ValueError(f"a picture's file ends in {', '.join(FORMATS)}: got {path.name!r}")
        return FORMATS[path.suffix.lower()]
    if form in FORMATS.values() and FORMATS.get(path.suffix.lower(), form) != form:
        raise ValueError(
            f"the file's ending says {path.suffix}, the form {form}: got {path.name!r}; change one of them"
        )
    return form


def _subject(settings: Settings, panel: str | None, equation: str | None, look: Look) -> _Subject:
    computed = compute(settings, compare=False)
    rows = equations(computed, settings.plane, settings.input_view)
    if equation is not None:
        rows = (_row(rows, equation, settings.transposed),)
    if panel is None:
        return _Subject(settings, computed, rows, None, look)
    named = panel_named(computed, settings.plane, panel)
    # At stride 1 the equation to the weight has a grad_output of its own.
    twins = [each for row in rows for each in row.panels if equation is not None and each.called == named.called]
    shown = (twins or [named])[0]
    holding = tuple(row for row in rows if shown.name in [each.name for each in row.panels])
    if equation is not None and not holding:
        names = ", ".join(each.called for each in rows[0].panels)
        raise ValueError(f"a panel of the equation {equation!r} is one of {names}: got {panel!r}")
    # The equation that makes a panel is the one whose steps fill it: there it stands last, or last before the loss.
    making = sorted(holding, key=lambda row: shown.name not in _made(row))
    return _Subject(settings, computed, tuple(making[:1]), shown, look)


def _made(row: Equation) -> list[str]:
    symbols = [getattr(item, "symbol", "") for item in row.items]
    return [item.name for item in row.items[symbols.index("=") :] if isinstance(item, Panel)]


def _row(rows: tuple[Equation, ...], name: str, transposed: bool) -> Equation:
    if name not in EQUATIONS:
        raise ValueError(f"an equation is one of {', '.join(EQUATIONS)}: got {name!r}")
    inner = TRANSPOSED.get(name, name) if transposed else name
    for row in rows:
        if row.name == inner:
            return row
    raise ValueError(f"the equation {name!r} does not exist here, because there is no bias; give the state a bias")


def _steps(subject: _Subject) -> int:
    if len(subject.rows) != 1:
        which = "this panel stands in no equation" if subject.panel else "this is the whole picture"
        raise ValueError(f"steps belong to one equation, and {which}: choose one with equation='forward', for example")
    count = count_steps(subject.rows[0])
    if not count:
        raise ValueError("the equation 'bias' is one sum and has no steps; choose forward, input or weight")
    return count


def _check_step(subject: _Subject, step: int) -> None:
    count = _steps(subject)
    if type(step) is not int or not 0 <= step < count:
        raise ValueError(f"step is a whole number from 0 to {count - 1} in this equation: got {step!r}")


def _animation(subject: _Subject) -> bytes:
    count = _steps(subject)
    if count > MAX_FRAMES:
        raise ValueError(
            f"a GIF has up to {MAX_FRAMES} steps: this equation has {count}; make the input smaller, or write single "
            "steps as .png"
        )
    scenes = [subject.scene(number) for number in range(count)]
    beat = max(min(FRAME, WHOLE // count), 40)
    with needs("a GIF picture"):
        from convviz.export.raster import gif
    return gif(scenes, [*[beat] * (count - 1), LAST_FRAME])
