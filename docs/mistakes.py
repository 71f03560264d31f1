"""Writes docs/mistakes.md from the catalogue, ``convviz/facts/mistakes``: python docs/mistakes.py."""

from pathlib import Path

from convviz.check.mistakes import catalogue

PAGE = Path(__file__).with_suffix(".md")
PARTS = {
    "I": "grad_input",
    "W": "grad_weight",
    "B": "grad_bias",
    "F": "The forward pass",
    "Q": "Binary weights",
    "G": "In no formula",
}
HEAD = """<!-- Made by `python docs/mistakes.py` from convviz/facts/mistakes: change it there. -->
# Mistakes in conv2d's backward pass

What `convviz.check` knows by name: {count} mistakes, each with what to change, and why. N input size, K kernel size,
s stride, p padding, d dilation, r remainder (rows at the end that no window reaches).

*Shows at* is the text of a link: give it to `convviz.App(link=...)` or `convviz export --state`, or put it after `#`
in the address of a page. It is a small setting at which the mistake changes what comes out; at the usual ones many do
not. Add `&tab=mistakes&mistake=I10` to open the tab *Mistakes* at a mistake, as the links below do for those in a
gradient. Add `&broken=I01` and the board itself leaves that step out (*Break it*; I01, I07, I10, I16, W02, W06, W07):
whoever opens such a link sees which numbers are wrong, and what is wrong only when they ask. Which mistakes a check of
your own would let pass: `convviz audit` ([graders](graders.md)). Sheets for paper: `convviz exercise --expose I10,I11`.
"""


def page():
    """Return the catalogue as Markdown."""
    parts = [HEAD.format(count=len(catalogue()))]
    for letter, title in PARTS.items():
        parts.append(f"\n## {title}\n\n| | Mistake | What to change | Shows at | Met in |\n|---|---|---|---|---|\n")
        parts += [line(mistake) for id, mistake in catalogue().items() if id[0] == letter]
    return "".join(parts)


def line(mistake):
    setting = f"`{mistake.setting}`" if mistake.setting else ""
    cells = (mistake.id, plain(mistake.title), plain(mistake.fix), setting, ", ".join(mistake.met))
    return f"| {' | '.join(cells)} |\n"


def plain(text):
    """Return words with the signs that Markdown's tables would take for their own made plain."""
    return text.replace("|", "\\|").replace("*", "\\*")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
