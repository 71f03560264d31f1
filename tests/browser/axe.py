"""Runs axe-core in a page: what it finds against WCAG 2.2, levels A and AA."""

from importlib.resources import files

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
# The numbers in cells: axe decides of no text of an SVG what colours it has, white on white neither, and takes a third
# of its time for it. tests/views/test_colour_contrast.py holds them on every ground.
UNDECIDED = ".cv-printed"
RUN = """async ([options, within, without]) => {
  const where = { include: within.length ? within : ["html"], exclude: [without] };
  document.documentElement.style.opacity = "1"; // of a page that is not painted axe judges no colour
  const { violations, incomplete, passes } = await axe.run(where, options);
  document.documentElement.style.removeProperty("opacity");
  const targets = ({ nodes }) => nodes.map(({ target }) => target.flat().join(" "));
  return {
    violations: violations.flatMap((rule) => rule.nodes.map((node) =>
      `${rule.id}: ${node.target.flat().join(" ")}: ${node.failureSummary.replaceAll("\\n", " ")}`)),
    undecided: Object.fromEntries(incomplete.map((rule) => [rule.id, targets(rule)])),
    passes: passes.map(({ id }) => id),
  };
}"""
# The rules of which some element of every page is an example: one that stops looking would pass for ever.
ALWAYS = ("color-contrast", "target-size", "button-name", "aria-required-children")


def look(page, *within, rules=TAGS, results=("violations", "incomplete")):
    """Return {violations, undecided, passes} of the page as it stands, or of what the selectors name in it.

    Args:
        page: the page.
        within: selectors of what to look at; none: all.
        rules: tags or ids of rules.
        results: the kinds of which every element is reported; of the others one a rule, which takes less time.
    """
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE)
    return page.evaluate(RUN, [{"runOnly": rules, "resultTypes": results, "iframes": False}, within, UNDECIDED])


def assert_accessible(page, state, *within, rules=TAGS):
    """Fail with every violation; `state` names what the page shows, the selectors what to look at: by default all."""
    found = look(page, *within, rules=rules, results=("violations",))
    assert not found["violations"], (state, found["violations"])
    wanted = set(ALWAYS[:3] if within else ALWAYS)
    assert (wanted if rules is TAGS else wanted & set(rules)) <= set(found["passes"]), state
