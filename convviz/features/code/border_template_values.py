"""The border: padding the input where torch's operators cannot, and giving the border's gradient back."""

from convviz.explanation.border import copies, has_border, padded_apart
from convviz.explanation.snippet_setting import Setting, section
from convviz.features.code.read_template import Value
from convviz.geometry.spec import ConvSpec

MODES_OF_NUMPY = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def values(setting: Setting) -> dict[str, Value]:
    spec, mode = setting.spec, setting.spec.padding_mode
    copied, apart = copies(spec), padded_apart(spec)
    (top, bottom), (left, right) = spec.padding
    device = "" if setting.device == "cpu" else f', device="{setting.device}"'
    return {
        "border": has_border(spec),
        "copies": copied,
        "apart": apart,
        "pad": (left, right, top, bottom),
        "pad_rows": (top, bottom),
        "pad_columns": (left, right),
        "mode": f'mode="{mode}"' if copied else "",
        "mode_numpy": f'mode="{MODES_OF_NUMPY[mode]}"' if copied else "",
        "read_size": spec.padded_size if apart else spec.input_size,
        "inside_border": section(spec.padding, spec.padded_size),
        "rows_copied": copied and any(spec.padding[0]),
        "columns_copied": copied and any(spec.padding[1]),
        "folded_size": (spec.input_size[0], spec.padded_size[1]),
        "source_rows": _copied_cells(spec, 0, "torch.arange", device),
        "source_columns": _copied_cells(spec, 1, "torch.arange", device),
        "source_rows_numpy": _copied_cells(spec, 0, "np.arange"),
        "source_columns_numpy": _copied_cells(spec, 1, "np.arange"),
    }


def _copied_cells(spec: ConvSpec, axis: int, arange: str, device: str = "") -> str:
    """Return which row or column of the input each padded one is a copy of, or nothing."""
    if not copies(spec):
        return ""
    (before, after), size = spec.padding[axis], spec.input_size[axis]
    positions = f"{arange}({-before}, {size + after}{device})"
    if spec.padding_mode == "replicate":
        return f"{positions}.clip(0, {size - 1})"
    return copied_cell(spec.padding_mode, positions, size, (before > 0, after > 0))


def copied_cell(mode: str, position: str, size: int, outside: tuple[bool, bool]) -> str:
    """Return a padding mode's index formula; outside: whether a position can lie before, or after."""
    before, after = outside
    last = size - 1
    if mode == "circular":
        return f"{position} % {size}"
    if mode == "replicate":
        nearest = f"max({position}, 0)" if before else position
        return f"min({nearest}, {last})" if after else nearest
    mirrored = f"abs({position})" if before else position
    return f"{last} - abs({last} - {mirrored})" if after else mirrored
