"""``convviz lesson``: what lessons there are, and what is wrong with one of your own."""

import argparse

from convviz.commands.exit_with_error import Refusal

EPILOG = "docs/lessons.md shows how a lesson is written, by an example."


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="the lessons that there are, in their order")
    check = actions.add_parser("check", help="tell what is wrong with a lesson, its numbers recomputed by torch")
    check.add_argument(
        "file", metavar="FILE", help="a lesson: one JSON file, its name ends with .json; or a name of ours"
    )


def run(options: argparse.Namespace) -> int:
    """Return 1 if something is wrong with a checked file."""
    return _list() if options.action == "list" else _check(options.file)


def _list() -> int:
    from convviz.facts import facts
    from convviz.lessons import names

    titles, width = facts("words/lesson_titles"), max(map(len, names()))
    for name in names():
        print(f"{name:{width}}  {titles[f'{name}.title']}")
    return 0


def _check(path: str) -> int:
    from convviz.lessons import FILE, lesson_bundle, names

    if not path.endswith(FILE) and path not in names():
        raise Refusal(f"a lesson is a file whose name ends with {FILE}, or a name of `convviz lesson list`: got {path}")
    try:
        found = lesson_bundle(path)
    except OSError as error:
        raise Refusal(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise Refusal(str(error)) from error
    from convviz.explanation.check_lesson import problems

    lesson = found["lesson"]
    wrong = problems(lesson, found["words"])
    for sentence in wrong:
        print(f"{path}: {sentence}")
    if not wrong:
        print(f"{path}: {len(lesson['steps'])} steps, and every answer is what torch computes")
        print(f"see it: convviz export --lesson {path} -o page.html")
    return 1 if wrong else 0
