"""Runs axe-core in a page: what it finds against WCAG 2.2, levels A and AA."""

from importlib.resources import files

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RUN = """async ([tags, within]) => {
  const { violations, incomplete, passes } = await axe.run(within.length ? within : document, { runOnly: tags });
  const targets = ({ nodes }) => nodes.map(({ target }) => target.flat().join(" "));
  return {
    violations: violations.flatMap((rule) => rule.nodes.map((node) =>
      `${rule.id}: ${node.target.flat().join(" ")}: ${node.failureSummary.replaceAll("\\n", " ")}`)),
    undecided: Object.fromEntries(incomplete.map((rule) => [rule.id, targets(rule)])),
    passes: passes.map(({ id }) => id),
  };
}"""


def look(page, *within):
    """Return {violations, undecided, passes} of the page as it stands, or of what the selectors name in it."""
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE)
    return page.evaluate(RUN, [TAGS, within])


def assert_accessible(page, state, *within):
    """Fail with every violation; `state` names what the page shows, the selectors what to look at: by default all."""
    found = look(page, *within)
    assert found["violations"] == [], state
    # A rule that stops looking would pass for ever.
    rules = {"color-contrast", "target-size", "button-name"} | (set() if within else {"aria-required-children"})
    assert rules <= set(found["passes"]), state
