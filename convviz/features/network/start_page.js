// The start of a saved page: the pane alone, with what was recorded. The bundle before it gives `pane` and `values`.
const given = JSON.parse(document.getElementById("convviz-data").textContent);
const model = values.createValues({ ...given, theme: "auto", tab: "", busy: false, choices: {} });
document.getElementById("convviz-still").hidden = true;
pane.render({ model: Object.assign(model, { send() {} }), el: document.getElementById("convviz-network") });
