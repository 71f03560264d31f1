"""How large and how tidy the source is, beside what it should become; no aim fails a run."""

import json
import re
import subprocess
from pathlib import Path

from benchmarks.figures_and_targets import Figure, table

ROOT = Path(__file__).parents[1]
PART = "the house, counted"
TYPED = ("convviz/web/board/", "convviz/web/tabs/", "convviz/features/")
# {name: (patterns of git's, the most kB)}
SIZES = {
    "Python of the package": (["convviz/*.py"], 1130),
    # share/ is made of web/
    "JavaScript of ours": (["convviz/*.js", ":(exclude)convviz/web/vendor", ":(exclude)convviz/share"], 860),
    "tests, Python and JavaScript": (["tests/*.py", "tests/*.js", "tests/*.mjs"], 1550),
    "benchmarks": (["benchmarks"], 90),
}
FUNCTION = re.compile(
    r"^(?P<margin> *)(?!(?:if|for|while|switch|catch|else|return|try|do)\b)"
    r"(?:.*\bfunction\b.*\{|.*=> \{|(?:(?:static|async|get|set) )*[#\w]+\(.*\) \{)$"
)


def measure(say):
    for name, (patterns, most) in SIZES.items():
        size = sum(len(text.encode()) for text in _texts(*patterns).values()) / 1000
        yield _beside(name, size, "kB", most)
    scripts = _texts(*SIZES["JavaScript of ours"][0])
    lengths = [(count, path, name) for path, text in scripts.items() for count, name in _functions(text)]
    longest, path, name = max(lengths)
    yield _beside("JavaScript functions over 40 lines", sum(n > 40 for n, *_ in lengths), "", 30)
    detail = f"longest {longest}: {path}, {name}"
    yield _beside("JavaScript functions over 100 lines", sum(n > 100 for n, *_ in lengths), "", 0, detail)
    wide = _wide("\n".join(scripts.values()), 110)
    yield _beside("JavaScript lines over 110 columns", wide, "", 0)
    typed = [text for path, text in scripts.items() if path.startswith(TYPED)]
    yield _beside("`any` in board and tabs", sum(len(re.findall(ANY, text)) for text in typed), "", 20)
    biome = json.loads((ROOT / "biome.json").read_text(encoding="utf-8"))
    excepted = [f for each in biome.get("overrides", []) for f in each["includes"]]
    yield _beside("files excepted from a rule of Biome's", len(excepted), "", 0, f"{len(set(excepted))} files")
    words = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    yield _beside("words of CONTRIBUTING", len(words.split()), "", 1100)
    yield _beside("lines of CONTRIBUTING over 100 columns", _wide(words, 100), "", 0)


ANY = r"\{[^{}\n]*\bany\b[^{}\n]*\}(?=[ )]|$)"  # in a JSDoc type


def _beside(name, value, unit, aim, detail=""):
    return Figure(name, value, unit, None, f"aim {aim:,}  {detail}".rstrip())


def _texts(*patterns):
    command = ["git", "ls-files", "-z", "--cached", "--", *patterns]
    paths = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\0")
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in paths if (ROOT / path).is_file()}


def _functions(text):
    """Yield (lines, first line) of each function of a formatted script; a line at its margin closes it."""
    lines = text.splitlines()
    for start, line in enumerate(lines):
        if found := FUNCTION.match(line):
            margin = found["margin"]
            inner = next((n for n, each in enumerate(lines[start + 1 :]) if each.startswith(f"{margin}}}")), 0)
            yield inner + 2, line.strip()[:50]


def _wide(text, columns):
    return sum(len(line) > columns for line in text.splitlines())


if __name__ == "__main__":
    print(table({PART: list(measure(print))}))
