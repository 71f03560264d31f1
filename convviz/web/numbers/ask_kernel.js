// The kernel as a maker: torch computes, and app/step_numbers.py sends what cannot be derived.
import { decode } from "../base/format.js";
import { torchWords } from "../picture/formulas_and_notes.js";
import { BASE_STATE } from "../rules/settings_link.js";
import { say } from "../rules/sentences.js";
import { kindsTaken } from "../rules/loss_inputs.js";
import { shapeOfOutput } from "../rules/settings_and_tensors.js";
import { inputShape, outputShape, paddedSize, weightShape } from "../rules/conv_geometry.js";
import { comparisonWords } from "./compare_with_torch.js";
import { copiesOf, padInput } from "./compute.js";
import { countOf } from "../rules/shapes_and_indices.js";

/**
 * @import { Shown } from "./actions.js"
 * @typedef {{ page: string, k: number, dtype: string, loss: number, truth: { id: string, values:
 *   Record<string, string>, ok: boolean }, tensors: Record<string, DataView<ArrayBuffer>> }} Wire torch's
 *   answer to request k of a page
 * @typedef {DataView<ArrayBuffer>[]} Buffers
 * @typedef {{ moved: (there: Shown) => void, showNotice: (sentence: string, failed: boolean) => void, introduced:
 *   () => void, replied: (message: any, buffers: DataView[]) => void }} Listener moved: set elsewhere;
 *   replied: neither numbers nor a refusal
 * @typedef {{ message: any, buffers: Buffers }} Reply
 * @typedef {{ settings: Settings, k: number, resolve: (numbers: Numbers) => void, reject: (error: Error) =>
 *   void }} Waiting
 * @typedef {{ ask: (settings: Settings, k: number) => Promise<Numbers>, now?: () => Shown | null, follow:
 *   (listener: Listener) => void, request: (message: any, buffers?: ArrayBuffer[]) => Promise<Reply>,
 *   differs: (settings: Settings, numbers: Numbers) => string, send: (message: any, buffers?: ArrayBuffer[])
 *   => void, facts: any, widgetManager: any, introduction?: () => string, notice?: () => [string, boolean],
 *   close: () => void }} Kernel request: beside the numbers, rejects with a refusal; send: wants no answer;
 *   differs: how the page's own numbers differ, or empty
 */

/** Without what equals the base; Python fills that in. @param {Settings} settings */
export function messageOf(settings) {
  const first = /** @type {Record<string, any>} */ (BASE_STATE);
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(first[name])),
  );
}

/** @param {Settings} settings @returns {Record<string, number[]>} */
function shapesOf(settings) {
  const { spec, bias } = settings;
  const [input, output, weight] = [inputShape(spec), outputShape(spec), weightShape(spec)];
  const channels = [shapeOfOutput(settings)[1]];
  const border = [spec.batch, spec.in_channels, paddedSize(spec, 0), paddedSize(spec, 1)];
  return {
    ...{ input, output, weight, grad_output: output, grad_input: input, grad_weight: weight },
    ...(bias ? { bias: channels, grad_bias: channels } : {}),
    ...(kindsTaken(settings.loss, "target").length ? { target: shapeOfOutput(settings) } : {}),
    ...(spec.padding_mode === "zeros" ? {} : { grad_padded_input: border }),
  };
}

/** @param {Settings} settings @param {Wire} wire @returns {Numbers} */
export function numbersOf(settings, { k, dtype, loss, truth, tensors }) {
  /** @type {Record<string, Tensor>} */
  const made = {};
  for (const [name, shape] of Object.entries(shapesOf(settings))) {
    const data = tensors[name] ? Float64Array.from(decode(tensors[name], dtype)) : new Float64Array();
    const count = countOf(shape);
    if (data.length !== count) throw new Error(say("kernel.shape", { name, count, got: data.length }));
    made[name] = { shape, data };
  }
  const { spec } = settings;
  const stages = /** @type {Stages} */ (
    /** @type {unknown} */ ({
      ...{ bias: null, grad_bias: null, grad_padded_input: null, target: null, ...made, loss },
      ...copiesOf(spec, padInput(made.input, spec), made.weight, made.grad_output),
    })
  );
  return { k, stages, dtype, truth: torchWords(truth.id, truth.values), truth_ok: truth.ok, from: "torch" };
}

