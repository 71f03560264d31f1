"""Reads our docstrings as they are meant: |w| is an absolute value, which reStructuredText takes for a substitution."""


def keep_bars(app, what, name, object, options, lines):
    """Escape each | that stands outside literals."""
    for number, line in enumerate(lines):
        parts = line.split("``")  # every second one is a literal
        lines[number] = "``".join(p if i % 2 else p.replace("|", r"\|") for i, p in enumerate(parts))


def setup(app):
    app.connect("autodoc-process-docstring", keep_bars)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
