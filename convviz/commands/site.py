"""``convviz site``: the live page as a folder for a static host."""

import argparse
from pathlib import Path

from convviz.commands.exit_with_error import refusing


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="the folder to write: new, empty, or with a site to renew",
    )


def run(options: argparse.Namespace) -> int:
    from convviz.export.site import INDEX, write_site

    with refusing(OSError, ValueError):
        files = write_site(options.output)
    size = sum(map(len, files.values()))
    print(f"wrote {options.output}: {INDEX} and {len(files) - 1} files beside it, {size / 1e6:.1f} MB")
    return 0
