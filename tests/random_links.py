"""Seeded random settings of every field, random texts that look like links, and old links, for both readers."""

import random
import string
from collections.abc import Iterator
from typing import Any

from convviz.settings.link import KEYS, to_link
from convviz.settings.state import CHOICES, Settings
from tests.random_states import random_states

PIECES = (
    *("", "x", ",", ":", "-", ".", "=", "&", "%2C", "%", "%zz", "amp;", "#", "?", "é", "🦊", " ", "\n", "0", "1", "9"),
    *("99999999999", "1e5", "1e-5", "1e999", "nan", "Infinity", "0x10", "1_0", "١", "values:", "image:2x2:1,2,3,4"),
    *("one_hot:0,0,1,1", "values:1x1x1x2:1,2", "3x2", "1,2x0,1", "true", "constructor", "__proto__", "toString"),
)
ROUGH = string.ascii_letters + string.digits + "&&&&====,,x:.-_%#?+/ \n\"'<>é"


def _typed(shape: list[int], *values: float) -> dict[str, Any]:
    return {"kind": "values", "values": list(values), "shape": shape}


# Links of v=1, and of before links had a version, that are in mails and courses: each with all that it names, written
# out as App.state() has it. The rest is OLD_STATE. Neither comes from the code or the facts.
OLD_LINKS: list[tuple[str, dict[str, Any]]] = [
    ("v=1", {}),
    ("v=1&size=8x6&kernel=3x2", {"spec": {"input_size": [8, 6], "kernel_size": [3, 2]}}),
    ("v=1&stride=2x1&link_axes=0", {"spec": {"stride": [2, 1]}, "link_axes": False}),
    ("v=1&padding=1,2x0,1", {"spec": {"padding": [[1, 2], [0, 1]]}}),
    ("v=1&padding=1x2", {"spec": {"padding": [[1, 1], [2, 2]]}}),
    ("v=1&dilation=1x3&size=12", {"spec": {"dilation": [1, 3], "input_size": [12, 12]}}),
    ("v=1&in_channels=4&out_channels=2&groups=2", {"spec": {"in_channels": 4, "out_channels": 2, "groups": 2}}),
    ("v=1&out_channels=4&bias=0.5,-1,0,2", {"spec": {"out_channels": 4}, "bias": _typed([4], 0.5, -1, 0, 2)}),
    (
        "v=1&batch=2&in_channels=2&out_channels=2&plane=1,0,1",
        {
            "spec": {"batch": 2, "in_channels": 2, "out_channels": 2},
            "plane": {"sample": 1, "out_channel": 0, "in_channel": 1},
        },
    ),
    ("v=1&mode=circular&padding=2", {"spec": {"padding_mode": "circular", "padding": [[2, 2], [2, 2]]}}),
    ("v=1&mode=replicate&digit=7&loss=sum&tab=code",
     {"spec": {"padding_mode": "replicate"}, "digit": 7, "loss": "sum", "tab": "code"}),
    ("v=1&stride=3&transposed=1&input=random&seed=5",
     {"spec": {"stride": [3, 3]}, "transposed": True, "input": {"kind": "random"}, "seed": 5}),
    ("v=1&input=delta&weight=emboss", {"input": {"kind": "delta"}, "weight": {"kind": "emboss"}}),
    ("v=1&input=random&seed=7&dtype=float64", {"input": {"kind": "random"}, "seed": 7, "dtype": "float64"}),
    ("v=1&size=2&input=values:1x1x2x2:0.5,-1,0,3e25",
     {"spec": {"input_size": [2, 2]}, "input": _typed([1, 1, 2, 2], 0.5, -1, 0, 3e25)}),
    ("v=1&input=image:2x3:0,0.5,1,0.25,1e-7,1",
     {"input": {"kind": "image", "values": [0, 0.5, 1, 0.25, 1e-7, 1], "shape": [2, 3]}}),
    ("v=1&weight=off_centre&padding=0", {"weight": {"kind": "off_centre"}, "spec": {"padding": [[0, 0], [0, 0]]}}),
    ("v=1&kernel=2&weight=values:1x1x2x2:1,2,3,-0.5",
     {"spec": {"kernel_size": [2, 2]}, "weight": _typed([1, 1, 2, 2], 1, 2, 3, -0.5)}),
    ("v=1&loss=cross_entropy", {"loss": "cross_entropy", "target": {"kind": "one_hot"}}),
    ("v=1&loss=cross_entropy&target=one_hot:0,0,1,2",
     {"loss": "cross_entropy", "target": {"kind": "one_hot", "values": [0, 0, 1, 2]}}),
    ("v=1&target=ones&scale=panel&view=stamps",
     {"target": {"kind": "ones"}, "scale": "panel", "input_view": "stamps"}),
    ("v=1&loss=weighted_sum&grad=one_hot:0,0,1,1",
     {"loss": "weighted_sum", "grad": {"kind": "one_hot", "values": [0, 0, 1, 1]}}),
    ("v=1&grad=one_hot", {"grad": {"kind": "one_hot"}}),
    ("v=1&dtype=bfloat16&colours=dark", {"dtype": "bfloat16", "theme": "dark"}),
    ("v=1&colours=light&view=stamps&tab=matrix", {"theme": "light", "input_view": "stamps", "tab": "matrix"}),
    ("size=5x6&padding=1,2", {"spec": {"input_size": [5, 6], "padding": [[1, 2], [1, 2]]}}),
    ("weight=gaussian&size=16&stride=4",
     {"weight": {"kind": "gaussian"}, "spec": {"input_size": [16, 16], "stride": [4, 4]}}),
    (
        "v=1&size=8&kernel=3&stride=2&padding=1&dilation=1&in_channels=1&out_channels=1&batch=1&groups=1&mode=zeros"
        "&transposed=0&input=digit&digit=3&weight=sobel_x&loss=half_squared_error&target=zeros&grad=ones&seed=0"
        "&dtype=float32&plane=0,0,0&link_axes=1&scale=equation&view=window&colours=auto&tab=",
        {},
    ),
]  # fmt: skip
OLD_STATE: dict[str, Any] = {
    "version": 1,
    "spec": {
        "version": 1,
        "input_size": [8, 8],
        "in_channels": 1,
        "out_channels": 1,
        "kernel_size": [3, 3],
        "stride": [2, 2],
        "padding": [[1, 1], [1, 1]],
        "dilation": [1, 1],
        "groups": 1,
        "padding_mode": "zeros",
        "batch": 1,
    },
    "input": {"kind": "digit"},
    "digit": 3,
    "weight": {"kind": "sobel_x"},
    "bias": None,
    "loss": "half_squared_error",
    "target": {"kind": "zeros"},
    "grad": {"kind": "ones"},
    "seed": 0,
    "device": "cpu",
    "dtype": "float32",
    "plane": {"sample": 0, "out_channel": 0, "in_channel": 0},
    "link_axes": True,
    "scale": "equation",
    "input_view": "window",
    "theme": "auto",
    "tab": "",
    "mistake": "I01",
    "broken": "",
    "lr": 0,
    "transposed": False,
}


