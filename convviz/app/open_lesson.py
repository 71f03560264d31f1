"""``convviz.lesson``: the app, opened at a lesson."""

from convviz.app.app import App


def lesson(name: str, *, lang: str | None = None) -> App:
    """Open the app at a lesson.

    Args:
        name: of a lesson, such as ``"remainder"``, or the path of a file with one of your own, which ends in ``.json``.
        lang: the language of the app and of our lessons, such as ``"zh-Hans"``.

    Raises:
        OSError: the file cannot be read.
        ValueError: there is no such lesson, or the file is none; ``convviz lesson check`` lists all that is wrong.
    """
    return App(lesson=name, lang=lang)
