"""What the rules of a network's sentence look up in a recorded run."""

from collections.abc import Sequence

from convviz.features.network.operations import Back, Operation


class Facts:
    """A recorded run, with what the rules look up."""

    def __init__(self, operations: Sequence[Operation], back: Back) -> None:
        self.operations, self.back = operations, back
        self.readers: dict[int, list[Operation]] = {operation.index: [] for operation in operations}
        for operation in operations:
            for source in operation.sources:
                self.readers[source].append(operation)
        self.uses = [each for each in operations if each.weight is not None and each.weight.trained]
        self.weighted = layers(operations)
        self.trained = layers(self.uses)
        self.without = [each for each in self.trained if each.index not in back.weights]

    def rms(self, operation: Operation) -> float:
        """Return the size of what came back, 0 where nothing did."""
        stats = self.back.stats[operation.index]
        return 0.0 if stats is None else stats.rms

    def came(self, operation: Operation) -> bool:
        return self.back.stats[operation.index] is not None

    def is_zero(self, operation: Operation) -> bool:
        """Return whether something came back, and all of it is exactly 0."""
        stats = self.back.stats[operation.index]
        return stats is not None and stats.zeros == 1

    def before(self, operation: Operation) -> list[Operation]:
        """Return what an operation was computed from, and itself, the last first."""
        found = {operation.index}
        for each in reversed(self.operations[: operation.index + 1]):
            if each.index in found:
                found.update(each.sources)
        return [each for each in reversed(self.operations) if each.index in found]

    def after(self, operation: Operation) -> set[int]:
        """Return which operations were computed from one, and itself."""
        found = {operation.index}
        for each in self.operations[operation.index + 1 :]:
            if found.intersection(each.sources):
                found.add(each.index)
        return found

    def lost(self, operation: Operation) -> bool:
        """Return whether a layer that was to be trained gets no gradient, and an operation was computed from it."""
        return not {each.index for each in self.before(operation)}.isdisjoint(each.index for each in self.without)


def layers(operations: Sequence[Operation]) -> list[Operation]:
    """Return the operations that have a weight, one of those that share it."""
    made: dict[str, Operation] = {}
    for each in operations:
        if each.weight is not None:
            made.setdefault(each.weight.name or each.label.partition(" #")[0], each)
    return list(made.values())
