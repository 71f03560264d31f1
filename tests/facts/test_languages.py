"""Languages: catalogues that are whole, whose language is spoken where, and what somebody gets who asks for another."""

import re
import unittest.mock

import pytest
import torch
from traitlets import TraitError

import convviz
from convviz.app.script_carrier_widget import Script
from convviz.cases.battery import battery, make_case
from convviz.cases.random_cases import named
from convviz.cases.tasks import TASKS
from convviz.check.calling import open_student
from convviz.export.page import export_html, page_bytes
from convviz.facts.i18n import current_language
from convviz.facts.i18n.choose_language import chosen, own_names
from convviz.facts.i18n.current_language import language, languages, match_locale, negotiate_locale, use_locale
from convviz.facts.i18n.read_po import plural_forms
from convviz.facts.i18n.translatable_texts import all_texts
from convviz.facts.i18n.update_catalogues import faults, renewed
from convviz.facts.words import sentences
from convviz.features.graph.inside_convolution import Operation, inside
from convviz.geometry.spec import ConvSpec
from convviz.lessons import names
from convviz.web.widget_assets import asking_script, tab_script

OTHERS = languages()[1:]
HAN = re.compile(r"[\u4e00-\u9fff]")
say, say_app = sentences("rules"), sentences("app")
TOP = "words/rules:side.top"


# -- the catalogues


@pytest.mark.parametrize("tag", OTHERS)
def test_a_catalogue_says_every_sentence_with_its_arguments_and_marks_and_none_that_is_gone(tag):
    found = list(faults(tag))
    assert found == [], (
        "python -m convviz.facts.i18n.update_catalogues brings the catalogues up to date; then translate what it lists"
    )


