"""Links: the same settings again, for people to read, and no text does worse than a sentence."""

import dataclasses
import json
import re
import struct
from html.parser import HTMLParser

import hypothesis
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import convviz
from convviz.app.session import Session
from convviz.cli import main
from convviz.facts.words import sentences
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.settings.as_python import as_python
from convviz.settings.link import KEYS, LIMITS, briefly, from_link, is_link, to_link
from convviz.settings.link_values import read_number, write_number
from convviz.settings.state import CHOICES, Settings
from convviz.settings.tensor_source import Source
from tests.random_links import OLD_LINKS, PIECES, of_old, old_state, random_settings, random_texts, short_links

FIRST = Settings.first_picture()
say = sentences("rules")

# What an address holds as it is, in the part after ? and in the part after #.
AS_IT_IS = re.compile(r"[A-Za-z0-9=&,.:_-]*")


def showable(notices):
    """Return the notices, each of which must be one that can be shown."""
    for notice in notices:
        assert notice == notice.strip()
        assert notice.endswith(".")
        assert len(notice) < 600, notice
    return notices


# There and back.


def test_a_link_brings_back_every_setting():
    count = 0
    for settings in random_settings(1, 800):
        try:
            link = to_link(settings)
        except ValueError as error:
            assert "too many numbers" in str(error)  # noqa: PT017 - the others have to come back
            continue
        count += 1
        assert from_link(link) == (settings, [])
        assert to_link(settings.to_dict()) == link
        assert AS_IT_IS.fullmatch(link), link
        assert len(link) <= LIMITS["characters_written"]
    assert count >= 600


def test_every_setting_but_the_device_has_a_key():
    fields = {field.name for field in dataclasses.fields(Settings)} - {"spec", "device"}
    assert {key.name for key in KEYS.values() if not key.spec} == fields
    assert {key.name for key in KEYS.values() if key.spec} == {field.name for field in dataclasses.fields(ConvSpec)}


def test_the_device_is_left_out():
    assert to_link(Settings(device="cuda")) == "v=1"
    assert to_link(Settings.first_picture(device="cuda")) == "v=3"
    assert from_link("v=1&device=cuda")[0].device == from_link("v=2&device=cuda")[0].device == "cpu"


@pytest.mark.parametrize(
    ("settings", "link"),
    [
        (Settings(), "v=1"),
        (Settings(spec=ConvSpec((8, 6), kernel_size=(3, 2))), "v=1&size=8x6&kernel=3x2&stride=1&padding=0"),
        (Settings(spec=ConvSpec(8, padding=((1, 2), (0, 1)), stride=2)), "v=1&padding=1,2x0,1"),
        (Settings(spec=ConvSpec(8, padding=((1, 2), (1, 2)), stride=2)), "v=1&padding=1,2"),
        (Settings(spec=ConvSpec(8, padding=((1, 1), (0, 2)), stride=2)), "v=1&padding=1x0,2"),
        (
            Settings(spec=ConvSpec(8, 4, 6, padding=1, groups=2, padding_mode="reflect", batch=2, dilation=3)),
            "v=1&stride=1&dilation=3&in_channels=4&out_channels=6&batch=2&groups=2&mode=reflect",
        ),
        (Settings(input=Source("random"), seed=7, dtype="float64"), "v=1&input=random&seed=7&dtype=float64"),
        (Settings(transposed=True, digit=7, loss="sum", tab="code"), "v=1&transposed=1&digit=7&loss=sum&tab=code"),
        (
            Settings(weight=Source("values", (0.1, -2.0, 1e-7, 3e25), (1, 1, 2, 2))),
            "v=1&weight=values:1x1x2x2:0.1,-2,1e-7,3e25",
        ),
        (Settings(bias=Source("values", (0.5, -1.0), (2,))), "v=1&bias=0.5,-1"),
        (
            Settings(loss="weighted_sum", grad=Source("one_hot", (0.0, 0.0, 1.0, 2.0))),
            "v=1&loss=weighted_sum&grad=one_hot:0,0,1,2",
        ),
        (
            Settings(target=Source("ones"), scale="panel", input_view="stamps"),
            "v=1&target=ones&scale=panel&view=stamps",
        ),
        (Settings(theme="dark", link_axes=False), "v=1&link_axes=0&colours=dark"),
        (FIRST, "v=3"),
        (FIRST.replace(spec=ConvSpec(8, kernel_size=(3, 2), stride=2)), "v=3&size=8&kernel=3x2&stride=2"),
        (FIRST.replace(input=Source("digit"), digit=7, weight=Source("box")), "v=3&input=digit&digit=7&weight=box"),
        (FIRST.replace(spec=ConvSpec(5, padding=1), scale="equation"), "v=3&padding=1&scale=equation"),
        (FIRST.replace(input_view="window", grad=Source("ones")), "v=3&grad=ones&view=window"),
        (FIRST.replace(grad=Source("one_hot", (0.0, 0.0, 1.0, 2.0))), "v=3&grad=one_hot:0,0,1,2"),
        (FIRST.replace(transposed=True, theme="dark", tab="code"), "v=3&transposed=1&colours=dark&tab=code"),
        (Settings(weight=Source("counting"), input=Source("whole")), "v=1&input=whole&weight=counting"),
        (Settings(spec=ConvSpec(4, 2, 2, batch=2), plane=Plane(1, 0, 1)), None),
    ],
)
def test_links_are_read_by_people(settings, link):
    written = to_link(settings)
    assert written == (link or "v=1&size=4&stride=1&padding=0&in_channels=2&out_channels=2&batch=2&plane=1,0,1")
    assert from_link(written) == (settings, [])


