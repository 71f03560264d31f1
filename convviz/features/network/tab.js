import { tab } from "../../web/tabs/pane.js"; export default tab("network", () => () => {});
