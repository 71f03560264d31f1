// A page in the place of VS Code's or Colab's: their own widget managers, beside a kernel that is the test's process.
// The test gives `toKernel`, which answers with what the kernel has to say; MODEL is the app's id.

const bytesOf = (part) =>
  part instanceof ArrayBuffer
    ? new Uint8Array(part)
    : new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
const pack = (part) => btoa(Array.from(bytesOf(part), (byte) => String.fromCharCode(byte)).join(""));
const unpack = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
const listeners = new Map();
let opened = () => {};

async function ask(message) {
  return JSON.parse(await window.toKernel(JSON.stringify(message)));
}

function deliver(messages) {
  for (const message of messages) {
    message.buffers = message.buffers.map(unpack);
    if (message.type === "comm_open") opened(message);
    else listeners.get(message.id)?.(message);
  }
}

async function poll() {
  deliver(await ask({ type: "poll" }));
  setTimeout(poll, 20);
}

const send = async (id, data, buffers = []) =>
  deliver(await ask({ type: "message", id, data, buffers: buffers.map(pack) }));

/** Colab's manager: https://github.com/googlecolab/colab-cdn-widget-manager, whose src/api.ts says what it is given. */
async function colab() {
  const { createWidgetManager } = await import("/manager.js");

  function channel(id) {
    const queue = [];
    let wake = () => {};
    listeners.set(id, ({ data, buffers }) => {
      queue.push({ data, buffers: buffers.length ? buffers : undefined });
      wake();
    });
    return {
      async send(data, options) {
        const copied = structuredClone({ data, buffers: options?.buffers }); // between frames nothing else passes
        await send(id, copied.data, copied.buffers);
      },
      close() {},
      messages: {
        async *[Symbol.asyncIterator]() {
          for (;;) {
            while (queue.length) yield structuredClone(queue.shift());
            await new Promise((done) => (wake = done));
          }
        },
      },
    };
  }

  const manager = createWidgetManager({
    async getModelState(id) {
      const { state, paths, buffers } = await ask({ type: "state", id });
      paths.forEach((path, index) => {
        const holder = path.slice(0, -1).reduce((inner, key) => inner[key], state);
        holder[path[path.length - 1]] = unpack(buffers[index]);
      });
      const {
        _model_name: modelName,
        _model_module: modelModule,
        _model_module_version: modelModuleVersion,
      } = state;
      return { modelName, modelModule, modelModuleVersion, state, comm: channel(id) };
    },
    async openCommChannel() {
      throw new Error("the app opens no channel from the page");
    },
    async renderOutput() {},
  });
  await ask({ type: "poll" }); // Colab's page has heard that the widgets were made; their state is asked for
  opened = ({ id, data, buffers }) => manager.commChannelOpened(id, channel(id), data, buffers);
  await manager.render(window.MODEL, document.querySelector("main"));
}

const signal = () => ({ connect: () => true, disconnect: () => true });
const signals = [
  "statusChanged",
  "connectionStatusChanged",
  "iopubMessage",
  "unhandledMessage",
  "anyMessage",
  "disposed",
  "pendingInput",
];
const header = (type) => ({
  header: { msg_id: crypto.randomUUID(), msg_type: type },
  parent_header: {},
  metadata: {},
});
const views = (buffers) => buffers.map((buffer) => new DataView(buffer));

function comm(commId, targetName) {
  const made = {
    commId,
    targetName,
    isDisposed: false,
    open: () => ({ done: Promise.resolve() }),
    close() {},
    send(data, _, buffers) {
      const future = {
        msg: header("comm_msg"),
        done: send(commId, JSON.parse(JSON.stringify(data)), buffers),
      };
      future.done.then(() =>
        future.onIOPub?.({
          ...header("status"),
          parent_header: future.msg.header,
          content: { execution_state: "idle" },
        }),
      );
      return future;
    },
  };
  listeners.set(commId, ({ data, buffers }) =>
    made.onMsg?.({ ...header("comm_msg"), content: { comm_id: commId, data }, buffers: views(buffers) }),
  );
  return made;
}

/** VS Code's manager: @vscode/jupyter-ipywidgets8 from npm, in which is JupyterLab's, with a kernel's connection. */
async function vscode() {
  const modules = new Map();
  let last = null;
  window.define = (name, needs, make = needs) => {
    if (typeof name === "string") modules.set(name, make());
    else last = needs(...name.map((each) => modules.get(each)));
  };
  window.requirejs = async ([name], done, failed) => {
    if (!modules.has(name)) {
      const script = document.createElement("script");
      script.src = `/${name}.js`;
      await new Promise(
        (loaded, lost) =>
          Object.assign(script, { onload: loaded, onerror: lost }) && document.head.append(script),
      ).catch(failed);
      modules.set(name, last);
    }
    done(modules.get(name));
  };
  (await import("/manager.js")).activate();
  window.vscIPyWidgets8.load();

  let target = async () => {};
  const kernel = {
    id: "kernel",
    name: "python3",
    username: "",
    clientId: "page",
    status: "idle",
    connectionStatus: "connected",
    isDisposed: false,
    handleComms: true,
    ...Object.fromEntries(signals.map((name) => [name, signal()])),
    model: { id: "kernel", name: "python3" },
    info: Promise.resolve({}),
    registerCommTarget: (_, answer) => (target = answer),
    removeCommTarget() {},
    createComm: (name, id) => comm(id, name),
    hasComm: () => false,
    requestCommInfo: async () => ({ content: { status: "ok", comms: {} } }),
  };
  const main = document.querySelector("main");
  const manager = new window.vscIPyWidgets.WidgetManager(
    kernel,
    main,
    {
      widgetsRegisteredInRequireJs: new Set(),
      errorHandler: (...what) => console.error(...what.map(String)),
      successHandler() {},
      async loadWidgetScript() {},
    },
    () => {},
  );
  opened = ({ id, data, metadata, buffers }) =>
    target(comm(id, "jupyter.widget"), {
      ...header("comm_open"),
      metadata,
      content: { comm_id: id, target_name: "jupyter.widget", data },
      buffers: views(buffers),
    });
  deliver(await ask({ type: "poll" }));
  const view = await manager.create_view(await manager.get_model(window.MODEL), {});
  await manager.display_view(undefined, view, { node: main });
}

await { colab, vscode }[window.MANAGER]();
poll();
