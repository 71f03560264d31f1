// As types.d.ts, of folders that know the page.
type Pointed = import("./base/pointed_cell_events.js").Pointed;
type Shared = import("./board/board_context.js").Shared;
type Plotly = import("./board/panel/load_plotly.js").Plotly;
type Panel = import("./board/panel/panel.js").Panel;
type PanelSpec = import("./board/panel/panel.js").PanelSpec;
type Player = import("./lesson/player.js").Player;
type Build = import("./tabs/pane.js").Build;
type PaneTools = import("./tabs/pane.js").PaneTools;
type DrawPane = import("./tabs/tabbar.js").DrawPane;
