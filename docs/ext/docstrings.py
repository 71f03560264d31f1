"""Reads our docstrings as they are meant: |w| is an absolute value, which reStructuredText takes for a substitution.

`traits` lists the traits of a class, with what its docstring says of each.
"""

import importlib
import inspect
import re

from sphinx.util.docutils import SphinxDirective
from sphinx.util.inspect import stringify_signature

# One entry of a docstring's attributes, their white space joined: names, a colon, words.
ATTRIBUTES = re.compile(r"((?:\w+, )*\w+): (.*?)(?= (?:\w+, )*\w+: |$)")


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


class Traits(SphinxDirective):
    """The traits of a class as a table, from its docstring; a trait that this leaves out is an error."""

    required_arguments = 1

    def run(self):
        module, _, name = self.arguments[0].rpartition(".")
        owner = getattr(importlib.import_module(module), name)
        words, _, attributes = inspect.getdoc(owner).partition("Attributes:")
        rows = [(names.split(", "), text) for names, text in ATTRIBUTES.findall(" ".join(attributes.split()))]
        documented = [name for names, _ in rows for name in names]
        there = [name for name in owner.class_own_traits() if not name.startswith("_")]
        if sorted(documented) != sorted(there):
            missing = ", ".join(sorted({*documented} ^ {*there}))
            raise self.error(f"{name} and its docstring name the same traits: got one of them alone for {missing}")
        table = [f"* - {', '.join(f'``{name}``' for name in names)}\n     - {text}" for names, text in rows]
        lines = [words, ".. list-table::", "   :header-rows: 1", "", "   * - Trait\n     - Value"]
        return self.parse_text_to_nodes("\n".join([*lines, *(f"   {row}" for row in table)]))


def setup(app):
    app.add_directive("traits", Traits)
    app.connect("autodoc-process-signature", show_arguments)
    app.connect("autodoc-process-docstring", keep_bars)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
