// Status line: how many turns this session took and how full the window is, in front of the prompt.
// @mica-extension {"description": "Shows turns and how full the window is."}
import type { ExtensionFactory } from "mica";

const statusLine: ExtensionFactory = (api) => {
  let turns = 0;
  api.on("turn_end", (_event, ctx) => {
    turns += 1;
    const { contextWindow, percent } = ctx.getContextUsage();
    const full = contextWindow > 0 ? `, ${Math.round(percent)} % full` : "";
    ctx.ui.setStatus("turns", `${turns} turn${turns === 1 ? "" : "s"}${full}`);
  });
};

export default statusLine;
