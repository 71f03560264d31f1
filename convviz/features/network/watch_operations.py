"""Every operation of a running model, with or without a module, and its output as it was when it was made.

Two of torch's modes see to it. One sees each function that Python calls, with the tensors that autograd knows. The
other lies below autograd and sees whatever is about to write into a tensor, so that what was kept is copied before.
What neither sees (an ``autograd.Function`` of somebody's own, a scripted module) is found by autograd's graph.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from convviz.features.network.bind_arguments import bind, kind_of
from convviz.features.network.geometry import lacks_batch
from convviz.features.network.keep_gradients import Keeper
from convviz.features.network.measure import Stats, has_batch, measure

NOT_OPERATIONS = frozenset(("grad",))
ATTRIBUTES = ("data", "T", "mT", "H", "mH", "real", "imag")
BACKWARD = re.compile(r"Backward\d*$")
_LAYERS = (torch.nn.Conv2d, torch.nn.ConvTranspose2d)
MAX_BYTES = 2**30  # of outputs; the gradients take as much again. Of what is made after that one sample is kept
MAX_WALKED = 100_000  # nodes of autograd's graph between an unseen tensor and what it was made from


class Seen:
    """One operation while the model runs."""

    def __init__(
        self, index: int, kind: str, tensor: torch.Tensor, path: str, module: torch.nn.Module | None, run: int
    ) -> None:
        self.kind, self.path, self.module, self.run = kind, path, module, run
        self.place = [index]  # in a list, which its hook has too: those that do not count are left out later
        self.sources: list[int] = []
        self.source_shapes: list[torch.Size] = []
        self.call: dict[str, Any] = {}
        self.part = 0  # which output of the call it is
        self.weight: torch.Tensor | None = None
        self.numbers: dict[str, torch.Tensor] = {}  # small ones that its rule needs
        self.tensor: torch.Tensor | None = tensor  # kept alive, so that no other gets its id
        self.value = tensor.detach()
        self.shape = tensor.shape
        self.stats: Stats | None = None  # measured at once where only one sample is kept
        self.version = _version(tensor)
        self.node = tensor.grad_fn
        self.edge: GradientEdge | None = None if self.node is None else get_gradient_edge(tensor)

    @property
    def index(self) -> int:
        return self.place[0]

    def is_still(self, tensor: torch.Tensor) -> bool:
        """Return whether the tensor is what it was when this operation made it."""
        return tensor.grad_fn is self.node and _version(tensor) == self.version


class Watch:
    """The operations of one run, and where it is: ``with`` it, the model runs."""

    def __init__(self, model: torch.nn.Module, max_bytes: int = MAX_BYTES) -> None:
        self.model, self.bytes = model, 0
        self.keeper = Keeper(max_bytes)
        self.seen: list[Seen] = []
        self.leaves: dict[int, torch.Tensor] = {}  # that gradients can be asked for, parameters and others
        self._by_tensor: dict[int, int] = {}  # id of a tensor → the last operation that made or changed it
        self._by_node: dict[int, list[int]] = defaultdict(list)  # id of a node of autograd → the same
        self._by_storage: dict[int, list[int]] = defaultdict(list)
        self._written: dict[int, list[int]] = defaultdict(list)  # storage → what wrote into it, through a view perhaps
        self._foreign: dict[int, tuple[torch.Tensor, Any]] = {}  # made from parameters alone
        self.ran: set[str] = set()  # paths of modules
        self.used: set[int] = set()  # ids of parameters, and of constants
        self._calls = 0  # how many modules were called so far
        self._stack: list[tuple[str, torch.nn.Module, int]] = []
        self._modes = (_Writes(self), _Functions(self))
        self._handles: list[Any] = []

    def __enter__(self) -> "Watch":
        try:
            for name, module in self.model.named_modules():
                if isinstance(module, torch.jit.ScriptModule):
                    continue  # cannot be hooked: what it makes is found by autograd's graph
                path = ".".join(part for part in name.split(".") if part != "_orig_mod")
                self._handles += [
                    module.register_forward_pre_hook(lambda module, _, path=path: self._call(path, module)),
                    module.register_forward_hook(self._leave, always_call=True),
                ]
            for mode in self._modes:
                mode.__enter__()  # type: ignore[no-untyped-call]
        except BaseException:
            self._remove_hooks()
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        for mode in reversed(self._modes):
            mode.__exit__(*error)  # type: ignore[no-untyped-call]
        self._remove_hooks()

    def _remove_hooks(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def _call(self, path: str, module: torch.nn.Module) -> None:
        self.ran.add(path)
        self._calls += 1
        self._stack.append((path, module, self._calls))

    def _leave(self, module: torch.nn.Module, _: Any, output: Any) -> None:
        with torch._C.DisableTorchFunction():
            for tensor in tensors_in(output):  # what nothing saw being made belongs to the module that hands it out
                known, index = len(self.seen), self.find(tensor)
                if index is not None and index >= known and isinstance(module, _LAYERS):
                    _name_layer(self.seen[index], module)
        if self._stack and self._stack[-1][1] is module:
            self._stack.pop()

    def add(self, kind: str, tensor: torch.Tensor) -> Seen:
        made = Seen(len(self.seen), kind, tensor, *(self._stack[-1] if self._stack else ("", None, 0)))
        self.seen.append(made)
        self._by_tensor[id(tensor)] = made.index
        if made.edge is not None:
            self._by_node[id(made.edge.node)].append(made.index)
            tensor.register_hook(self.keeper.hook(made.place))  # before the model's own hooks, as autograd.grad
        self.bytes += tensor.numel() * tensor.element_size()
        keeper = self.keeper
        if self.bytes > keeper.max_bytes and has_batch(tensor.shape, keeper.batch):
            made.stats = measure(made.value)
            made.value = made.value[keeper.sample : keeper.sample + 1].clone()
        else:
            self._by_storage[_storage(tensor)].append(made.index)
        return made

    def protect(self, tensor: torch.Tensor) -> None:
        """Copy what was kept of a storage, because it is about to be written to."""
        for index in self._by_storage.pop(_storage(tensor), ()):
            kept = self.seen[index]
            kept.value = kept.value.clone()

    def find(self, tensor: torch.Tensor) -> int | None:
        """Return the operation that made a tensor; None if none did, such as for a parameter."""
        index = self._by_tensor.get(id(tensor))
        known = None if index is None else self.seen[index]
        if known is not None and known.is_still(tensor):
            return index
        if tensor.requires_grad and tensor.grad_fn is None:
            self.leaves[id(tensor)] = tensor
        if known is None and tensor.grad_fn is None:
            return None
        kept = self._foreign.get(id(tensor))
        if kept is not None and kept[1] is tensor.grad_fn:
            return None
        return self._add_unseen(tensor, known)

    def _add_unseen(self, tensor: torch.Tensor, before: Seen | None) -> int | None:
        """Add what made or changed a tensor unseen; its sources are those that autograd's graph leads to."""
        node = tensor.grad_fn
        sources = self._walk(node) if node is not None else [before.index] if before is not None else []
        if not sources:
            self._foreign[id(tensor)] = (tensor, node)
            return None
        name = BACKWARD.sub("", node.name()).rpartition("::")[2] if node is not None else "changed in place"
        if name == "BackwardHookFunction" and len(sources) == 1:  # a module's full backward hooks: the same numbers
            self._by_tensor[id(tensor)] = sources[0]
            self._foreign.pop(id(tensor), None)
            self.seen[sources[0]].tensor, self.seen[sources[0]].node = tensor, node
            self.seen[sources[0]].version = _version(tensor)
            return sources[0]
        sources = sorted({*sources, *self._written.pop(_storage(tensor), ())})
        made = self.add(name, tensor)
        self.keeper.copies |= isinstance(node, torch.autograd.function.BackwardCFunction)
        self._connect(made, sources)
        return made.index

    def _walk(self, node: Any) -> list[int]:
        """Return the nearest operations that a node of autograd leads to, and keep its leaves."""
        found: dict[int, None] = {}
        todo, kept = [(node, 0)], {id(node): node}  # kept: a dropped node's id may be given to another
        while todo and len(kept) < MAX_WALKED:
            at, slot = todo.pop(0)
            ours = [i for i in self._by_node.get(id(at), ()) if self.seen[i].edge.output_nr == slot]  # type: ignore[union-attr]
            if ours:
                found[ours[-1]] = None
                continue
            if hasattr(at, "variable"):
                self.leaves[id(at.variable)] = at.variable
            for following, at_slot in at.next_functions:
                if following is not None and id(following) not in kept:
                    kept[id(following)] = following
                    todo.append((following, at_slot))
        return sorted(found)

    def _connect(self, made: Seen, sources: list[int]) -> None:
        made.sources = sources
        made.source_shapes = [self.seen[index].shape for index in sources]

    def called(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any, before: list[Any]) -> None:
        """Take note of one function that has run; ``before``: its tensors, and the operations that made them."""
        kind = kind_of(func)
        outputs = [args[0]] if kind == "setitem" else list(tensors_in(out))
        if outputs:
            self.used.update(id(tensor) for tensor, index in before if index is None)
        sources = [index for _, index in before if index is not None]
        if not sources:
            return
        if lacks_batch(kind, [self.seen[index].shape for index in sources]):
            self.keeper.batch, self.keeper.sample = None, 0
        for part, tensor in enumerate(outputs):
            if not (tensor.is_floating_point() or tensor.is_complex()) or tensor.is_sparse:
                continue
            index = self._by_tensor.get(id(tensor))
            if index is not None and self.seen[index].is_still(tensor):
                continue  # handed on as it was, such as by x.contiguous()
            made = self.add(kind, tensor)
            self._connect(made, sources)
            if any(tensor is each for each, _ in before):
                self._written[_storage(tensor)].append(made.index)
            made.call, made.part = bind(kind, args, kwargs), part
            weights = [each for each, index in before if index is None and is_weight(each)]
            made.weight = weights[0] if weights else None
            made.numbers = _numbers(kind, args, kwargs)


