"""What still stands in two languages, counted in lines; and how many lines of Python there are.

A pair counts whole, both files of it. Where only a part of a file has a twin, the definitions that have one are named,
and these alone count. A file that speaks of a file of the other language stands in one of the lists, or the count
refuses: who says something a second time says so, and then it counts.
"""

import ast
import re
import subprocess

from benchmarks.report import Figure, main
from tests.browser.server import ROOT

PART = "said twice, in Python and in JavaScript"
PYTHON, SCRIPTS = ROOT / "convviz", ROOT / "convviz" / "board" / "js"
BEFORE, FEWER = "50dbbc8", 1500  # the commit before the page became the app, and how many lines of Python go since
# What the page's JavaScript tells as well; the rest of Python does what no page can, such as a checker or a server.
PICTURES = ["explanation", "settings", "views", "board", "samples"]
MOST = 2300  # of 5,670 that were said twice

# What is said twice: of Python, and of board/js.
TWICE = (
    (  # a panel by its name is asked for in Python alone
        "views/panels.py: Panel Sign Equation EQUATIONS equations _equation _is_there _sign _panel",
        "picture/panels.js",
    ),
    ("views/cells.py", "picture/cells.js"),
    ("views/captions.py", "picture/words.js: formulaOf stampAt overhang folds lossWords"),
    ("views/scales.py", "picture/scales.js"),
    ("views/figures.py: FIGURE SIDES frame _bands", "picture/payload.js: SHADES figureOf bandsOf"),
    (
        "views/theme.py: format_number format_long _written rgb luminance color_at",
        "base/format.js: formatNumber formatLong parseColor colorOf needsWhiteInk",
    ),
    ("settings/link.py", "rules/link.js"),
    ("settings/link_values.py", "rules/link_values.js"),
    ("settings/names.py", "rules/names.js"),
    (
        "settings/state.py: __post_init__ replace input_shape output_shape check_size; "
        "settings/tensors.py: input_tensor weight_tensor bias_tensor target_tensor grad_tensor _own _output_like",
        "rules/settings.js",
    ),
    (  # what gives way where a rule is broken, and how far a control goes, the page alone knows
        "settings/transposed.py",
        "rules/bounds.js: layerPair layerSpec layerOutput",
    ),
    ("plane.py", "rules/plane.js: PANEL_AXES clip perGroup planeWithin planeIndex"),
    ("samples/inputs.py samples/kernels.py", "rules/samples.js; rules/random.js: randomTenths roundHalfEven"),
    (
        "facts/losses.py: TAKES GIVEN kinds_taken losses_with",
        "rules/losses.js: TAKES GIVEN kindsTaken lossWith withKindsOfLoss notTaken",
    ),
    ("settings/compute.py: COMPUTED _check_finite", "numbers/checked.js"),
    ("facts/words.py: sentences filled", "base/words.js: ARGUMENT PLURALS sentences filled"),
    (  # in which words a step is told the page says elsewhere
        "export/steps.py: WALKS count_steps step_at _walk _span _lit _copied _stamped",
        "picture/steps.js; numbers/stamped.js",
    ),
    ("export/tables.py", "board/tables.js"),
)
# On purpose: computed by torch and, by other code, in every visitor's browser, so that each holds the other in check.
ON_PURPOSE = (
    ("taps.py axis_taps.py", "rules/taps.js"),
    ("spec.py ops/by_rotate.py", "rules/spec.js"),
    ("ops/stages.py", "numbers/compute.js"),
    (
        "check/mistakes.py check/recipes/choices.py check/recipes/grad_input.py check/recipes/grad_weight.py "
        "check/recipes/overwritten.py check/recipes/grouping.py check/recipes/planes.py",
        "rules/recipes.js rules/recipe_input.js rules/recipe_weight.js numbers/mistaken.js",
    ),
    ("ops/losses.py", "numbers/losses.js"),  # a part of compute.js until it became too long
    # Which language an address asks for: a server chooses before there is a page, and a static host has no server.
    ("facts/spoken.py: understood _written", "page/languages.js: understood written"),
)
# They speak of each other because one reads what the other writes: nothing is said twice.
HANDED_OVER = (
    ("app/wire.py", "numbers/from_kernel.js picture/words.js"),
    ("ops/stages.py", "rules/settings.js"),
    ("app/tabs/base.py", "tabs/tab_.js"),
    ("app/tabs/yours.py", "tabs/tab_yours.js"),
    (
        "lab/shown.py lab/picture.py lab/opening.py lab/curves.py",
        "tabs/race_results.js tabs/race_kernels.js tabs/tab_race.js base/race_curves.js",
    ),
)