def of_old(state: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a state that there was then."""
    return {name: state[name] for name in OLD_STATE}


def old_state(named: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a link of v=1 of which is known what it names."""
    return OLD_STATE | named | {"spec": OLD_STATE["spec"] | named.get("spec", {})}


def random_settings(seed: int, count: int) -> Iterator[Settings]:
    """Yield settings of every kind; all but the device differ from the default somewhere."""
    draw = random.Random(seed)
    for state in random_states(seed, count):
        looks = {name: draw.choice(CHOICES[name]) for name in ("theme", "tab", "mistake", "broken", "dtype")}
        if draw.random() < 0.3:  # all digits that a float has, of every size
            values = [draw.uniform(-9, 9) * 10.0 ** draw.randint(-24, 24) for _ in range(4)]
            looks["weight"] = {"kind": "values", "values": values, "shape": [1, 1, 2, 2]}
        yield Settings.from_dict(state | looks)


def short_links(seed: int, count: int) -> Iterator[str]:
    """Yield links of random settings that have one."""
    for settings in random_settings(seed, count):
        try:
            yield to_link(settings)
        except ValueError:  # too many numbers
            continue


def random_texts(seed: int, count: int) -> Iterator[str]:
    """Yield links with something wrong in them, keys with any value, and plain noise."""
    draw = random.Random(seed)
    links = list(short_links(seed, 60))
    for _ in range(count):
        way = draw.randrange(4)
        if way == 0:
            yield _damaged(draw, draw.choice(links))
        elif way == 1:
            yield "&".join(f"{draw.choice((*KEYS, 'v', 'w'))}={_value(draw)}" for _ in range(draw.randint(1, 6)))
        elif way == 2:
            yield _geometry(draw)
        else:
            yield "".join(draw.choice(ROUGH) for _ in range(draw.randint(0, 60)))


def _value(draw: random.Random) -> str:
    return "".join(draw.choice(PIECES) for _ in range(draw.randint(0, 3)))


def _damaged(draw: random.Random, link: str) -> str:
    for _ in range(draw.randint(1, 4)):
        start = draw.randrange(len(link) + 1)
        end = min(len(link), start + draw.choice((0, 1, 1, 9)))
        link = link[:start] + draw.choice(PIECES) + link[end:]
    return link


def _geometry(draw: random.Random) -> str:
    """Every value has its form, but they may not go together."""
    values = {
        "size": draw.choice(("1", "2", "5x3", "8", "64")),
        "kernel": draw.choice(("1", "2x3", "5", "11")),
        "stride": str(draw.randint(1, 64)),
        "padding": draw.choice(("0", "1", "2,0x1,3", "16")),
        "dilation": draw.choice(("1", "2", "16")),
        "in_channels": str(draw.randint(1, 8)),
        "out_channels": str(draw.randint(1, 8)),
        "batch": str(draw.randint(1, 8)),
        "groups": str(draw.randint(1, 4)),
        "mode": draw.choice(("zeros", "reflect", "replicate", "circular")),
        "transposed": draw.choice("01"),
        "plane": f"{draw.randint(0, 9)},{draw.randint(0, 9)},{draw.randint(0, 9)}",
    }
    return "&".join(f"{name}={value}" for name, value in values.items() if draw.random() < 0.7)
