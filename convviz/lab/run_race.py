"""The race: all entrants take the same step, in turn, and after each one it is seen how far they are apart."""

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import torch

from convviz.file_io import refuse_unwritable, write
from convviz.lab import checkpoint
from convviz.lab import result as results
from convviz.lab.costs import costs
from convviz.lab.digits import digits, normalized
from convviz.lab.entrant_training import Lane, drift, race_failure
from convviz.lab.entrants import REFERENCE, Layers, entrants
from convviz.lab.race_error import FAILURES, RaceError
from convviz.lab.settings import RaceKeywords, RaceSettings

LAYERS = "torch,rotate,unfold"


@dataclass(frozen=True)
class Step:
    """One step that all entrants have taken.

    Attributes:
        seed: of this run.
        epoch: from 1.
        step: of this run, from 1.
        done: steps of all runs until now.
        total: steps of all runs.
        rows: entrant → ``loss``, ``seconds`` and, but for torch, ``weights`` (max|Δw|), ``loss_difference`` and
            ``gradients`` (parameter → max|Δ|), all beside torch's.
        accuracy: entrant → share of the test images that it gets right; None but after an epoch.
    """

    seed: int
    epoch: int
    step: int
    done: int
    total: int
    rows: Mapping[str, Mapping[str, Any]]
    accuracy: Mapping[str, float] | None


class RaceOptions(RaceKeywords, total=False):
    """What ``Race`` takes by name."""

    data: str | os.PathLike[str] | None
    train: int | None
    test: int | None
    verify: bool
    out: str | os.PathLike[str] | None


