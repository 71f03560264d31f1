"""The call that torch's layer makes for one setting, as one writes it."""

from dataclasses import dataclass

from convviz.explanation.border import own_padding, padded_apart
from convviz.explanation.snippet_setting import Setting, numbers, options, short
from convviz.geometry.spec import Pair


@dataclass(frozen=True)
class TorchCall(Setting):
    """One call of the operator."""

    bias: bool = False

    @property
    def input_shape(self) -> tuple[int, int, int, int]:
        """Shape of what the operator reads, with the border where the operator cannot make it."""
        spec = self.spec
        if self.transposed:
            return spec.output_shape
        return (spec.batch, spec.in_channels, *(spec.padded_size if padded_apart(spec) else spec.input_size))

    @property
    def padding(self) -> Pair:
        return own_padding(self.spec)

    @property
    def text(self) -> str:
        spec, apart = self.spec, padded_apart(self.spec)
        given = options(spec.stride, self.padding, spec.dilation, spec.groups)
        if self.transposed and any(spec.remainder):
            given.append(f"output_padding={short(spec.remainder)}")
        name = "conv_transpose2d" if self.transposed else "conv2d"
        image = "padded_input" if apart and not self.transposed else "input"
        return f"F.{name}({', '.join([image, 'weight', *(['bias'] if self.bias else []), *given])})"

    @property
    def pad(self) -> str:
        """The call that makes padded_input, where the operator cannot pad by itself."""
        (top, bottom), (left, right) = self.spec.padding
        mode = "" if self.spec.padding_mode == "zeros" else f', mode="{self.spec.padding_mode}"'
        return f"F.pad(input, ({numbers((left, right, top, bottom))}){mode})"
