// The start of a saved page: the pane alone, with what was recorded. The bundle before it gives `pane` and `values`.
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const given = JSON.parse(element("convviz-data").textContent ?? "");
const model = values.createValues({ ...given, theme: "auto", tab: "", busy: false, choices: {} });
element("convviz-still").hidden = true;
pane.render({ model: Object.assign(model, { send() {} }), el: element("convviz-network") });