def test_a_link_is_the_shortest_and_the_newest_of_those_as_long():
    far = Settings(ConvSpec(6, stride=3, padding=2), Source("ramp"), weight=Source("box"), loss="sum")
    far = far.replace(grad=Source("random"))
    keys = "size=6&stride=3&padding=2&input=ramp&weight=box&loss=sum&grad=random"
    for scale, view, link in (
        ("equation", "window", f"v=1&{keys}"),
        ("quantity", "both", f"v=3&{keys}"),
        ("panel", "both", f"v=3&{keys}&scale=panel"),
        ("quantity", "stamps", f"v=3&{keys}&view=stamps"),
        ("quantity", "window", f"v=3&{keys}&view=window"),
    ):
        shown = far.replace(scale=scale, input_view=view)
        assert to_link(shown) == link
        assert from_link(link) == (shown, [])
    # padding=0 (v=3's own) and grad=random say as much in v=1 and v=3 where the size and the view are named
    both = far.replace(spec=ConvSpec(6, stride=3, padding=2), weight=Source("box"))
    assert from_link(to_link(both)) == (both, [])


# Links that went around while there was v=1 alone: what they leave out is a digit, Sobel x, stride 2, padding 1.


def test_links_from_before_there_were_two_versions_open_what_they_opened():
    assert len({link for link, _ in OLD_LINKS}) == len(OLD_LINKS)
    for link, named in OLD_LINKS:
        settings, notices = from_link(link)
        assert notices == [], link
        assert json.loads(json.dumps(of_old(settings.to_dict()))) == old_state(named), link
        assert from_link(to_link(settings)) == (settings, []), link
    keys = {pair.partition("=")[0] for link, _ in OLD_LINKS for pair in link.split("&")}
    assert keys <= {"v", *KEYS}
    assert len(keys) == 27, "every key that there was"


def test_links_of_the_second_version_have_their_1_in_the_middle():
    middle = FIRST.replace(grad=Source("one_hot", (0.0, 0.0, 1.0, 1.0)))
    for link, settings in (
        ("v=2", middle),
        ("v=2&size=8&stride=2", middle.replace(spec=ConvSpec(8, stride=2))),
        ("v=2&padding=1&bias=1", middle.replace(spec=ConvSpec(5, padding=1), bias=Source("values", (1.0,), (1,)))),
    ):
        assert from_link(link) == (settings, [])
        assert to_link(settings) == link, "which is shorter than that of the newest version"


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:8866/?v=1&size=5x6&padding=1,2",
        "http://localhost:8866/?v=1&size=5x6&padding=1,2#a-heading",
        "https://example.org/page.html?size=64#v=1&size=5x6&padding=1,2",
        "?size=5x6&padding=1,2",
        "#size=5x6&padding=1,2",
        "size=5x6&padding=1%2C2",
        "size=5x6&amp;padding=1,2",
        " v=1&size=5x6\n&padding=1,\n2\n",
    ],
)
def test_a_link_in_an_address_or_out_of_a_mail(text):
    assert from_link(text) == (Settings(spec=ConvSpec((5, 6), stride=2, padding=((1, 2), (1, 2)))), [])


@pytest.mark.parametrize("text", ["", "http://localhost:8866/", "?", "#", "&&&", "v=3", "#v=3"])
def test_no_link_is_the_first_picture(text):
    assert from_link(text) == (FIRST, [])


