"""A teacher's words above an exported page: emphasis, code and links, and nothing else of anybody's markup."""

import pytest

from convviz.cli import main
from convviz.export.page import export_html
from convviz.export.teacher_text import intro_html

LINK = '<a href="https://a.org/x?b=1&amp;c=2" target="_blank" rel="noopener noreferrer">{}</a>'
WRITTEN = {
    "Set *x* to **3**.\n\nThen `a*b*c`.": "<p>Set <em>x</em> to <strong>3</strong>.</p><p>Then <code>a*b*c</code>.</p>",
    "[the *notes*](https://a.org/x?b=1&c=2)": f"<p>{LINK.format('the <em>notes</em>')}</p>",
    "2 * 3 * 4 and grad_input_x": "<p>2 * 3 * 4 and grad_input_x</p>",
    "<img src=x onerror=alert(1)>": "<p>&lt;img src=x onerror=alert(1)&gt;</p>",
    "`<b>`": "<p><code>&lt;b&gt;</code></p>",
    "[x](javascript:alert(1))": "<p>[x](javascript:alert(1))</p>",
    "[x](data:text/html,1) [x](http://a.org)": "<p>[x](data:text/html,1) [x](http://a.org)</p>",
    '[x](https://a.org/" onclick="alert(1))': "<p>[x](https://a.org/&quot; onclick=&quot;alert(1))</p>",
    "[x](https://a.org/'o='1)": f"<p>{LINK.format('x').replace('x?b=1&amp;c=2', '&#x27;o=&#x27;1')}</p>",
    " \n ": "",
}  # fmt: skip


@pytest.mark.parametrize("text", WRITTEN)
def test_a_little_of_markdown_and_no_markup(text):
    assert intro_html(text) == WRITTEN[text]


def test_the_words_stand_above_the_board_and_the_line_for_developers_below(tmp_path):
    path = tmp_path / "page.html"
    assert main(["export", "--intro", "Try *stride* 3.", "--state", "v=2&stride=2", "-o", str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    parts = ("<p>Try <em>stride</em> 3.</p>", 'id="convviz-still"', 'id="convviz-live"', '<footer class="cv-made">')
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "convviz.App(link=&quot;v=2&amp;stride=2&quot;)" in text
    assert '<div class="cv-intro">' not in export_html(None, path).read_text(encoding="utf-8")


def test_a_module_and_a_picture_take_no_words(tmp_path, capsys):
    for form in ("--module", "--svg"):
        assert main(["export", form, "--intro", "x", "-o", str(tmp_path / "file")]) == 1
        assert "--intro" in capsys.readouterr().err
