"""``convviz exercise``: a sheet whose numbers are proven to show chosen mistakes."""

import argparse
from pathlib import Path

from convviz.commands.exit_with_error import Refusal, refusing
from convviz.facts.words import sentences

say = sentences("exercise")

FORMS = ("ipynb", "html", "md")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--expose", required=True, metavar="IDS", help="mistakes of the catalogue with commas between, such as I10,I11"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the numbers (default: 0)")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="the sheet: its name ends with .ipynb, .html or .md",
    )
    parser.add_argument("--no-solutions", action="store_true", help="leave out solutions and mistakes")


def run(options: argparse.Namespace) -> int:
    """Return 2 for what cannot be, 1 if the file cannot be written."""
    form = options.output.suffix.lower().removeprefix(".")
    if form not in FORMS:
        known = ", ".join(f".{one}" for one in FORMS)
        raise Refusal(say("ending", known=known, path=options.output), 2)
    from convviz.courses.find_exercise import exercise
    from convviz.file_io import utf8, write

    with refusing(ValueError, code=2), refusing(OSError):
        sheet = exercise([id.strip() for id in options.expose.split(",") if id.strip()], seed=options.seed)
        write(options.output, utf8(sheet.text(form, not options.no_solutions), "sheet"), "sheet")
    print(f"wrote {options.output}")
    return 0