@pytest.mark.parametrize("tag", OTHERS)
def test_a_catalogue_is_as_the_command_writes_it(tag):
    before = current_language.FOLDER.joinpath(f"{tag}.po").read_text(encoding="utf-8")
    assert renewed(tag, before) == (before, []), "python -m convviz.facts.i18n.update_catalogues"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Another folder of catalogues, for tests that write some."""
    monkeypatch.setattr(current_language, "FOLDER", tmp_path)
    return tmp_path


def write(folder, tag, **given):
    """Write a catalogue that says all in English but what is given, each with its forms."""
    texts = {context: [text] if isinstance(text, str) else [*text.values()] for context, text in all_texts().items()}
    text, _ = renewed(tag, "", texts | given)
    folder.joinpath(f"{tag}.po").write_text(text, encoding="utf-8")
    return text


def faults_of(tag):
    """Return what is wrong with a catalogue, without its name."""
    return [found.removeprefix(f"{tag}: ") for found in faults(tag)]


def test_a_catalogue_that_lacks_a_sentence_is_reported_and_english_is_said_there(folder):
    folder.joinpath("fr-BE.po").write_text(renewed("fr-BE", "")[0], encoding="utf-8")
    assert len(faults_of("fr-BE")) == len(all_texts())
    assert f"{TOP} is not translated: 'top'" in faults_of("fr-BE")
    with use_locale("fr-BE"):
        assert say("side.top") == "top"
        assert say("same.odd", count=1, axis="a", side="b").startswith("padding='same' adds 1 cell along")


def test_a_text_that_changed_is_fuzzy_and_one_that_is_gone_goes(folder):
    old = write(folder, "fr-CA", **{TOP: ["haut"]}).replace(
        'msgid "top"\nmsgstr "haut"', 'msgid "upper"\nmsgstr "haut"'
    )
    old += '\nmsgctxt "words/rules:nothing"\nmsgid "nothing"\nmsgstr "rien"\n'
    new, gone = renewed("fr-CA", old)
    assert gone == ["words/rules:nothing"]
    assert f'#, fuzzy\n#| msgid "upper"\nmsgctxt "{TOP}"\nmsgid "top"\nmsgstr "haut"\n' in new
    folder.joinpath("fr-CA.po").write_text(new, encoding="utf-8")
    assert [found.partition(" was ")[0] for found in faults_of("fr-CA")] == [TOP]
    with use_locale("fr-CA"):
        assert say("side.top") == "top", "nobody has looked at it yet"


def test_arguments_marks_and_spaces_are_compared(folder):
    given = {TOP: ["`haut` "], "words/rules:list.and": ["{these} et {autres}"]}
    write(folder, "fr-CH", **given)
    assert faults_of("fr-CH") == [
        f"{TOP} has 2 times '`', the English text 0 times",
        f"{TOP} begins or ends with a space where the English text does not, or the other way round",
        "words/rules:list.and has other arguments: ['autres', 'these'] for ['last', 'these']",
    ]


def test_a_language_has_the_forms_of_its_own(folder):
    polish = "(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2)"
    assert plural_forms("pl", polish) == {"one": 0, "few": 1, "many": 2, "other": 2}
    assert plural_forms("zh-Hans", "0") == {"other": 0}
    write(folder, "pl", **{"words/rules:same.odd": ["{count} a", "{count} b", "{count} c"]})
    with use_locale("pl"):
        said = [say("same.odd", count=count, axis="", side="") for count in (1, 2, 5, 22)]
    assert said == ["1 a", "2 b", "5 c", "22 b"]


# -- who gets which


@pytest.mark.parametrize(
    ("wanted", "tag"),
    [
        *[(wanted, "zh-Hans") for wanted in ("zh", "zh-CN", "zh_SG", "ZH-hans", "zh-Hans-TW")],
        *[(wanted, "zh-Hant") for wanted in ("zh-TW", "zh-HK", "zh-MO", "zh_hant", "zh-Hant-CN")],
        *[(wanted, "en") for wanted in ("en", "en-GB", "EN_us")],
        *[(wanted, None) for wanted in ("de", "", "*", "z" * 99, "../en", None, 7, ["en"])],
    ],
)
def test_who_asks_for_a_language_gets_that_of_its_script(wanted, tag):
    assert match_locale(wanted) == tag


@pytest.mark.parametrize(
    ("header", "tag"),
    [
        ("zh-TW,zh;q=0.9,en;q=0.8", "zh-Hant"),
        ("de, en;q=0.5, zh-CN;q=0.7", "zh-Hans"),
        ("fr-FR,fr", None),
        ("zh;q=0,en", "en"),
        ("zh;q=much,;;,=", None),
        ("", None),
    ],
)
def test_a_browser_gets_the_first_that_there_is(header, tag):
    assert negotiate_locale(header) == tag


def test_an_unknown_language_is_english_and_said_in_one_sentence(tmp_path):
    found = (
        "The language 'xx' is not available, so this is English; available: en (English), zh-Hans (简体中文), "
        "zh-Hant (繁體中文)."
    )
    assert chosen("xx") == ("en", found)
    app = convviz.App(lang="xx")
    assert app._notice == (found, False)
    app.close()
    with pytest.warns(UserWarning, match=re.escape(found)) as warned:
        path = export_html(None, tmp_path / "page.html", lang="xx")
    assert warned[0].filename == __file__
    assert '<html lang="en"' in path.read_text(encoding="utf-8")


# -- what is said where


@pytest.mark.parametrize("tag", OTHERS)
def test_a_page_speaks_its_language_from_the_first_byte(tag):
    page = page_bytes(None, lang=tag, lesson=names()[0]).decode()
    assert f'<html lang="{tag}"' in page
    title = re.search("<title>(.*)</title>", page)[1]
    with use_locale(tag):
        assert title == say_app("page.title")
        assert say_app("page.made") in page
    assert HAN.search(title)
    assert language() == "en", "and nobody else does"


def test_scripts_without_words_are_the_same_in_every_language():
    before = asking_script()
    assert "facts_" not in before
    with use_locale(OTHERS[0]):
        assert asking_script() == before
        found = tab_script("linear")
    assert HAN.search(found)
    assert not HAN.search(tab_script("linear"))


def test_apps_of_one_kernel_speak_each_its_own_and_python_s_errors_are_english():
    apps = {tag: convviz.App(lang=tag) for tag in languages()}
    for _ in range(2):
        for tag, app in apps.items():
            app._receive(None, {"type": "nothing"}, [])
            with use_locale(tag):
                known = ", ".join(app._messages._answers)
                assert app._notice[0] == say_app("message.type", known=known, got="'nothing'")
            with pytest.raises(TraitError, match="stride is a whole number"):
                app.stride = 0
    assert len({app._carrier.key for app in apps.values()}) == len(apps), "a script for each language"
    again = convviz.App(lang="zh-CN")
    assert again._carrier is apps["zh-Hans"]._carrier
    for app in (again, *apps.values()):
        app.close()


def drawn(app, tab):
    """Return what a tab draws, as text, asked for as a page does."""
    sent = []
    with unittest.mock.patch.object(app, "send", lambda message, buffers=None: sent.append(message)):
        app._receive(None, {"type": "tab", "id": 1, "page": "one", "tab": tab, "settings": {}, "choices": {}}, [])
    return str(sent[-1]["data"])


def test_a_page_sends_its_kernel_which_language_it_speaks_and_a_stranger_is_offered_what_there_is():
    app = convviz.App(state={"tab": "graph"})
    assert not HAN.search(drawn(app, "graph"))
    app._receive(None, {"type": "language", "language": "zh-TW"}, [])
    assert HAN.search(drawn(app, "graph")), "what is open is asked for anew"
    for wrong in ("xx", 5, None, {"a": 1}, "x" * 10_000):
        app._receive(None, {"type": "language", "language": wrong}, [])
        sentence, failed = app._notice
        assert failed
        assert sentence.endswith(f"{wrong!r:.40}")
        assert "en, zh-Hans, zh-Hant" in sentence
        assert HAN.search(sentence), "it speaks as before"
    app.close()


def test_what_python_sets_and_what_is_saved_is_in_the_app_s_language():
    app, sent = convviz.App(lang="zh-Hans"), []
    assert HAN.search(drawn(app, "graph"))
    app.send = lambda message, buffers=None: sent.append((message, buffers))
    app._receive(None, {"type": "page", "id": 1, "page": "one", "settings": {}}, [])
    ((message, (page,)),) = [each for each in sent if each[0]["type"] == "page"]
    assert message["name"] == "convolution.html"
    assert page.startswith(b'<!doctype html>\n<html lang="zh-Hans"')
    app.close()


def test_another_language_brings_its_script_and_english_readers_get_none(monkeypatch):
    monkeypatch.setattr(Script, "_shared", {})  # an open app of another test would hold the English one
    app = convviz.lesson("stride")
    english = app._carrier
    assert not any(HAN.search(str(value)) for value in (english._esm, app.get_state(), english.get_state()))
    assert (app._facts["languages"], app._facts["chosen"]) == (languages(), False)
    assert app._facts["script"] == english.key
    app.introduce(lambda: language())
    for wanted, tag in (("zh-TW", "zh-Hant"), ("zh_CN", "zh-Hans"), ("zh-Hans", "zh-Hans"), ("en", "en")):
        app._receive(None, {"type": "language", "language": wanted}, [])
        assert (app._facts["language"], app._facts["script"]) == (tag, app._carrier.key)
        assert app._facts["chosen"], "an other page that looks at it stays in its language"
        assert bool(HAN.search(app._carrier._esm)) == bool(HAN.search(str(app._lesson["bundle"]))) == (tag != "en")
        assert app._introduction == tag
    assert english.comm is None, "its last app has let go of it"
    app.close()
    assert app._carrier.comm is None
    app = convviz.App(lang="en")
    assert app._facts["chosen"], "who wrote it wins over the browser"
    app.close()


@pytest.mark.parametrize(("tag", "words"), [("zh-Hans", ["步幅 2", "膨胀 2"]), ("zh-Hant", ["步幅 2", "擴張 2"])])
def test_what_a_box_of_the_graph_says_of_its_steps_is_in_the_language(tag, words):
    for transposed, call in ((False, torch.nn.functional.conv2d), (True, torch.nn.functional.conv_transpose2d)):
        tensors = [torch.ones(1, 2, 7, 7, requires_grad=True), torch.ones(2, 2, 3, 3, requires_grad=True)]
        graph = convviz.graph(call(*tensors, stride=2, dilation=2))
        with use_locale(tag):
            (branches,) = [inside(graph, node.id).branches for node in graph.nodes if node.spec is not None]
        steps = [step for branch in branches for row in branch.rows for step in row if isinstance(step, Operation)]
        said = " ".join(f"{step.words} {step.note}" for step in steps)
        assert not re.search(r"\b(stride|dilation) ", said), (transposed, said)
        assert all(word in said for word in words), (transposed, said)


@pytest.mark.parametrize(("tag", "words"), [("zh-Hans", "填充 1、膨胀 2、3 组"), ("zh-Hant", "填補 1、擴張 2、3 組")])
def test_a_setting_is_a_list_in_the_language_and_a_tuple_of_code_is_not(tag, words):
    spec = ConvSpec((8, 6), 3, 6, 3, 2, 1, 2, 3, batch=2)
    with use_locale(tag):
        assert named(TASKS["conv2d_input"], make_case("", spec, 0)).name.endswith(words)

        def backward(dout, cache):
            x, w, _b, given = cache
            steps = given["stride"], given["pad"]
            to_input = torch.nn.grad.conv2d_input(x.shape, w, dout, *steps)
            return to_input, torch.nn.grad.conv2d_weight(x, w.shape, dout, *steps), dout.sum((0, 2, 3))

        assumed = " ".join(open_student(backward, TASKS["conv2d_backward"], battery("all", 0)).assumed)
    assert re.search(r"\([a-z_]+(, [a-z_]+)+\)", assumed), assumed


def test_every_language_is_called_by_its_own_name():
    assert own_names() == {"en": "English", "zh-Hans": "简体中文", "zh-Hant": "繁體中文"}