/** In the base's order: settings are compared as texts. @param {any} model @returns {Shown} */
function shownBy(model) {
  const there = { ...model.get("_state"), ...model.get("_sources") };
  const settings = /** @type {Settings} */ (
    Object.fromEntries(Object.keys(BASE_STATE).map((name) => [name, there[name]]))
  );
  return { settings, numbers: numbersOf(settings, model.get("_numbers")) };
}

export class KernelClient {
  #hear = () => {
    const wire = /** @type {Wire} */ (this.#model.get("_numbers"));
    if (wire.page !== this.#page) {
      const there = this.now();
      if (there) this.#listener?.moved(there);
    } else if (this.#waiting?.k === wire.k) {
      const { settings, resolve, reject } = this.#waiting;
      this.#waiting = null;
      try {
        resolve(numbersOf(settings, wire));
      } catch (error) {
        reject(/** @type {Error} */ (error));
      }
    }
  };
  /** @param {any} message @param {Buffers} [buffers] */
  #receive = (message, buffers = []) => {
    if ("id" in message) this.#settle(message, buffers);
    else if (message.type === "notice") this.#listener?.showNotice(message.sentence, message.failed);
    else if (message.type !== "refused") this.#listener?.replied(message, buffers);
    else if (message.page === this.#page) this.#refuse(message);
  };
  #page = Math.random().toString(36).slice(2);
  /** @type {Waiting | null} */
  #waiting = null;
  #id = 0;
  /** @type {Map<number, { resolve: (reply: Reply) => void, reject: (error: Error) => void }>} */
  #requests = new Map();
  /** @type {Listener | null} */
  #listener = null;
  #introduce = () => this.#listener?.introduced();
  differs = comparisonWords;
  facts;
  widgetManager;
  #model;

  /** @param {any} model */
  constructor(model) {
    this.#model = model;
    model.on("change:_numbers", this.#hear);
    model.on("change:_introduction", this.#introduce);
    model.on("msg:custom", this.#receive);
    this.facts = model.get("_facts");
    this.widgetManager = model.widget_manager;
  }

  /** If this page can read it. @returns {Shown | null} */
  now() {
    try {
      return this.#model.get("_numbers")?.tensors ? shownBy(this.#model) : null;
    } catch (error) {
      this.#listener?.showNotice(/** @type {Error} */ (error).message, true);
      return null;
    }
  }

  /** Python reverted, perhaps after sending the numbers. @param {any} message */
  #refuse({ k, sentence }) {
    if (this.#waiting && this.#waiting.k === k) {
      this.#waiting.reject(new Error(sentence));
      this.#waiting = null;
    } else if (!this.#waiting) {
      this.#listener?.showNotice(sentence, true);
    }
  }

  /** @param {any} message @param {Buffers} buffers */
  #settle(message, buffers) {
    const request = message.page === this.#page && this.#requests.get(message.id);
    if (!request) return; // the answer is for another page
    this.#requests.delete(message.id);
    if (message.type === "refused") request.reject(new Error(message.sentence));
    else request.resolve({ message, buffers });
  }

  /** @type {Kernel["ask"]} */
  ask = (settings, k) =>
    new Promise((resolve, reject) => {
      this.#waiting = { settings, k, resolve, reject };
      this.#model.send({ type: "compute", page: this.#page, k, settings: messageOf(settings) });
    });

  /** @type {Kernel["request"]} */
  request = (message, buffers) =>
    new Promise((resolve, reject) => {
      this.#requests.set(++this.#id, { resolve, reject });
      this.#model.send({ ...message, page: this.#page, id: this.#id }, undefined, buffers);
    });

  /** @param {Listener} next */
  follow = (next) => void (this.#listener = next);

  /** @type {Kernel["send"]} */
  send = (message, buffers) => this.#model.send(message, undefined, buffers);

  introduction = () => this.#model.get("_introduction");

  notice = () => this.#model.get("_notice");

  close() {
    this.#requests.forEach(({ reject }) => reject(new Error(say("kernel.gone"))));
    this.#requests.clear();
    this.#model.off("change:_numbers", this.#hear);
    this.#model.off("change:_introduction", this.#introduce);
    this.#model.off("msg:custom", this.#receive);
  }
}