class _Functions(TorchFunctionMode):
    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        # Asked before the call, which may change them.
        given = list(tensors_in((args, kwargs)))
        before = [(tensor, self.watch.find(tensor)) for tensor in given] if _may_count(func) else []
        out = func(*args, **kwargs)
        if before:
            self.watch.called(func, args, kwargs, out, before)
        return out


class _Writes(TorchDispatchMode):
    def __init__(self, watch: Watch) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.watch = watch

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func._schema.is_mutable:
            for place, argument in enumerate(func._schema.arguments):
                if argument.alias_info is not None and argument.alias_info.is_write:
                    value = args[place] if place < len(args) else kwargs.get(argument.name)
                    for tensor in tensors_in(value):
                        self.watch.protect(tensor)
        return func(*args, **kwargs)


def _name_layer(made: Seen, module: Any) -> None:
    """Give a convolution of somebody's own, of which only its Function was seen, the name and geometry of its class."""
    made.kind = "conv_transpose2d" if isinstance(module, torch.nn.ConvTranspose2d) else "conv2d"
    names = ("stride", "padding", "dilation", "groups")
    made.call = {"weight": module.weight.shape, **{name: getattr(module, name) for name in names}}
    made.weight = module.weight


def is_weight(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, torch.nn.Parameter) or tensor.requires_grad


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors of a value, in tuples, lists and dicts as well."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from tensors_in(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from tensors_in(each)


def _may_count(func: Any) -> bool:
    name = getattr(func, "__name__", "")
    if name == "__get__":  # of the attributes only these give a tensor of the same numbers
        return getattr(getattr(func, "__self__", None), "__name__", "") in ATTRIBUTES
    return name not in NOT_OPERATIONS


def _numbers(kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, torch.Tensor]:
    if kind != "batch_norm":
        return {}
    names = ("input", "mean", "var", "weight", "bias")
    given = {**dict(zip(names, args, strict=False)), **{_SHORT.get(name, name): each for name, each in kwargs.items()}}
    return {n: given[n].detach().clone() for n in names[1:] if isinstance(given.get(n), torch.Tensor)}


_SHORT = {"running_mean": "mean", "running_var": "var"}


def _version(tensor: torch.Tensor) -> int:
    return -1 if tensor.is_inference() else tensor._version


def _storage(tensor: torch.Tensor) -> int:
    try:
        return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):  # sparse and other layouts have none
        return -id(tensor)
