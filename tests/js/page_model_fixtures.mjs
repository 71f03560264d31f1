// What the tests of the page's model share: its data, its steps, and time that passes when the test says so.
import { setAxis } from "../../convviz/web/rules/change_settings.js";
import { BASE_STATE } from "../../convviz/web/rules/settings_link.js";

/** What a page is given, in these settings. */
export const dataOf = (state, more = {}) => ({
  state,
  colorscales: { light: {}, dark: {} },
  plotly: null,
  ...more,
});

/** All promises that are due have been heard. */
export const settled = () => new Promise((done) => setImmediate(done));

/** Timers, as `later(act)` makes them; all that are waiting end together. */
export function timersByHand() {
  const waiting = new Set();
  const later = (act) => {
    waiting.add(act);
    return () => waiting.delete(act);
  };
  return { waiting, later, end: () => [...waiting].forEach((act) => waiting.delete(act) && act()) };
}

export const stride = (model, value) =>
  model.change((settings) => setAxis(settings, "stride", 0, value), "stride");
export const strideOf = (settings) => settings.spec.stride[0];

/** A geometry that takes the page too many products. */
export const LARGE = {
  ...BASE_STATE.spec,
  in_channels: 8,
  out_channels: 8,
  input_size: [64, 64],
  kernel_size: [11, 11],
  stride: [1, 1],
};

const SENT =
  "input weight bias output target grad_output grad_padded_input grad_input grad_weight grad_bias".split(" ");
/** The names of the tensors of a step that torch sends. */
export const sentOf = (stages) => SENT.filter((name) => stages[name]);
