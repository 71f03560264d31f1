from pathlib import Path

import convviz

project = "A course"
extensions = ["myst_nb"]
exclude_patterns = ["_build", "pages"]

# The pages are written at each build and lie beside the course's own.
pages = Path(__file__).parent / "pages"
pages.mkdir(exist_ok=True)
state = "v=2&size=8&stride=2&grad=ones"  # every output gets a gradient, not one alone
convviz.export_html(state, pages / "stride.html", controls=("weight", "stride", "padding"), title="Stride and padding")

html_extra_path = ["pages"]
html_static_path = ["_static"]
html_js_files = ["height.js"]
