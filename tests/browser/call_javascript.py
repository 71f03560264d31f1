"""The page's JavaScript, called from Python: many calls in one message, because each message takes time.

It runs in node where that is, which needs no page, else in the browser: the tests are the same.
"""

import contextlib
import functools
import json
import re
import shutil
import subprocess

from convviz.web.bundle import bundle_several
from tests.browser.bare_page import JS

# What needs no page.
FOLDERS = ("rules", "picture", "numbers")
FILES = [f"{folder}/{path.name}" for folder in FOLDERS for path in sorted(JS.joinpath(folder).iterdir(), key=str)]
CARRIED = re.compile(r"^const \$facts_words_(\w+) = (.*);$", re.MULTILINE)  # how a bundle has a file of sentences

START = """
const plain = (_, value) => (ArrayBuffer.isView(value) ? [...value] : value);
function tried(action) {
  try {
    return { value: action() ?? null };
  } catch (error) {
    if (error instanceof TypeError || error instanceof ReferenceError) throw error; // a fault, and no sentence
    return { refused: error.message };
  }
}
window.callAll = (file, name, calls) =>
  JSON.stringify(calls.map((given) => tried(() => js[file][name](...given))), plain);

/** What a person can do, by name: [settings, notices] from settings. */
const change = js["rules/change_settings.js"];
const deeds = {
  ...change,
  set: (settings, fields) => [js["rules/settings_and_tensors.js"].replaced(settings, fields), []],
  /** A slider moves to a part of the way that it has now. */
  slide: (settings, name, axis, part) => {
    const { spec, link_axes: linked, transposed } = settings;
    const names = js["rules/bounds.js"].perAxis(transposed);
    const there = names.includes(name) ? name : names[0];
    const [low, high] = js["rules/bounds.js"].boundsOf(spec, there, axis, linked, transposed);
    return change.setAxis(settings, there, axis, low + Math.round(part * (high - low)));
  },
  /** A transposed convolution has no other mode, and the page no menu for it. */
  chooseMode: (settings, mode) => change.setGeometry(settings, { padding_mode: settings.transposed ? "zeros" : mode }),
  chooseGroups: (settings, part) => {
    const choices = js["rules/bounds.js"].groupChoices(settings.spec);
    return change.setGeometry(settings, { groups: choices[Math.floor(part * choices.length)] });
  },
};
window.playAll = (plays, withNumbers) => JSON.stringify(plays.map(([state, actions, torch = {}]) => {
  let now = 100_000;
  const data = { state, colorscales: { light: {}, dark: {} }, plotly: null, ...torch };
  const model = js["numbers/page_model.js"].createPageModel(data, js["numbers/compute_in_page.js"].fromPage, () => now);
  let known;
  const wanted = (state) => withNumbers === true || (withNumbers && known !== (known = JSON.stringify(state)));
  const look = () => ({
    state: model.settings(), notice: model.get("notice"), failed: model.get("failed"), selected: model.get("selected"),
    undo: model.canUndo(), redo: model.canRedo(), kernel: change.kernelName(model.settings()),
    settled: model.settled(), kept: model.get("state"), sources: model.get("sources"), theme: model.get("theme"),
    shown: model.shown().settings, versions: [model.get("structure").version, model.get("values").version],
    numbers: wanted(model.settings()) ? model.shown().numbers.stages : null,
  });
  const seen = [look()];
  for (const [name, ...given] of actions) {
    if (name === "wait") now += given[0];
    else if (name === "send") model.send(given[0]);
    else if (name === "say") model.say(...given);
    else if (name === "move") model.change((settings) => deeds[given[1]](settings, ...given.slice(2)), given[0]);
    else if (deeds[name]) model.change((settings) => deeds[name](settings, ...given));
    else model.send({ type: name });
    seen.push(look());
  }
  return seen;
}), plain);
"""


def script(sentences=lambda text: text, more=()):
    """Return all of it as one script, which leaves the files' exports by path in ``js``.

    Args:
        sentences: changes the text of every sentence that the files carry.
        more: files of features that need no page.
    """
    names = {f"file{number}": path for number, path in enumerate([*FILES, *more])}

    def said_otherwise(found):
        texts = {id: _changed(text, sentences) for id, text in json.loads(found[2]).items()}
        return f"const $facts_words_{found[1]} = {json.dumps(texts)};"

    made = CARRIED.sub(said_otherwise, bundle_several(JS, names, pack=False))
    given = ", ".join(f'"{path}": {name}' for name, path in names.items())
    return f"{{ {made} window.js = {{ {given} }};\n{START} }}"


