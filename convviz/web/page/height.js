// @ts-check
// Tell the page around an iframe how high this one is, so that it can make room. Nothing else is told: the
// message may be read by anybody.

const SLACK = 4; // pixels that are no reason to tell it again, or two pages could chase each other

/** @param {HTMLElement} el whose height it is */
export function tellHeight(el) {
  if (window.parent === window) return;
  el.dataset.grows = ""; // nothing may then be high in parts of the window: it would chase its own height
  let told = -SLACK;
  let frame = 0;
  const tell = () => {
    frame = 0;
    const height = Math.ceil(el.getBoundingClientRect().bottom + window.scrollY);
    if (Math.abs(height - told) < SLACK) return;
    told = height;
    window.parent.postMessage({ type: "convviz:resize", height }, "*");
    // What Canvas, Moodle and Sakai hear.
    window.parent.postMessage(JSON.stringify({ subject: "lti.frameResize", height }), "*");
  };
  new ResizeObserver(() => (frame ||= requestAnimationFrame(tell))).observe(el);
}