def measure(say):
    say("what is said twice")
    _refuse_unlisted()
    sizes = {pair: sum(_size(entry) for side in pair for entry in _entries(side)) for pair in TWICE}
    largest = sorted(sizes, key=lambda pair: -sizes[pair])[:6]
    words = ", ".join(f"{_short(pair[0])} {sizes[pair]}" for pair in largest)
    detail = f"{len(TWICE)} pairs: {words}, …; on purpose {', '.join(_short(python) for python, _ in ON_PURPOSE)}"
    yield Figure(PART, "lines said twice", sum(sizes.values()), "", MOST, detail)
    told = f"those that tell the picture, {', '.join(PICTURES)}"
    for packages, most, what in ((PICTURES, -FEWER, told), ([""], None, "all")):
        now = sum(_lines(path) for each in packages for path in PYTHON.joinpath(each).rglob("*.py"))
        before = _lines_of_python(BEFORE, packages)
        if before is None:
            say(f"no {BEFORE} in this repository: lines of Python are not compared")
        else:
            detail = f"{before:,} → {now:,}; {what}"
            yield Figure(PART, f"lines of Python, more than at {BEFORE}", now - before, "", most, detail)


def _entries(side):
    """Return [(path, names of definitions, or none)] of one side of a pair."""
    found = []
    for part in side.split(";"):
        files, _, names = part.partition(":")
        found += [((PYTHON if name.endswith(".py") else SCRIPTS) / name, names.split()) for name in files.split()]
    return found


def _short(side):
    return " + ".join(path.stem for path, _ in _entries(side))


def _size(entry):
    path, names = entry
    if not names:
        return _lines(path)
    found = (_python_parts if path.suffix == ".py" else _script_parts)(path.read_text(encoding="utf-8"))
    return sum(found[name] for name in names)  # a name that is gone must leave the list, too


def _lines(path):
    return len(path.read_text(encoding="utf-8").splitlines())


def _python_parts(text):
    """Return the lines of each function and method, and of each table at the margin, by name."""
    tree = ast.parse(text)
    named = [(node.name, node) for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    named += [(node.target.id, node) for node in tree.body if isinstance(node, ast.AnnAssign)]
    named += [(node.targets[0].id, node) for node in tree.body if isinstance(node, ast.Assign)]
    return {name: node.end_lineno - node.lineno + 1 for name, node in named}


def _script_parts(text):
    """Return the lines of each definition at the margin, by name: it ends where a line at the margin closes it."""
    parts, lines = {}, text.splitlines()
    for start, line in enumerate(lines):
        if found := re.match(r"(?:export )?(?:const|function) (\w+)", line):
            end = start
            while line.rstrip().endswith(("{", "[", "(")) and not re.match(r"[}\])]", lines[end]):
                end += 1
            parts[found[1]] = end - start + 1
    return parts


def _refuse_unlisted():
    """Raise where a file speaks of a file of the other language, and no list has the two."""
    listed = {
        frozenset((one.name, other.name))
        for pair in (*TWICE, *ON_PURPOSE, *HANDED_OVER)
        for one, _ in _entries(pair[0])
        for other, _ in _entries(pair[1])
    }
    for root, own, other, named in (
        (PYTHON, ".py", ".js", r"``board/js/[\w/<>]*?(\w*)(?:<\w+>)?\.js"),  # in words, not where it is loaded
        (SCRIPTS, ".js", ".py", r"(?<!tests/browser/)(?<!tests/)\b(\w+)\.py\b"),
    ):
        for path in root.rglob(f"*{own}"):
            for name in re.findall(named, path.read_text(encoding="utf-8")):
                pair = {path.name, name + other}
                if frozenset(pair) not in listed:
                    raise AssertionError(f"{' and '.join(sorted(pair))}: which list of benchmarks/twice.py?")


def _lines_of_python(commit, packages):
    """Return the lines of Python that these packages had, or None where git does not know the commit."""
    command = ["git", "grep", "-h", "-c", "", commit, "--"]
    command += [f"convviz/{each}/*.py" if each else "convviz/*.py" for each in packages]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return None if done.returncode else sum(map(int, done.stdout.split()))


if __name__ == "__main__":
    main(measure)