def test_what_is_of_others_is_no_link_and_the_first_picture():
    settings, notices = from_link("http://localhost:8866/?token=abc")
    assert settings == FIRST
    assert notices == ["The link has keys that this convviz does not know and leaves out: token."]


# Numbers.


@given(st.floats(allow_nan=False, allow_infinity=False, max_value=1e300, min_value=-1e300, exclude_max=True))
@example(5e-324)
@example(1e21)
@example(123456789012345680000.0)
@example(1e-6)
@example(1e-7)
@example(-0.0)
def test_decimals_bring_back_every_bit(value):
    if abs(value) < 1e300:
        text = write_number(value)
        assert struct.pack("d", read_number(text)) == struct.pack("d", value + 0.0)
        assert AS_IT_IS.fullmatch(text)


def test_too_many_numbers_for_a_link_say_what_to_do():
    many = Source("values", (0.12345,) * 4096, (1, 1, 64, 64))
    message = "too many numbers for a link, which has up to 4000 characters: use 'Copy as Python', or keep the dict"
    with pytest.raises(ValueError, match=message):
        to_link(Settings(spec=ConvSpec(64), input=many))


# What is wrong is said, and all else holds.


UNKNOWN_VALUES = """plane=1; weight=values:1x1x2x2:1,2,3; weight=values:1,2; weight=sobel_x:1; weight=image:1x1:1;
input=image:1x1x1x1:1; grad=one_hot:0,0,1; grad=one_hot:0,0,1,0.5; bias=1e300; seed=2147483648; size=65; padding=1x2x3;
padding=1,2,3; size=-1; size=٣""".replace("\n", " ").split("; ")
WRONG = [  # a link, the one that is left of it, and what is said of the rest: a sentence's id and values
    *((text, "v=1", []) for text in UNKNOWN_VALUES),
    ("v=3&stride=abc", "v=3", []),
    ("stride=abc&loss=sum", "v=1&loss=sum", [("link.pair", {"name": "stride", "low": 1, "high": 64, "value": "abc"})]),
    ("digit=12&tab=code", "v=1&tab=code", [("link.whole", {"name": "digit", "low": 0, "high": 9, "value": "12"})]),
    ("loss=huber&digit=4", "v=1&digit=4", [
        ("link.word", {"name": "loss", "words": ", ".join(CHOICES["loss"]), "value": "huber"})]),
    ("transposed=yes", "v=1", [("link.flag", {"name": "transposed", "value": "yes"})]),
    ("bias=0.5,", "v=1", [("link.bias", {"name": "bias", "value": "0.5,"})]),
    ("foo=1&size=5&bar&foo=2&a&b&c&d", "v=1&size=5", [
        ("link.unknown_more", {"names": "foo, bar, a, b, c", "more": 1})]),
    ("size=5&size=6", "v=1&size=5", [("link.repeated", {"name": "size", "times": 2})]),
    ("v=4&size=6&shape=round", "v=3&size=6", [
        ("link.newer", {"version": 4, "own": 3}), ("link.unknown", {"names": "shape"})]),
    ("v=01&size=6", "v=3&size=6", [("link.version", {"own": 3, "value": "01"})]),
    ("v=one&size=6", "v=3&size=6", [("link.version", {"own": 3, "value": "one"})]),
    ("v=3&kernel=6&loss=sum", "v=3&loss=sum", [("kernel=6", lambda: ConvSpec(5, kernel_size=6))]),
    ("kernel=5&size=2&loss=sum", "v=1&size=2&loss=sum", [
        ("kernel=5", lambda: ConvSpec(2, kernel_size=5, stride=2, padding=1))]),
    ("transposed=1&mode=reflect", "v=1&transposed=1", [
        ("mode=reflect", lambda: Settings(spec=ConvSpec(8, padding_mode="reflect"), transposed=True))]),
    ("groups=3&in_channels=4", "v=1&in_channels=4", [("groups=3", lambda: ConvSpec(8, 4, groups=3))]),
    ("groups=3&mode=reflect&size=1", "v=1&size=1", [
        ("mode=reflect and groups=3", lambda: ConvSpec(1, kernel_size=1, groups=3))]),
    ("size=64&kernel=11&in_channels=8&out_channels=8&batch=8&stride=1&padding=16", None, []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "link", "expected"), WRONG)
def test_what_is_wrong_is_said_and_all_else_holds(text, link, expected):
    settings, spoken = from_link(text)
    showable(spoken)
    assert spoken
    for notice, (id, values) in zip(spoken, expected, strict=bool(expected)):
        if callable(values):  # what the rule itself says of it
            with pytest.raises(ValueError, match=r".") as broken:
                values()
            values, id = {"count": 1 + id.count(" and "), "keys": id, "why": str(broken.value)}, "link.left_out"
        assert notice == say(id, **values)
    assert link is None or to_link(settings) == link


