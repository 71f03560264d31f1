"""The operations of a run as data: what each is called, reads and needs for its rule."""

from collections import Counter
from typing import Any

import torch

from convviz.features.network.geometry import reads
from convviz.features.network.measure import has_batch, measure, norm
from convviz.features.network.operations import Operation, Weight
from convviz.features.network.watch_operations import Seen, Watch

BOARD = {"conv2d": torch.nn.Conv2d, "conv_transpose2d": torch.nn.ConvTranspose2d}
_RULES = """
    adaptive_avg_pool2d add avg_pool2d batch_norm cat dropout flatten leaky_relu linear max_pool2d mul relu reshape
    sigmoid sub tanh view"""
RULES = frozenset(_RULES.split())


def describe(watch: Watch) -> tuple[Operation, ...]:
    """Return the operations that count, and leave those in the run that was watched."""
    kept = _kept(watch.seen)
    places = {seen.index: place for place, seen in enumerate(kept)}
    names = {id(each): name for name, each in watch.model.named_parameters()}
    labels = _labels(kept)
    made = tuple(
        _described(seen, place, label, own, [places[index] for index in seen.sources], watch, names)
        for place, (seen, (label, own)) in enumerate(zip(kept, labels, strict=True))
    )
    for place, seen in enumerate(kept):
        seen.place[0], seen.tensor, seen.node = place, None, None
    watch.seen = kept
    return made


def _kept(seen: list[Seen]) -> list[Seen]:
    """Leave out what autograd does not know and nothing reads: metrics, and what a Function does inside."""
    needed: set[int] = set()
    for each in reversed(seen):
        if each.edge is not None or each.kind == "input" or each.index in needed:
            needed.update((each.index, *each.sources))
    return [each for each in seen if each.index in needed]


def _labels(seen: list[Seen]) -> list[tuple[str, bool]]:
    """Return of each what to call it, and whether it is its module's own operation."""
    last = {each.run: each.index for each in seen}
    count = Counter(each.run for each in seen)
    made, used = [], Counter[str]()
    for each in seen:
        module = each.module
        alone = module is not None and not any(True for _ in module.children())
        own = alone and last[each.run] == each.index and each.path != ""
        own = own and (count[each.run] == 1 or type(module).__module__.startswith(("torch.nn", "convviz.nn")))
        label = each.path if own else ".".join(part for part in (each.path, each.kind) if part)
        if each.kind == "input":
            label = each.path if each.path and not each.path.startswith("[") else f"input{each.path}"
        used[label] += 1
        made.append((label if used[label] == 1 else f"{label} #{used[label]}", own))
    return made


def _described(
    seen: Seen, place: int, label: str, own: bool, sources: list[int], watch: Watch, names: dict[int, str]
) -> Operation:
    batched = has_batch(seen.shape, watch.keeper.batch)
    weight = None
    if seen.weight is not None:
        each = seen.weight
        weight = Weight(
            names.get(id(each), ""), tuple(each.shape), norm(each.detach()), each.requires_grad, each.detach()
        )
    how = reads(seen.kind, seen.call, seen.source_shapes, seen.shape, watch.keeper.batch, seen.part)
    opens = "board" if own and isinstance(seen.module, BOARD.get(seen.kind, ())) else ""
    return Operation(
        place,
        seen.kind,
        seen.path,
        type(seen.module).__name__ if own else "",
        label,
        tuple(sources),
        tuple(seen.shape)[1 if batched else 0 :],
        how,
        seen.value,
        seen.stats or measure(seen.value),
        weight,
        batched,
        seen.edge is not None,
        _rule(seen, watch),
        opens or ("rule" if seen.kind in RULES else ""),
    )


def _rule(seen: Seen, watch: Watch) -> dict[str, Any]:
    """Return the numbers of a batch norm, per channel: its statistics are the batch's while it is trained."""
    if seen.kind != "batch_norm":
        return {}
    made: dict[str, Any] = {name: each.double().tolist() for name, each in seen.numbers.items()}
    source = watch.seen[seen.sources[0]].value if seen.sources else None
    training = bool(seen.call.get("training", False)) or "mean" not in made
    if training and source is not None and source.shape[0] == watch.keeper.batch and source.dim() > 1:
        axes = [axis for axis in range(source.dim()) if axis != 1]
        var, mean = torch.var_mean(source.detach(), axes, correction=0)
        made["mean"], made["var"] = mean.tolist(), var.tolist()
    return {**made, "eps": float(seen.call.get("eps", 1e-5)), "training": training}
