"""Reads our docstrings as they are meant: |w| is an absolute value, which reStructuredText takes for a substitution."""

import inspect

from sphinx.util.inspect import stringify_signature


def keep_bars(app, what, name, object, options, lines):
    """Escape each | that stands outside literals."""
    for number, line in enumerate(lines):
        parts = line.split("``")  # every second one is a literal
        lines[number] = "``".join(p if i % 2 else p.replace("|", r"\|") for i, p in enumerate(parts))


def show_arguments(app, what, name, object, options, signature, returns):
    """Give a widget the arguments of its own __init__: traitlets puts `*args, **kwargs` before them."""
    if what != "class" or signature != "(*args, **kwargs)":
        return None
    given = inspect.signature(object.__init__)
    own = given.replace(parameters=list(given.parameters.values())[1:], return_annotation=inspect.Signature.empty)
    return stringify_signature(own, show_annotation=False), returns


def setup(app):
    app.connect("autodoc-process-signature", show_arguments)
    app.connect("autodoc-process-docstring", keep_bars)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