def _changed(text, change):
    return change(text) if isinstance(text, str) else {form: change(each) for form, each in text.items()}


# Lines of JSON come and go: a function's text with what it takes, and what it returns.
NODE = """
globalThis.window = globalThis;
console.log = console.error; // the answers alone are written to stdout
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const [text, given] = JSON.parse(line);
  let answer;
  try {
    answer = { value: (0, eval)(text)(given) };
  } catch (error) {
    answer = { thrown: String(error.stack) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\\n`);
});
"""


@functools.cache
def find_node():
    """Return the path of a node that is new enough, as the Makefile has it, or None."""
    path = shutil.which("node")
    version = path and subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)\.", version or "")
    return path if found and int(found[1]) >= 18 else None


class Node:
    """A process of node, which runs a script and evaluates functions as a page of Playwright does."""

    def __init__(self, path):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
        self.process = subprocess.Popen([path, "-e", NODE], **pipes)

    def evaluate(self, text, given=None):
        """Call a function, given as its text, with plain data → what it returns; what it throws is an error."""
        self.process.stdin.write(json.dumps(_sent(text, given)) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"thrown": "node has ended"}')
        assert "thrown" not in answer, answer["thrown"]
        return answer.get("value")

    def goto(self, address):
        """Do nothing: it has just been started, as a blank page."""

    def add_script_tag(self, content):
        """Run a script."""
        self.evaluate(f"() => {{ {content} }}")

    def close(self):
        self.process.communicate()


def _sent(text, given):
    """JSON has no NaN and no infinities: where they are, all that is given is a part of the text."""
    try:
        json.dumps(given, allow_nan=False)
    except ValueError:
        return [f"() => ({text})({json.dumps(given)})", None]
    return [text, given]


@contextlib.contextmanager
def called_in_node(path, *given):
    """Yield a JavaScript that runs in node; what is given is for ``script``."""
    node = Node(path)
    try:
        yield JavaScript(node, *given)
    finally:
        node.close()


@contextlib.contextmanager
def called_in_page(browser, *given):
    """Yield a JavaScript that runs in a page of its own; what is given is for ``script``."""
    context = browser.new_context()
    try:
        yield JavaScript(context.new_page(), *given)
    finally:
        context.close()


def called(request, *given):
    """Return what yields a JavaScript: in node where that is, else in a page of the fixture ``browser``."""
    path = find_node()
    return called_in_node(path, *given) if path else called_in_page(request.getfixturevalue("browser"), *given)


class JavaScript:
    """The functions of the page's files, and its model, as a test calls them.

    Attributes:
        page: of Playwright, or a Node: what evaluates a function's text.
    """

    def __init__(self, page, sentences=lambda text: text, more=()):
        self.page = page
        page.goto("about:blank")
        page.add_script_tag(content=script(sentences, more))

    def tried(self, path, name, calls):
        """Call a function once for each list of arguments → ``{"value": ...}`` or ``{"refused": sentence}`` of each."""
        return json.loads(
            self.page.evaluate(
                "([path, name, calls]) => callAll(path, name, JSON.parse(calls))", [path, name, json.dumps(calls)]
            )
        )

    def __call__(self, path, name, calls):
        """Call a function once for each list of arguments → what it returns for each; a refusal is an error."""
        found = self.tried(path, name, [list(each) for each in calls])
        assert len(found) == len(calls)
        for given, each in zip(calls, found, strict=True):
            assert "value" in each, f"{path}: {name}({given}) says {each['refused']}"
        return [each["value"] for each in found]

    def play(self, plays, numbers=False):
        """Open the page's model once for each (state, actions) → what it shows before and after each action.

        Args:
            plays: an action is a list: a function of ``rules/change_settings.js`` or one of the deeds above, with what
            it takes
                after the settings; ``"move"`` with a control's name before that; ``"send"`` a message; ``"wait"``
                milliseconds; ``"say"``; else the type of a message.
            numbers: report the stages that are shown as well; ``"of each state"`` reports them once, not again where an
                action leaves the state as it was.
        """
        given = [[state, actions] for state, actions in plays]
        with contextlib.suppress(ValueError):  # JSON has no NaN
            given = json.dumps(given, allow_nan=False)  # one text: into anything else Playwright looks piece by piece
        script = "([plays, numbers]) => playAll(typeof plays === 'string' ? JSON.parse(plays) : plays, numbers)"
        return json.loads(self.page.evaluate(script, [given, numbers]))

    def walk(self, state, *actions, numbers=False):
        """Open the page's model at one state, do some actions → what it shows before and after each."""
        (seen,) = self.play([(state, actions)], numbers)
        return seen
