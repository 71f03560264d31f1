// The widget that carries the app's script and sheet, once for all apps of a kernel. It is shown nowhere.
import { sharedPlace } from "../base/shared_script.js";
import { createApp } from "./widget_app.js";

const createCarrier = () => ({
  /** @param {{ model: any }} context */
  initialize({ model }) {
    sharedPlace(model.get("key")).give(createApp);
  },
  render() {},
});

export default createCarrier;
