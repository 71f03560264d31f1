// Made by python -m convviz.serve.template: change what it is made of, and make it anew.
(() => {
  const { voila_page } = (() => {
    const $facts_language = { tag: "en", name: "English" };
    const $facts_words_served = {
      "live.version":
        "This page is of convviz {page} and the server of {server}, so torch cannot answer it: load the page again. The board computes in this page meanwhile.",
      "live.swallowed":
        "Torch is away: a proxy lets no websocket through. It must pass on Upgrade, Connection and Host (nginx: proxy_set_header, see deploy/nginx.conf).",
      "live.foreign":
        "Torch is away: the server answers 403. Either a proxy changes the Host (--allow-host {host} allows it), or your login has ended: load the page again.",
      "live.refused":
        "Torch is away: the server answers {status} where torch is asked, and is asked again and again. The board computes in this page meanwhile; your settings stay.",
      title: "convviz · the backward pass of conv2d",
      heading: "The backward pass of conv2d, live",
      skip: "Skip to the app",
      reload: "Reload with my settings",
      restart: "Reload from the start",
      noscript:
        "convviz needs JavaScript: the numbers on this page are computed while you move the controls.",
      late: "The script of this page has not started yet. A browser does not run it from a file (an address that begins with file:): serve the folder with `python -m http.server` and open http://localhost:8000/. In a sandboxed frame it runs only if its host sends `Access-Control-Allow-Origin: *` with the files in convviz/.",
      starting: "Starting a kernel …",
      torch: "Loading torch …",
      drawing: "Drawing …",
      slow: "Still working: the first start on a machine can take a minute.",
      failed: "The app could not start. The reason stands below.",
      partial: "Only a part of this page arrived, because the server stopped while sending it.",
      reconnecting: "The connection to the server is lost. Trying to reconnect …",
      silent:
        "The kernel has not answered for 5 seconds: it is busy, or it hangs. What you do now waits until it answers.",
      ended: "The kernel behind this page has ended: what you see stays, but the controls no longer answer.",
      gone: "The server no longer answers, so the controls are dead. Reload once it runs again.",
      "live.reconnecting":
        "The connection to the server is lost, and is being tried again. The board computes in this page meanwhile.",
      "live.gone":
        "The server does not answer, and is asked again and again. The board computes in this page meanwhile; your settings stay.",
      "live.plotly":
        "Plotly could not be fetched ({why}): it is tried again; colours and numbers are all there.",
      "live.failed":
        "Torch is away: the server can start no worker with torch, and tries again; its log says why. The board computes in this page meanwhile; your settings stay.",
    };
    const { language, sentences, pieces } = (() => {
      const LANGUAGE = $facts_language;
      const ARGUMENT = /\{(\w+)\}/g;
      const language = () => LANGUAGE.tag;
      const PLURALS = new Intl.PluralRules(language());
      const FINGERS = globalThis.matchMedia?.("(pointer: coarse), (max-width: 480px)");
      const byTouch = () => Boolean(FINGERS?.matches);
      const sentences =
        (words) =>
        (id, values = {}) =>
          filled(id, (byTouch() && words[`${id}.touch`]) || words[id], values);
      function pieces(words) {
        const say = sentences(words);
        function sayPieces(id, values) {
          const places = Object.fromEntries(
            Object.keys(values).map((name) => [name, name === "count" ? Number(values[name]) : `{${name}}`]),
          );
          const isText = (part) => typeof part === "string" || typeof part === "number";
          return say(id, places)
            .split(ARGUMENT)
            .flatMap((part, index) => (index % 2 ? values[part] : part))
            .map((part) => (isText(part) ? String(part) : part))
            .filter((part) => part !== "");
        }
        return sayPieces;
      }
      function filled(id, text, values) {
        const chosen =
          typeof text === "string" ? text : (text[PLURALS.select(Number(values.count))] ?? text.other);
        if (chosen === undefined) throw new Error(`there is no sentence ${id} for ${JSON.stringify(values)}`);
        return chosen.replace(ARGUMENT, (_, name) => {
          if (!(name in values))
            throw new Error(`the sentence ${id} needs ${name}: got ${Object.keys(values).join(", ")}`);
          return String(values[name]);
        });
      }
      return { language, sentences, pieces };
    })();
    const { createPauses } = (() => {
      const FIRST_MS = 1000;
      const MOST_MS = 30_000;
      function createPauses(random = Math.random) {
        let next = FIRST_MS;
        return {
          next() {
            const pause = next * (0.5 + random());
            next = Math.min(2 * next, MOST_MS);
            return pause;
          },
          reset: () => void (next = FIRST_MS),
        };
      }
      return { createPauses };
    })();
    const { KernelState } = (() => {
      class KernelState {
        #state = "";
        #say;
        #onLost;
        constructor(say, onLost) {
          this.#say = say;
          this.#onLost = onLost;
        }
        get now() {
          return this.#state;
        }
        get over() {
          return this.#state === "lost";
        }
        enter(next) {
          if (this.over) return;
          this.#state = next;
          document.body.dataset.convvizKernel = next;
        }
        show(trouble) {
          this.showSentence(this.#say(trouble));
        }
        showSentence(sentence) {
          const banner = document.getElementById("convviz-lost");
          const text = document.getElementById("convviz-lost-text");
          if (!banner || !text || this.over) return;
          banner.hidden = false;
          text.textContent = sentence;
        }
        hide() {
          const banner = document.getElementById("convviz-lost");
          if (banner && !this.over) banner.hidden = true;
        }
        lose(trouble) {
          this.end(this.#say(trouble));
        }
        end(sentence) {
          if (this.over) return;
          this.showSentence(sentence);
          this.enter("lost");
          this.#onLost();
        }
      }
      return { KernelState };
    })();
    const { watchKernel } = (() => {
      const ANSWERS_WITHIN_MS = 5000;
      const DEAD = new Set(["dead", "restarting", "autorestarting", "terminating"]);
      function watchKernel(kernel, address, state, isBuilding = () => false) {
        const onConnection = (status) => {
          if (state.over) return;
          if (status === "connected") {
            state.enter("ok");
            state.hide();
          } else if (state.now === "ok" || (state.now !== "reconnecting" && status === "disconnected")) {
            state.enter("reconnecting");
            state.show("reconnecting");
            probe(kernel, address, state, createPauses());
          }
        };
        kernel.statusChanged.connect((_, status) => {
          if (DEAD.has(status)) state.lose("ended");
        });
        kernel.connectionStatusChanged.connect((_, status) => onConnection(status));
        kernel.iopubMessage.connect((_, message) => {
          if (message.header.msg_type === "shutdown_reply") state.lose("ended");
        });
        watchAnswers(kernel, address, state, isBuilding);
        if (DEAD.has(kernel.status)) state.lose("ended");
        else onConnection(kernel.connectionStatus);
      }
      async function probe(kernel, address, state, pauses) {
        if (state.now !== "reconnecting") return;
        try {
          if ((await isThere(address, state)) && kernel.connectionStatus === "disconnected")
            kernel.reconnect().catch(() => {});
        } catch {
          if (state.now === "reconnecting") state.show("gone");
        }
        setTimeout(() => probe(kernel, address, state, pauses), pauses.next());
      }
      async function isThere(address, state) {
        const answer = await fetch(address, { cache: "no-store" });
        if (answer.status === 404) state.lose("missing");
        return answer.ok;
      }
      function watchAnswers(kernel, address, state, isBuilding) {
        const moves = new Set();
        let timer = 0;
        let told = false;
        const look = (pauses) => {
          if (!told || state.now !== "ok") return;
          isThere(address, state).catch(() => {});
          setTimeout(look, pauses.next(), pauses);
        };
        const tell = () => {
          timer = 0;
          if (state.now !== "ok") return;
          told = true;
          state.show("silent");
          look(createPauses());
        };
        const settle = () => {
          clearTimeout(timer);
          timer = moves.size ? setTimeout(tell, ANSWERS_WITHIN_MS) : 0;
          if (told && state.now === "ok") state.hide();
          told = false;
        };
        kernel.anyMessage.connect((_, { msg, direction }) => {
          if (direction === "send") {
            if (msg.header.msg_type !== "comm_msg" || isBuilding()) return;
            moves.add(msg.header.msg_id);
            if (!timer && !told) timer = setTimeout(tell, ANSWERS_WITHIN_MS);
          } else if (moves.has(msg.parent_header.msg_id)) {
            if (msg.header.msg_type === "status" && msg.content.execution_state === "idle")
              forgetUpTo(moves, msg.parent_header.msg_id);
            settle();
          }
        });
        kernel.connectionStatusChanged.connect(() => {
          moves.clear();
          settle();
        });
      }
      function forgetUpTo(moves, last) {
        for (const move of moves) {
          moves.delete(move);
          if (move === last) break;
        }
      }
      return { watchKernel };
    })();
    const $page_voila_page = (() => {
      const WORDS = $facts_words_served;
      const SLOW_AFTER_MS = 20000;
      const WIDGETS_WITHOUT_APP_MS = 3000;
      const FRONT_END_EVERY_MS = 100;
      const say = sentences(WORDS);
      const SENTENCES = {
        reconnecting: say("reconnecting"),
        silent: say("silent"),
        ended: say("ended"),
        missing: say("ended"),
        gone: say("gone"),
      };
      const byId = (id) => document.getElementById(id);
      const base = () => new URL(document.body.dataset.baseUrl ?? "/voila/", location.href);
      const endLoading = () => void byId("convviz-loading")?.remove();
      function start() {
        const state = new KernelState((trouble) => SENTENCES[trouble], endLoading);
        let arrived = false;
        tellProgress(() => {
          arrived = true;
        });
        document.addEventListener("DOMContentLoaded", () => {
          wireButtons();
          watchForApp(state);
          followTheme();
          if (arrived) waitForFrontEnd(state);
          else state.end(say("partial"));
        });
        window.addEventListener("pagehide", () => {
          const facts = byId("jupyter-config-data")?.textContent;
          const kernel = facts && JSON.parse(facts).kernelId;
          if (kernel) navigator.sendBeacon(new URL(`api/shutdown/${kernel}`, base()));
        });
        window.addEventListener("pageshow", (event) => event.persisted && state.lose("ended"));
      }
      function tellProgress(onArrived) {
        const page = window;
        let slow = "";
        page.voila_process = (cell, count) => {
          const line = byId("convviz-loading");
          if (line) line.textContent = say(cell < count ? "torch" : "drawing") + slow;
        };
        page.voila_heartbeat = () => {};
        page.voila_finish = onArrived;
        setTimeout(() => {
          const line = byId("convviz-loading");
          slow = ` ${say("slow")}`;
          if (line) line.textContent += slow;
        }, SLOW_AFTER_MS);
      }
      function watchForApp(state) {
        const main = byId("convviz-main");
        if (!main) return;
        let timer = 0;
        const done = () => {
          observer.disconnect();
          clearTimeout(timer);
          endLoading();
        };
        const look = () => {
          if (main.querySelector(".cv-board")) {
            done();
          } else if (main.querySelector('[data-mime-type="application/vnd.jupyter.stderr"]')) {
            done();
            state.showSentence(say("failed"));
          } else if (!timer && main.querySelector(".jupyter-widgets, .jupyter-widget")) {
            timer = setTimeout(() => main.querySelector(".cv-app") || done(), WIDGETS_WITHOUT_APP_MS);
          }
        };
        const observer = new MutationObserver(look);
        observer.observe(main, { childList: true, subtree: true });
        look();
      }
      function waitForFrontEnd(state) {
        const app = window.jupyterapp;
        if (!app) return setTimeout(waitForFrontEnd, FRONT_END_EVERY_MS, state);
        const isBuilding = () => byId("convviz-loading") !== null;
        app.widgetManagerPromise.promise.then(({ kernel }) =>
          watchKernel(kernel, new URL(`../api/kernels/${kernel.id}`, base()), state, isBuilding),
        );
      }
      function wireButtons() {
        byId("convviz-reload")?.addEventListener("click", () => {
          window.dispatchEvent(new CustomEvent("convviz:save"));
          location.reload();
        });
        byId("convviz-restart")?.addEventListener("click", () => {
          history.replaceState(null, "", location.pathname + location.search);
          location.reload();
        });
      }
      function followTheme() {
        const root = document.documentElement;
        const media = { dark: "all", light: "not all" };
        const apply = () => {
          const sheet = byId("convviz-dark");
          if (sheet instanceof HTMLLinkElement)
            sheet.media = media[root.dataset.convvizTheme ?? ""] ?? "(prefers-color-scheme: dark)";
        };
        new MutationObserver(apply).observe(root, {
          attributes: true,
          attributeFilter: ["data-convviz-theme"],
        });
        apply();
      }
      const default_ = { start };
      return { default: default_ };
    })();
    return { voila_page: $page_voila_page.default };
  })();
  voila_page.start();
})();
