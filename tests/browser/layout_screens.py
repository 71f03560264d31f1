"""The screens that the layout sweep opens: states of the app, sizes of what it stands in, and languages."""

import functools
from dataclasses import dataclass

import torch
from torch import nn

import convviz
from convviz.facts import facts
from convviz.facts.i18n.current_language import use_locale
from convviz.lessons import lesson, names
from convviz.settings.link import KEYS, LINK_VERSION, write
from convviz.settings.state import Settings

LANGUAGES = ("en", "zh-Hans", "zh-Hant")


@dataclass(frozen=True)
class Size:
    """What a visitor has: a window, an element of somebody's page in it, or a cell of a notebook."""

    name: str
    width: int
    height: int
    touch: bool = False
    element: int = 0  # its width
    notebook: tuple[int, int] | None = None  # what JupyterLab, with its files beside it, shows of the notebook


SIZES = (
    Size("1920x1080", 1920, 1080),
    Size("1440x900", 1440, 900),
    Size("1366x768", 1366, 768),
    Size("1280x720", 1280, 720),
    Size("683x384 zoomed", 683, 384),  # 1366 x 768 at 200 %
    Size("notebook", 1440, 900, notebook=(1008, 779)),
    Size("element 760", 1000, 900, element=760),
    Size("element 560", 1000, 900, element=560),
    Size("360x740", 360, 740, touch=True),
    Size("375x667", 375, 667, touch=True),
    Size("390x664", 390, 664, touch=True),
    Size("390x844", 390, 844, touch=True),
    Size("844x390", 844, 390, touch=True),
)
DONE_AT = ("1366x768", "1280x720", "notebook", "element 560", "375x667", "844x390")


@dataclass(frozen=True)
class State:
    """One state: a link, or a step of a lesson; `done` is the step once all its tasks are done."""

    name: str
    link: str = ""
    lesson: str = ""
    step: int = 0  # one more than there are: what stands there once it has ended
    done: bool = False
    watched: bool = False  # the arrival was watched: its because stands in the band
    introduction: str = ""  # what `explain` says above the board
    long: bool = False  # its words are: it is looked at in all languages

    def is_seen_at(self, size):
        """Return whether the sweep opens it there: with its tasks done, a step is as high as it gets."""
        return not (self.done and size.name not in DONE_AT) and not (size.element and self.has_tabs)

    @property
    def has_tabs(self):
        """A module for other pages leaves these lessons out."""
        return bool(self.lesson) and any(step.get("tab") for step in lesson(self.lesson)["steps"])


LINKS = {
    "first picture": "v=3",
    "v=1": "v=1",
    **{f"kernel {size}": f"v=2&kernel={size}&size=12" for size in (1, 2, 4, 5, 6, 7)},
    "kernel 1x4": "v=2&kernel=1x4&size=6",
    "kernel 1x4 of 1x4": "v=2&kernel=1x4&size=1x4",
    "kernel 5x2": "v=2&kernel=5x2&size=7",
    **{f"size {size}": f"v=2&size={size}" for size in (3, 4, 6, 8, 10, 12, 14, 16)},
    "size 12, stride 3": "v=2&size=12&stride=3",
    "padding 2": "v=2&padding=2&size=6",
    "stride and padding": "v=2&stride=2&size=8&padding=1",
    "remainder": "v=2&stride=3&size=9&padding=1&grad=ones",
    "dilation 2": "v=2&dilation=2&size=8",
    "sobel": "v=2&input=digit&size=8&weight=sobel_x&grad=ones",
    "channels": "v=2&in_channels=3&out_channels=2&weight=random&grad=random",
    "channels and batch": "v=2&in_channels=2&out_channels=4&batch=2&weight=random&grad=ones&size=6",
    "groups": "v=2&in_channels=4&out_channels=4&groups=2&view=window&bias=1,2,3,4&weight=random",
    "bias": "v=2&bias=1&grad=ones",
    "reflect": "v=2&size=4&padding=1&mode=reflect&grad=ones",
    "replicate": "v=2&padding=2&mode=replicate&view=window&stride=2",
    "circular": "v=2&padding=1&mode=circular&view=stamps",
    "crowded": "v=2&padding=1&mode=reflect&view=window&in_channels=2&out_channels=2&batch=2&stride=2",
    "half squared error": "v=2&loss=half_squared_error&target=random&input=random&weight=random",
    "cross-entropy": "v=2&loss=cross_entropy&target=one_hot&input=random&weight=random",
    "mean": "v=2&loss=mean&size=6",
    "transposed": "v=2&transposed=1&stride=2&size=4",
    "transposed, padded": "v=2&transposed=1&stride=2&padding=1&size=5&grad=ones",
    "own numbers": "v=2&size=4&input=random&weight=random&grad=random&seed=3",
    "broken": "v=2&broken=I01",
    "broken, stride 2": "v=2&broken=I07&stride=2&size=7",
    "negative": f"v=2&size=8&padding=2&weight=values:1x1x3x3:{','.join(['-9'] * 9)}&grad=ones",
    "mistakes": "v=2&tab=mistakes",
    "a network": "v=2&tab=network",
}
LONG = ("first picture", "stride and padding", "remainder", "groups", "reflect", "half squared error", "transposed",
        "broken", "crowded", "mistakes")  # fmt: skip