def test_a_link_that_is_far_too_long_is_left_out():
    settings, notices = from_link("v=1&size=5&" * LIMITS["characters_read"])
    assert settings == FIRST
    assert notices == [f"A link has up to {LIMITS['characters_read']} characters: this one is longer and is left out."]


def test_a_long_value_is_cut_in_its_sentence():
    _, (notice,) = from_link(f"loss={'a' * 9000}")
    assert f"got '{'a' * 40}';" in notice


def test_many_sentences_are_counted():
    notices = from_link("&".join(f"{key}=!" for key in KEYS))[1]
    assert len(notices) == len(KEYS)
    spoken = briefly(notices)
    most = LIMITS["sentences_shown"]
    assert spoken.startswith(" ".join(notices[:most]))
    assert spoken.endswith(f" And {len(KEYS) - most} more of this kind.")
    assert briefly(notices[:most]) == " ".join(notices[:most])


# Any text.

# On a busy machine a call that takes 1 ms may take 300.
patiently = hypothesis.settings(deadline=None)


def check(text):
    """Read any text: the result is whole, its link leads back to it, and what was left out is said."""
    settings, notices = from_link(text)
    showable(notices)
    assert Settings.from_dict(settings.to_dict()) == settings
    assert settings.device == "cpu"
    try:
        link = to_link(settings)
    except ValueError:
        return
    assert from_link(link) == (settings, [])


@patiently
@given(st.lists(st.sampled_from([*PIECES, *(f"{key}=" for key in KEYS)]), max_size=12))
def test_any_pieces_of_links_are_read(pieces):
    check("".join(pieces))


def test_damaged_links_are_read():
    for text in random_texts(5, 1200):
        check(text)


# In the app.


def test_the_app_writes_and_opens_links():
    with_kernel = convviz.App(ConvSpec((5, 4), kernel_size=2), weight=[[1, 2], [3, -0.5]], loss="sum")
    link = with_kernel.link()
    assert link == "v=3&size=5x4&kernel=2&weight=values:1x1x2x2:1,2,3,-0.5&loss=sum"
    for text in (link, f"http://localhost:8866/?{link}"):
        again = convviz.App(link=text, device="cpu")
        assert again.state() == with_kernel.state()
        assert again.session.notice == ("", False)
        again.close()
    with_kernel.close()


def test_the_app_says_what_a_link_could_not():
    app = convviz.App(link="v=1&stride=0&size=5")
    sentence, failed = app._notice
    assert sentence.startswith("stride is a whole number from 1 to 64")
    assert not failed, "all else holds"
    assert app.link() == "v=1&size=5"
    app.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"link": "v=1", "state": {}}, "a link holds all but the device: got other arguments beside link="),
        ({"link": "v=1", "loss": "sum"}, "a link holds all but the device"),
        ({"link": 5}, r"a link is the text that App.link\(\) returns: got int"),
        ({"link": "v=1", "device": "tpu"}, "device is one of cpu"),
    ],
)
def test_arguments_that_contradict_a_link(arguments, message):
    with pytest.raises(ValueError, match=message):
        convviz.App(**arguments)


def test_every_random_link_is_computed_or_refused_for_numbers_that_are_too_large():
    session, refused = Session(), 0
    large = "v=2&weight=values:1x1x3x3:" + ",".join(9 * ["1e38"])
    for text in [*short_links(13, 40), *random_texts(13, 60), large]:
        there, _ = from_link(text)
        if there.spec.batch * there.spec.input_size[0] > 100:
            continue  # possible, but a test has no time for it
        before = session.settings
        if sentence := session.attempt(lambda there=there: session.apply(there)):
            assert "every number on the board must be finite" in sentence, text
            refused += 1
        assert session.settings == (before if sentence else there), text
    assert 0 < refused < 20


# On the command line.


class Data(HTMLParser):
    """The JSON that an exported page carries."""

    def __init__(self, path):
        super().__init__()
        self.found, self._inside = "", False
        self.feed(path.read_text(encoding="utf-8"))
        self.state = json.loads(self.found)["state"]

    def handle_starttag(self, tag, attrs):
        self._inside = dict(attrs).get("id") == "convviz-data"

    def handle_endtag(self, tag):
        self._inside = False

    def handle_data(self, data):
        self.found += data if self._inside else ""


