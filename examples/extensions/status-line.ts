// Status line: how many turns this session took and how full the window is, in front of the prompt.
// @mica-extension {"description": "Shows turns and how full the window is."}
import type { ExtensionFactory } from "mica";

const statusLine: ExtensionFactory = (api) => {
  let turns = 0;
  api.on("turn_end", (_event, ctx) => {
    turns += 1;
    const { tokens, window } = ctx.getContextUsage();
    const full = window > 0 ? `, ${Math.round((100 * tokens) / window)} % full` : "";
    ctx.ui.setStatus("turns", `${turns} turn${turns === 1 ? "" : "s"}${full}`);
  });
};

export default statusLine;