# What a new visitor sees once the 1 has walked.
WATCHED = {
    "arrived": "v=3",
    "arrived, kernel 2": "v=2&kernel=2&size=3",
    "arrived, long numbers": "v=2&weight=random&seed=3",
}

# What an engineer opens in a notebook: layers of a model of their own.
LAYERS = {
    "explain a first layer": (lambda: nn.Conv2d(1, 4, 3, stride=2, padding=1), (2, 1, 12, 12)),
    "explain a pointwise layer": (lambda: nn.Conv2d(4, 6, 1), (1, 4, 6, 6)),
    "explain a depthwise layer": (lambda: nn.Conv2d(4, 4, 3, padding=1, groups=4), (1, 4, 7, 7)),
    "explain a layer of 5 x 5": (lambda: nn.Conv2d(3, 2, 5, padding=2, padding_mode="reflect"), (1, 3, 10, 10)),
    "explain a transposed layer": (lambda: nn.ConvTranspose2d(2, 3, 4, stride=2, padding=1), (1, 2, 5, 5)),
}


@functools.cache
def explained(name, language):
    """Return the link and the introduction of a layer; links of visitors are shorter, and the page reads this."""
    make, shape = LAYERS[name]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module, x = make(), torch.randn(shape)
    with use_locale(language):
        app = convviz.explain(module, x)
        introduction, settings = app.trait_values()["_introduction"], Settings.from_dict(app.state())
        app.close()
    base = Settings.first_picture()
    values = {name: [getattr(each.spec if key.spec else each, key.name) for each in (settings, base)]
              for name, key in KEYS.items()}  # fmt: skip
    parts = [f"{name}={write(KEYS[name], own)}" for name, (own, usual) in values.items() if own != usual]
    return "&".join([f"v={LINK_VERSION}", *parts]), introduction


def states(language="en", done=True):
    """Return all states: every step of every lesson, with its tasks done too, and the links."""
    found = [State(name, link, long=name in LONG) for name, link in LINKS.items()]
    for name, link in WATCHED.items():
        found.append(State(name, link, watched=True, long=True))
    for name in LAYERS:
        link, introduction = explained(name, language)
        found.append(State(name, link, introduction=introduction, long=True))
    for name in names():
        steps = lesson(name)["steps"]
        letters = [len(facts(f"words/guided/{name}")[step["words"]]) for step in steps]
        for number, step in enumerate(steps, 1):
            long = letters[number - 1] == max(letters)
            found.append(State(f"lesson {name} {number}", lesson=name, step=number, long=long))
            if done and ("do" in step or "question" in step):
                found.append(State(f"lesson {name} {number} done", lesson=name, step=number, done=True))
        found.append(State(f"lesson {name} ended", lesson=name, step=len(steps) + 1, long=name == names()[0]))
    return found
