"""A teacher's words above the board: a little of Markdown, and no markup of anybody else's."""

import re
from html import escape

# In this order: what is code holds neither links nor emphasis.
INLINE = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|\[(?P<text>[^\]\n]+)\]\((?P<address>https://[^\s()<>\"]+)\)"
    r"|\*\*(?=\S)(?P<strong>.+?)(?<=\S)\*\*"
    r"|\*(?=[^\s*])(?P<em>[^*]+?)(?<=\S)\*",
    re.DOTALL,
)


def intro_html(text: str) -> str:
    """Return words as HTML; all but emphasis, code, links to https and empty lines is shown as it was typed."""
    paragraphs = [part.strip() for part in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n"))]
    return "".join(f"<p>{inline_html(part)}</p>" for part in paragraphs if part)


def inline_html(text: str) -> str:
    """Return the words of one line as HTML."""
    written, end = [], 0
    for found in INLINE.finditer(text):
        written += [escape(text[end : found.start()]), _element(found)]
        end = found.end()
    return "".join([*written, escape(text[end:])])


def _element(found: re.Match[str]) -> str:
    if code := found["code"]:
        return f"<code>{escape(code)}</code>"
    if address := found["address"]:
        # Not in the frame that the page may stand in: there is no way back from there.
        return f'<a href="{escape(address)}" target="_blank" rel="noopener noreferrer">{inline_html(found["text"])}</a>'
    tag = "strong" if found["strong"] else "em"
    return f"<{tag}>{inline_html(found[tag])}</{tag}>"
