"""The app's settings and results as traits: to read, set, observe and link, before it is displayed and after."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Never

import torch
import traitlets

from convviz.app.session import Session
from convviz.app.traits_and_settings import ON_PAGE, RESULTS, SETTABLE, value_of, with_named

if TYPE_CHECKING:  # what is read, and what may be set
    from collections.abc import Sequence

    from traitlets import TraitType

    from convviz.ops.to_tensor import TensorLike

    Pair = int | tuple[int, int]
    Sizes = TraitType[Pair, int | Sequence[int]]
    Padding = TraitType[Pair | tuple[Pair, Pair], int | str | Sequence[int] | Sequence[Sequence[int]]]
    Number = TraitType[int, int]
    Flag = TraitType[bool, bool]
    Word = TraitType[str, str]
    Cells = TraitType[torch.Tensor, TensorLike]
    MaybeCells = TraitType[torch.Tensor | None, TensorLike | None]

MAX_FOLLOW_ROUNDS = 20  # in which those who watch and set something else in turn may come to an end


def _trait(name: str, read_only: bool) -> Any:
    """Return a trait; all but tensors are on the page, too, with the numbers of their step."""
    made = traitlets.Any(read_only=read_only)
    if name not in ON_PAGE:
        return made
    return made.tag(sync=True, to_json=lambda _, app: value_of(app.session.settings, app.session.result, name))


class SettingTraits(traitlets.HasTraits):
    """What a person can set, under torch's names, and what follows from it.

    A value that breaks a rule raises ``traitlets.TraitError`` with the rule, and all stays as it was: nothing is
    clamped, nothing else moves to make room. ``set_state`` sets several at once. All but the tensors are on the page,
    too, for ``ipywidgets.jslink``; link a tensor in Python.

    Attributes:
        input_size, kernel_size, stride, padding, output_padding, dilation: an int, or (height, width); of an uneven
            padding ``((top, bottom), (left, right))``. output_padding is that of a transposed convolution, else 0.
        in_channels, out_channels, batch, groups: ints; of a transposed convolution those of the layer.
        padding_mode, loss, device, dtype, scale, input_view, theme, tab, mistake: words.
        lr: the learning rate of Learn, a number; 0 while it is closed. digit, seed: ints. transposed, link_axes: bools.
        input, weight, bias, target, grad_output: tensors; a tensor, an array, nested lists or a name such as
            ``"sobel_x"`` can be set. Setting grad_output or target chooses the loss that has one.
        padded_input, output, rotated_weight, padded_grad_output, grad_input, grad_weight, grad_bias: the results, named
            as the panels, read only.
        dilated_input, dilated_grad_output: what the stride dilates, read only; the first is None but of a transposed
            convolution, the second is None of one.
        loss_value: the loss as a float, read only.
    """

    input_size: Sizes
    kernel_size: Sizes
    stride: Sizes
    padding: Padding
    output_padding: Sizes
    dilation: Sizes
    in_channels: Number
    out_channels: Number
    batch: Number
    groups: Number
    padding_mode: Word
    input: Cells
    weight: Cells
    bias: MaybeCells
    target: MaybeCells
    grad_output: Cells
    loss: Word
    digit: Number
    seed: Number
    device: Word
    dtype: Word
    transposed: Flag
    link_axes: Flag
    scale: Word
    input_view: Word
    theme: Word
    lr: TraitType[float, float]
    tab: Word
    mistake: Word
    padded_input: TraitType[torch.Tensor, Never]
    dilated_input: TraitType[torch.Tensor | None, Never]
    output: TraitType[torch.Tensor, Never]
    rotated_weight: TraitType[torch.Tensor, Never]
    dilated_grad_output: TraitType[torch.Tensor | None, Never]
    padded_grad_output: TraitType[torch.Tensor, Never]
    grad_input: TraitType[torch.Tensor, Never]
    grad_weight: TraitType[torch.Tensor, Never]
    grad_bias: TraitType[torch.Tensor | None, Never]
    loss_value: TraitType[float, Never]

    # The types are for readers and for checkers; the traits themselves follow from the table.
    locals().update({name: _trait(name, read_only=name in RESULTS) for name in (*SETTABLE, *RESULTS)})

    session: Session
    _following = False

    def follow_session(self) -> None:
        """Bring every trait to what the session has; those that changed notify."""
        if self._following:  # somebody who watches a trait has set another: the round that runs comes to it
            return
        self._following = True
        try:
            for _ in range(MAX_FOLLOW_ROUNDS):
                result, settings = self.session.result, self.session.settings
                for name in (*SETTABLE, *RESULTS):
                    now = value_of(self.session.settings, self.session.result, name)
                    if not _same(getattr(self, name), now):
                        self.set_trait(name, now)
                if result is self.session.result and settings is self.session.settings:
                    break  # nobody has set anything meanwhile
        finally:
            self._following = False

    @traitlets.validate(*SETTABLE)
    def _take(self, proposal: dict[str, Any]) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        settings = self.session.settings
        if _same(value, value_of(settings, self.session.result, name)):
            return value
        try:
            self.session.apply(with_named(settings, name, value))
        except (ValueError, TypeError) as error:
            self.session.notify(str(error), failed=True)
            self._give_back(name, value)
            raise traitlets.TraitError(str(error)) from error
        return value_of(self.session.settings, self.session.result, name)

    def _give_back(self, name: str, refused: Any) -> None:
        """Notify a linked widget of what holds, once its change is over: before, ``traitlets.link`` does not listen."""

        def send_to_linked() -> None:
            now = getattr(self, name)
            self.notify_change(traitlets.Bunch(name=name, old=refused, new=now, owner=self, type="change"))

        with contextlib.suppress(RuntimeError):  # no loop runs: whoever set it hears the error itself
            asyncio.get_running_loop().call_soon(send_to_linked)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) or isinstance(other, torch.Tensor):
        return one is other
    return type(one) is type(other) and bool(one == other)
