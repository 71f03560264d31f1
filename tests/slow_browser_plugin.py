"""A pytest plugin: frames and messages come late, as on a machine that is busy with something else.

    make test-py PYTEST_FLAGS="-m browser -p tests.slow_browser_plugin"

A test that looks a frame too early passes on a quiet machine nearly always, and here soon does not. Every page calls
its animation frames, and hears its kernel, up to a quarter of a second late: in their order, each by a time of its own.
"""

import random

FRAME_MS, MESSAGE_MS = 200, 250
SCRIPT = """(() => {
  if (window.isLate) return;
  window.isLate = true;
  let seed = %(seed)d;
  const upTo = (most) => { // Python's seed, so that a failure can be had again
    seed = (seed * 1103515245 + 12345) %% 2147483648;
    return (seed / 2147483648) * most;
  };

  const [request, cancel] = [requestAnimationFrame.bind(window), cancelAnimationFrame.bind(window)];
  const waiting = new Map();
  let last = 1e6;
  const frame = (time) => {
    const now = [...waiting.values()];
    waiting.clear();
    for (const callback of now) callback(time);
  };
  window.requestAnimationFrame = (callback) => {
    if (/UtilityScript/.test(new Error().stack)) return request(callback); // Playwright looks as often as ever
    if (!waiting.size) setTimeout(() => request(frame), upTo(%(frame)d));
    waiting.set(++last, callback);
    return last;
  };
  window.cancelAnimationFrame = (id) => waiting.delete(id) || cancel(id);

  const onmessage = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage");
  const set = function (listener) {
    let [due, queue] = [0, []];
    const next = () => { listener.call(this, queue.shift()); };
    onmessage.set.call(this, listener && ((event) => {
      queue.push(event);
      due = Math.max(due, performance.now() + upTo(%(message)d));
      setTimeout(next, due - performance.now());
    }));
  };
  Object.defineProperty(WebSocket.prototype, "onmessage", { ...onmessage, set });
})();"""


def pytest_addoption(parser):
    parser.addoption("--late-seed", type=int, default=0, help="how late each frame and message comes")


def pytest_configure(config):
    from playwright.sync_api import Browser

    draw = random.Random(config.getoption("--late-seed"))
    new_context = Browser.new_context

    def late_context(self, **options):
        context = new_context(self, **options)
        script = SCRIPT % {"seed": draw.randrange(2**31), "frame": FRAME_MS, "message": MESSAGE_MS}
        context.add_init_script(script)
        return context

    Browser.new_context = late_context
