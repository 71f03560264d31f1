"""Opens many screens of the app and counts those on which something overlaps, is cut, out of reach or unreadable.

    python -m tests.browser.layout_sweep [--quick] [--json out.json] [--shots folder]

Each screen is a state (layout_screens.py) at a size in a language; layout_judge.js says what is wrong with it.
"""

import argparse
import collections
import itertools
import json
import re
import sys
import time
from pathlib import Path

from tests.browser.layout_pages import pages_server, screens
from tests.browser.layout_screens import LANGUAGES, SIZES, states
from tests.chromium import find_chromium
from tests.conftest import CHROMIUM_ARGS

QUICK = 7  # every so many states


def places(sizes):
    """Group sizes by the page that shows them: a window, one that is touched, an element."""
    keyed = sorted(sizes, key=lambda size: (size.touch, bool(size.element)))
    return itertools.groupby(keyed, key=lambda size: (size.touch, bool(size.element)))


def sweep(browser, chosen, sizes=SIZES, languages=LANGUAGES, look=None):
    """Judge screens; yield (language, state, size, faults).

    Args:
        browser: of Playwright.
        chosen: a function from a language to its states.
        sizes: of what the app stands in.
        languages: in the order to go through.
        look: called with the page, the language, the state, the size and the faults of each screen.
    """
    with pages_server(languages) as address:
        for language in languages:
            for (touch, is_element), group in places(sizes):
                group = list(group)
                with screens(browser, address, language, touch=touch, is_element=is_element) as shown:
                    shown.resize(group[0])
                    for state in chosen(language):
                        own = [size for size in group if state.is_seen_at(size)]
                        if own:
                            shown.show(state)
                        for size in own:
                            shown.resize(size)
                            faults = shown.judge()
                            if look:
                                look(shown.page, language, state, size, faults)
                            yield language, state, size, faults


def chooser(quick=False, only="", done=True):
    """Return the function from a language to the states that are looked at in it."""

    def chosen(language):
        found = [state for state in states(language, done) if language == "en" or state.long]
        found = [state for state in found if re.search(only, state.name)]
        return found[::QUICK] if quick else found

    return chosen


def photographer(folder, passing):
    """Return what keeps pictures of the screens that fail, and of those that pass if asked."""
    folder.mkdir(parents=True, exist_ok=True)

    def look(page, language, state, size, faults):
        if faults or passing:
            name = re.sub(r"[^\w.-]+", "_", f"{'fails' if faults else 'passes'} {size.name} {state.name} {language}")
            page.screenshot(path=folder / f"{name}.png")

    return look


def counted(rows):
    """Return the report's lines: how many of how many screens fail, by kind and by size."""
    failing = [row for row in rows if row["faults"]]
    worse = [row for row in failing if {fault["kind"] for fault in row["faults"]} != {"left out"}]
    yield f"{len(failing)} of {len(rows)} screens fail, {len(worse)} of them by more than words left out"
    kinds = collections.Counter(kind for row in rows for kind in {fault["kind"] for fault in row["faults"]})
    yield "by kind: " + ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    for part in ("size", "language"):
        for name in dict.fromkeys(row[part] for row in rows):
            own = [row for row in rows if row[part] == name]
            of_kind = collections.Counter(kind for row in own for kind in {fault["kind"] for fault in row["faults"]})
            reported = ", ".join(f"{kind} {count}" for kind, count in of_kind.most_common())
            yield f"  {name}: {sum(bool(row['faults']) for row in own)} of {len(own)} fail: {reported}"


def main(arguments=None):
    """Run the sweep from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"every {QUICK}th state")
    parser.add_argument("--json", type=Path, help="write all screens with their faults")
    parser.add_argument("--shots", type=Path, help="a folder for pictures of the screens that fail")
    parser.add_argument("--all-shots", action="store_true", help="pictures of those that pass, too")
    parser.add_argument("--only", default="", help="a regular expression of states' names")
    parser.add_argument("--sizes", default="", help="a regular expression of sizes' names")
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--no-done", action="store_true", help="no step with its tasks done")
    parser.add_argument("--list", action="store_true", help="print each fault")
    options = parser.parse_args(arguments)
    from playwright.sync_api import sync_playwright

    sizes = [size for size in SIZES if re.search(options.sizes, size.name)]
    look = photographer(options.shots, options.all_shots) if options.shots else None
    rows, start = [], time.monotonic()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGS)
        chosen = chooser(options.quick, options.only, not options.no_done)
        for language, state, size, faults in sweep(browser, chosen, sizes, options.languages.split(","), look):
            rows.append({"language": language, "state": state.name, "size": size.name, "faults": faults})
            if options.list:
                for fault in faults:
                    print(f"{language} | {size.name} | {state.name} | {fault['kind']}: {fault['who']}: {fault['why']}")
        browser.close()
    print(*counted(rows), sep="\n")
    print(f"{len(rows) / (time.monotonic() - start) * 60:.0f} screens a minute")
    if options.json:
        options.json.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")
    return 1 if any(row["faults"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
