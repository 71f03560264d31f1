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

  /** Something was drawn. */
  function look() {
    if (!step || step.start === undefined || step.shown() === step.before) return;
    const { start, resolve } = step;
    step = null;
    afterPaint(() => resolve(performance.now() - start));
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
    /** Wait for one step: from the next key to the painted frame. `shown` returns something that every step changes. */
    arm(selector, shown) {
      const target = /** @type {any} */ (document.querySelector(selector));
      if (!listening && target.on) target.on("plotly_afterplot", look);
      else if (!listening) new MutationObserver(look).observe(target, { attributeFilter: ["data-painted"] });
      listening = true;
      const before = shown(target);
      this.done = new Promise((resolve, reject) => {
        step = { before, shown: () => shown(target), resolve };
        const own = step;
        setTimeout(() => {
          const focus = document.activeElement;
          const words = [
            own.start === undefined ? "no key arrived" : "a key arrived",
            `the picture was ${before} and is ${shown(target)}`,
            `the focus is on ${focus?.getAttribute("aria-label") ?? focus?.className}`,
            `a slider stands at ${/** @type {any} */ (focus)?.value ?? focus?.getAttribute("aria-valuenow")}`,
            target.isConnected ? "the picture is in the page" : "the picture was replaced",
          ];
          reject(new Error(`the step was never painted: ${words.join(", ")}`));
        }, 20000);
      });
    },
    done: Promise.resolve(0),
  };
})();
