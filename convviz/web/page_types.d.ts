// As types.d.ts, of folders that know the page.
type Player = import("./lesson/player.js").Player;
type Build = import("./tabs/pane.js").Build;
type PaneTools = import("./tabs/pane.js").PaneTools;
