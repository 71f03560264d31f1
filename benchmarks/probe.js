// @ts-check
// Runs in the page before anything else: tells when what a step changed was painted.
(() => {
  const nextFrame = window.requestAnimationFrame.bind(window);
  const channel = new MessageChannel();
  /** @type {(() => void)[]} */
  let afterTask = [];
  let inFrame = false;
  channel.port1.onmessage = () => {
    inFrame = false;
    const calls = afterTask;
    afterTask = [];
    for (const call of calls) call();
  };

  // A message posted inside a frame arrives after that frame is painted. What changes inside a frame belongs to that
  // one, what changes elsewhere to the next: without telling them apart, drawing in a frame would count as one later.
  window.requestAnimationFrame = (callback) =>
    nextFrame((time) => {
      inFrame = true;
      channel.port2.postMessage(null);
      callback(time);
    });

  /** @param {() => void} call */
  function afterPaint(call) {
    if (!inFrame) return void window.requestAnimationFrame(() => afterTask.push(call));
    afterTask.push(call);
  }

  /** @type {any} */
  let step = null;
  document.addEventListener("keydown", () => step && (step.start ??= performance.now()), true);

  /** Something was drawn: note the marks that are another now, once the frame with them is painted. */
  function look() {
    if (!step || step.start === undefined) return;
    const { start, before, now, taken, resolve } = step;
    for (const [name, value] of Object.entries(now())) {
      if (name in taken || value === undefined || value === before[name]) continue;
      taken[name] = Infinity; // drawn, and not painted yet
      afterPaint(() => {
        taken[name] = performance.now() - start;
        if (Object.keys(before).some((each) => !Number.isFinite(taken[each]))) return;
        step = null;
        resolve(taken);
      });
    }
  }

  let listening = false;
  window.convvizProbe = {
    /** Milliseconds from the navigation to the first frame with `count` elements. */
    first: (selector, count) =>
      new Promise((resolve, reject) => {
        setTimeout(() => reject(new Error(`no ${count} elements ${selector}`)), 120000);
        const poll = () => {
          if (document.querySelectorAll(selector).length < count) nextFrame(poll);
          else afterPaint(() => resolve(performance.now()));
        };
        poll();
      }),
    /**
     * Wait for one step: from the next key to the painted frame of each mark. A mark is something in the picture that every
     * step changes; undefined while it is not there. `done` tells the milliseconds by mark.
     */
    arm(selector, marks) {
      const target = /** @type {any} */ (document.querySelector(selector));
      if (!listening && target.on) target.on("plotly_afterplot", look);
      else if (!listening)
        new MutationObserver(look).observe(target, { attributeFilter: ["data-painted", "data-from"] });
      listening = true;
      const now = () => Object.fromEntries(Object.entries(marks).map(([name, mark]) => [name, mark(target)]));
      const before = now();
      this.done = new Promise((resolve, reject) => {
        step = { before, now, taken: {}, resolve };
        const own = step;
        setTimeout(() => {
          const focus = document.activeElement;
          const words = [
            own.start === undefined ? "no key arrived" : "a key arrived",
            `the picture was ${JSON.stringify(before)} and is ${JSON.stringify(now())}`,
            `the focus is on ${focus?.getAttribute("aria-label") ?? focus?.className}`,
            `a slider stands at ${/** @type {any} */ (focus)?.value ?? focus?.getAttribute("aria-valuenow")}`,
            target.isConnected ? "the picture is in the page" : "the picture was replaced",
          ];
          reject(new Error(`the step was never painted: ${words.join(", ")}`));
        }, 20000);
      });
    },
    done: Promise.resolve({}),
  };
})();
