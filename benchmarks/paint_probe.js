// @ts-check
// Runs in a page before anything else: says when what an event changed was painted.
(() => {
  const channel = new MessageChannel();
  /** @type {(() => void)[]} */
  const calls = [];
  channel.port1.onmessage = () => calls.shift()?.();

  /** A message posted inside a frame arrives after that frame is painted. @param {() => void} call */
  const afterFrame = (call) =>
    requestAnimationFrame(() => {
      calls.push(call);
      channel.port2.postMessage(null);
    });

  /** @type {any} */
  let armed = null;

  function look() {
    const { start, marks, before, taken, resolve, reject } = armed;
    const spent = performance.now() - start;
    for (const [name, value] of Object.entries(readings(marks)))
      if (!(name in taken) && value !== undefined && value !== before[name]) taken[name] = spent;
    if (Object.keys(marks).every((name) => name in taken)) resolve(taken);
    else if (spent < 20000) afterFrame(look);
    else reject(new Error(`never painted: ${JSON.stringify([before, readings(marks)])}`));
  }

  /** @param {Record<string, () => unknown>} marks */
  const readings = (marks) => Object.fromEntries(Object.entries(marks).map(([name, read]) => [name, read()]));

  const probe = {
    /** Whether the page is kept from seeing the pointer. */
    mute: false,
    /** Resolves to the milliseconds by mark; see `arm`. @type {Promise<any>} */
    done: Promise.resolve({}),
    /** Milliseconds from the navigation to the first frame with `count` elements. */
    first: (/** @type {string} */ selector, /** @type {number} */ count) =>
      new Promise((resolve, reject) => {
        setTimeout(() => reject(new Error(`no ${count} elements ${selector}`)), 120000);
        const poll = () =>
          document.querySelectorAll(selector).length < count ? afterFrame(poll) : resolve(performance.now());
        afterFrame(poll);
      }),
    /** Time the next event: until each mark, a function, returns something else in a painted frame. */
    arm(/** @type {Record<string, () => unknown>} */ marks) {
      probe.done = new Promise((resolve, reject) => {
        armed = { marks, before: readings(marks), taken: {}, resolve, reject };
        setTimeout((own) => own.start === undefined && reject(new Error("no event arrived")), 20000, armed);
      });
      probe.done.catch(() => {});
    },
  };
  window.convvizProbe = probe;
  for (const kind of ["keydown", "pointermove"])
    window.addEventListener(
      kind,
      (event) => {
        if (probe.mute && kind === "pointermove") event.stopImmediatePropagation();
        if (!armed || armed.start !== undefined) return;
        armed.start = event.timeStamp;
        afterFrame(look);
      },
      true,
    );
})();
