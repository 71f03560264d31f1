"""Seeded random settings of every field and random texts that look like links, for both readers of links."""

import random
import string
from collections.abc import Iterator

from convviz.settings.link import KEYS, to_link
from convviz.settings.state import CHOICES, Settings
from tests.states import random_states

PIECES = (
    *("", "x", ",", ":", "-", ".", "=", "&", "%2C", "%", "%zz", "amp;", "#", "?", "é", "🦊", " ", "\n", "0", "1", "9"),
    *("99999999999", "1e5", "1e-5", "1e999", "nan", "Infinity", "0x10", "1_0", "١", "values:", "image:2x2:1,2,3,4"),
    *("one_hot:0,0,1,1", "values:1x1x1x2:1,2", "3x2", "1,2x0,1", "true", "constructor", "__proto__", "toString"),
)
ROUGH = string.ascii_letters + string.digits + "&&&&====,,x:.-_%#?+/ \n\"'<>é"


def random_settings(seed: int, count: int) -> Iterator[Settings]:
    """Yield settings of every kind; all but the device differ from the default somewhere."""
    draw = random.Random(seed)
    for state in random_states(seed, count):
        looks = {name: draw.choice(CHOICES[name]) for name in ("theme", "tab", "dtype")}
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