def in_a_page(settings):
    """Return what a page has of some settings: computed in float64, without a tab beside the board."""
    return json.loads(json.dumps(settings.replace(dtype="float64", tab="").to_dict()))


def test_what_a_link_cannot_say_is_said_and_the_rest_is_written(tmp_path, capsys):
    text = "v=1&size=5&loss=huber&stride=99&colour=red"
    settings, notices = from_link(text)
    assert main(["export", "--state", text, "-o", str(tmp_path / "page.html")]) == 0
    assert capsys.readouterr().err.splitlines() == [f"convviz: {notice}" for notice in notices]
    assert len(notices) == 3
    assert Data(tmp_path / "page.html").state == in_a_page(settings)


LARGE = "v=1&size=64&in_channels=8&out_channels=8&kernel=5&stride=1&padding=2"


@pytest.mark.parametrize("option", [[], ["--svg"]])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("https://host/page.html", "the address https://host/page.html has no link in it, such as #v=2&size=8"),
        ("https://host/page.html?utm=1#a-heading", "has no link in it"),
        ("state.jsn", "state.jsn is neither a link such as 'v=2&size=8' nor a file that can be read: No such file"),
        ("", "neither a link such as"),
        ("a" * 5000, "neither a link such as"),
        ("a\0b", "is not the JSON of a state: embedded null byte"),
        ("{binary}", "is not the JSON of a state: .*codec can't decode"),
        ("{list}", "a state is a dict"),
    ],
)
def test_what_is_no_state_is_one_sentence_and_nothing_is_written(tmp_path, monkeypatch, capsys, text, said, option):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\0")
    (tmp_path / "list").write_text("[1]")
    before = sorted(tmp_path.iterdir())
    assert main(["export", *option, "--state", text.strip("{}"), "-o", "out"]) == 2
    spoken = capsys.readouterr().err
    assert re.match(f"convviz: .*{said}", spoken), spoken
    assert spoken.count("\n") == 1
    assert len(spoken) < 300
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_whose_name_is_a_link_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v=1").write_text('{"digit": 8}', encoding="utf-8")
    assert main(["export", "--state", "v=1", "-o", "page.html"]) == 0
    assert Data(tmp_path / "page.html").state["digit"] == 8


def test_a_text_with_a_key_of_ours_is_a_link():
    for text in ("v=2", "size=8", "https://host/p?a=b&stride=1", "https://host/p?size=1#a-heading", "#loss=x", "size"):
        assert is_link(text), text
    for text in ("", "#", "p.json", "https://host/size=8", "https://host/p#a-heading", "?theme=dark", "__proto__=1"):
        assert not is_link(text), text


# As Python.


def opened_by(code, monkeypatch):
    """Run copied Python; return the App that it made."""
    made = []
    real = convviz.App
    monkeypatch.setattr(convviz, "App", lambda **arguments: made.append(real(**arguments)))
    exec(code, {})
    monkeypatch.undo()
    return made[0]


def test_copied_python_opens_the_same_settings(monkeypatch):
    for settings in random_settings(4, 40):
        app = opened_by(as_python(settings), monkeypatch)
        assert app.session.settings == settings
        app.close()


def test_copied_python_reads_well(monkeypatch):
    assert as_python(FIRST) == "import convviz\n\nconvviz.App()\n"
    assert as_python(Settings()) == 'import convviz\n\nconvviz.App(link="v=1")\n'
    for shown in (FIRST, Settings()):
        app = opened_by(as_python(shown), monkeypatch)
        assert app.session.settings == shown
        app.close()
    strided = FIRST.replace(spec=FIRST.spec.replace(stride=2), device="cuda:1")
    assert as_python(strided) == 'import convviz\n\nconvviz.App(link="v=3&stride=2", device="cuda:1")\n'
    typed = Source("values", tuple(map(float, range(27))), (3, 1, 3, 3))
    settings = Settings(ConvSpec((5, 6), out_channels=3, padding=((1, 2), (1, 2))), weight=typed, transposed=True)
    code = as_python(settings)
    assert code.startswith("import convviz\n\nconvviz.App(\n    state={\n")
    assert '        "spec": {"input_size": [5, 6], "out_channels": 3, "padding": [[1, 2], [1, 2]]},\n' in code
    assert code.endswith('        "transposed": True,\n    }\n)\n')
    many = Settings(spec=ConvSpec(64), input=Source("values", (0.12345, -1.0) * 2048, (1, 1, 64, 64)))
    code = as_python(many)
    assert max(map(len, code.splitlines())) <= 120
    app = opened_by(code, monkeypatch)
    assert app.session.settings == many
    app.close()
