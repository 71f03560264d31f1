"""Pictures of states, drawn at each build by what the app and `export_picture` draw with, so they are always true.

`{picture} LINK` with `:equation:`, `:panel:` and `:step:` as `export_picture` takes them, or `:graph:` for the autograd
graph of the state. Its content is the caption.
"""

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from convviz.export.picture import picture_bytes
from convviz.features.graph.autograd_graph_of_app import graph_of_stages
from convviz.settings.compute import compute
from convviz.settings.link import from_link


class Picture(SphinxDirective):
    """A picture of a state, in the colours of the page; what is given is its link."""

    required_arguments = 1
    has_content = True
    option_spec = {  # noqa: RUF012
        "equation": directives.unchanged,
        "panel": directives.unchanged,
        "step": directives.nonnegative_int,
        "graph": directives.flag,
    }

    def run(self):
        settings, notices = from_link(self.arguments[0])
        if notices:
            raise self.error(" ".join(notices))
        drawn = "".join(f'<div class="only-{theme}">{self.draw(settings, theme)}</div>' for theme in ("light", "dark"))
        return [
            nodes.raw("", f'<figure class="picture" tabindex="0">{drawn}<figcaption>', format="html"),
            *self.parse_content_to_nodes(),
            nodes.raw("", "</figcaption></figure>", format="html"),
        ]

    def draw(self, settings, theme):
        if "graph" in self.options:
            return graph_of_stages(compute(settings)).to_svg(theme=theme)
        return picture_bytes(settings.to_dict(), "svg", theme=theme, **self.options).decode()


def setup(app):
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