class Race:
    """A race as an iterator of its steps: whoever stops asking pauses it.

    With ``out`` it writes result and checkpoint after each epoch, and goes on from the checkpoint that is there.
    """

    def __init__(
        self,
        layers: Layers = LAYERS,
        *,
        data: str | os.PathLike[str] | None = None,
        train: int | None = None,
        test: int | None = None,
        verify: bool = True,
        out: str | os.PathLike[str] | None = None,
        **settings: Unpack[RaceKeywords],
    ) -> None:
        """Prepare the race; nothing is computed yet.

        Args:
            layers: who races, see ``entrants``; torch always does.
            data: where the digits come from, see ``digits``.
            train: how many images to learn from; None for all.
            test: how many images to be tested on; None for all.
            verify: whether files must be MNIST's own.
            out: the result file; None for none.
            settings: by the names of ``RaceSettings``.

        Raises:
            ValueError: a setting is impossible, there is no such layer, or out is not this race's.
            TypeError: a layer makes none, or there is no such setting.
            ImportError: the package with the digits is not installed.
            OSError: data or checkpoint cannot be read.
        """
        self.settings = RaceSettings(**settings)
        self.entrants = entrants(layers)
        self._digits = digits(data, seed=self.settings.seed, train=train, test=test, verify=verify)
        self._count = len(self._digits.train_images)
        self.settings.check_images(self._count, tuple(self.entrants))
        exact = [name for name, entrant in self.entrants.items() if entrant.exact]
        self._head = results.described(self.settings, self.entrants, exact, self._digits)
        self._runs: list[dict[str, Any]] = []
        self.out = None if out is None else Path(out)
        self.lanes: dict[str, Lane] = {}
        self._lane_states: dict[str, Any] = {}
        if self.out is not None:
            self._resume(self.out)
        self._steps = self._all_steps()

    @property
    def total(self) -> int:
        """How many steps there are in all runs."""
        return self.settings.seeds * self._steps_of_a_run

    @property
    def _steps_of_a_run(self) -> int:
        return self.settings.epochs * math.ceil(self._count / self.settings.batch_size)

    @property
    def done(self) -> int:
        """How many of them have been taken."""
        return sum(len(run["rows"]) for run in self._runs)

    @property
    def result(self) -> results.Result:
        """What has been measured until now, as plain data; see ``convviz.lab.table``."""
        found = self._head | {"runs": [self._as_dict(run) for run in self._runs]}
        return found | {"digits": results.misclassified(found, self._digits.test_images)}

    def test_image(self, at: int) -> torch.Tensor:
        """Return one of the images to be tested on, ``[28, 28]``, bytes."""
        return self._digits.test_images[at]

    def __iter__(self) -> Iterator[Step]:
        return self

    def __next__(self) -> Step:
        """Take the next step with every entrant.

        Raises:
            StopIteration: the race is finished.
            RaceError: a layer failed; the sentence names it and the step.
            OSError: result or checkpoint could not be written; the last good ones stay.
        """
        try:
            return next(self._steps)
        except (RaceError, OSError, KeyboardInterrupt) as error:
            self._head["state"] = "stopped by hand" if isinstance(error, KeyboardInterrupt) else str(error)
            try:
                self.save()
            except OSError as second:
                error.add_note(str(second))
            raise

    def run(self) -> results.Result:
        """Take all steps that are left, and return the result; raises as ``__next__`` does."""
        for _ in self:
            pass
        return self.result

    def save(self) -> None:
        """Write the result so far to ``out``, where there is one."""
        if self.out is not None:
            write(self.out, results.to_json(self.result), "result")

    def _all_steps(self) -> Iterator[Step]:
        for at in range(self.settings.seeds):
            seed = self.settings.seed + at
            if at < len(self._runs) - 1 or (at == len(self._runs) - 1 and self._is_over(self._runs[at])):
                continue  # a race that goes on has run this one
            self.lanes = {name: Lane(name, who, self.settings, seed) for name, who in self.entrants.items()}
            for name, state in self._lane_states.items():
                self.lanes[name].load(state)
            self._lane_states = {}
            if at == len(self._runs):
                empty = {name: {"accuracy": [], "predictions": ""} for name in self.entrants}
                self._runs.append({"seed": seed, "epochs": [], "rows": [], "tests": empty})
            while not self._is_over(self._runs[at]):
                yield from self._epoch(self._runs[at])
        self._finish()

    def _is_over(self, run: dict[str, Any]) -> bool:
        return len(run["epochs"]) == self.settings.epochs

    def _epoch(self, run: dict[str, Any]) -> Iterator[Step]:
        """Take one epoch's steps; the last one is reported after test and checkpoint."""
        epoch = 1 + len(run["epochs"])
        batches = list(self._batches(run["seed"], epoch))
        for chosen in batches:
            step = len(run["rows"]) + 1
            where = f"step {step} (epoch {epoch}, seed {run['seed']})"
            row = self._take(chosen, step, where)
            run["rows"].append(row)
            accuracy = None
            if chosen is batches[-1]:
                accuracy = self._test(run, where)
                run["epochs"].append(len(run["rows"]))
                self._keep()
            yield Step(run["seed"], epoch, step, self.done, self.total, row, accuracy)

    def _batches(self, seed: int, epoch: int) -> Iterator[torch.Tensor]:
        # From seed and epoch alone: a race that goes on needs no state of a generator.
        random = torch.Generator().manual_seed(1000 * seed + epoch)
        yield from torch.randperm(self._count, generator=random).split(self.settings.batch_size)

    def _batch(self, chosen: torch.Tensor, lane: Lane) -> tuple[torch.Tensor, torch.Tensor]:
        images = normalized(self._digits.train_images[chosen].to(lane.device), lane.dtype)
        return images, self._digits.train_labels[chosen].to(lane.device, torch.int64)

    def _take(self, chosen: torch.Tensor, step: int, where: str) -> dict[str, dict[str, Any]]:
        torchs = self.lanes[REFERENCE]
        images, labels = self._batch(chosen, torchs)
        lr = self.settings.lr * (1 - (step - 1) / self._steps_of_a_run)
        names = list(self.lanes)
        # Whoever comes first, or behind a certain other, finds other caches: each step has an order of its own.
        order = torch.randperm(len(names), generator=torch.Generator().manual_seed(step)).tolist()
        measured: dict[str, dict[str, Any]] = {}
        for name in (names[at] for at in order):
            try:
                loss, seconds = self.lanes[name].step(images, labels, lr)
            except FAILURES as error:
                raise race_failure(error, name, where) from error
            measured[name] = {"loss": float(loss), "seconds": seconds}
            if not math.isfinite(measured[name]["loss"]):
                raise RaceError(
                    f"{name}, {where}: the loss is {measured[name]['loss']}, and no step can follow; a smaller lr than "
                    f"{self.settings.lr} may keep it finite"
                )
        row = {name: measured[name] for name in names}
        for name in names:
            if name != REFERENCE:
                difference = abs(row[name]["loss"] - row[REFERENCE]["loss"])
                row[name] |= {"loss_difference": difference, **drift(self.lanes[name].network, torchs.network)}
        return row

    def _test(self, run: dict[str, Any], where: str) -> dict[str, float]:
        labels, found = results.as_text(self._digits.test_labels), {}
        images = self._digits.test_images.to(self.lanes[REFERENCE].device)
        for name, lane in self.lanes.items():
            try:
                found[name] = results.as_text(lane.predict(images))
            except FAILURES as error:
                raise race_failure(error, name, f"the test after {where}") from error
        for name, predictions in found.items():
            right = sum(one == other for one, other in zip(predictions, labels, strict=True))
            run["tests"][name]["accuracy"].append(right / len(labels))
            run["tests"][name]["predictions"] = predictions
        return {name: run["tests"][name]["accuracy"][-1] for name in found}

    def _as_dict(self, run: dict[str, Any]) -> dict[str, Any]:
        of_entrants = {
            name: results.columns([row[name] for row in run["rows"]]) | run["tests"][name] for name in self.entrants
        }
        return {"seed": run["seed"], "epochs": run["epochs"], "entrants": of_entrants}

    def _keep(self) -> None:
        if self.out is not None:
            self.save()
            states = {name: lane.state() for name, lane in self.lanes.items()}
            checkpoint.write_checkpoint(checkpoint.checkpoint_path(self.out), self._head | {"runs": self._runs}, states)

    def _finish(self) -> None:
        """Measure what each layer costs, write the result, and take the checkpoint away."""
        if not self.lanes:  # it went on from its last step
            seed = self.settings.seed + self.settings.seeds - 1
            self.lanes = {name: Lane(name, who, self.settings, seed) for name, who in self.entrants.items()}
        images, labels = self._batch(torch.arange(self.settings.batch_size), self.lanes[REFERENCE])
        self._head["costs"] = costs(self.lanes, images, labels)
        self._head["state"] = results.FINISHED
        self.save()
        if self.out is not None:
            checkpoint.checkpoint_path(self.out).unlink(missing_ok=True)

    def _resume(self, out: Path) -> None:
        """Go on from this race's checkpoint; refuse to write over anything else."""
        refuse_unwritable(out, "result")
        found = checkpoint.earlier(out, self._head)
        if found is not None:
            self._head["made"], self._runs, states = found
            self._lane_states = {} if self._is_over(self._runs[-1]) else states


def race(layers: Layers = LAYERS, **options: Unpack[RaceOptions]) -> results.Result:
    """Run a race to its end and return its result; see ``Race`` for the arguments, and to watch it step by step."""
    return Race(layers, **options).run()
