// @mica-extension {"description": "Asks before what cannot be undone, and writes down what ran."}
import type { ExtensionFactory } from "mica";

/** What nobody can bring back. */
const DESTROYS = [/\brm\s+-[a-z]*r[a-z]*\s+\//, /\bdrop\s+(table|database)\b/i, /\bmkfs\b/];

const guard: ExtensionFactory = (api) => {
  api.on("tool_call", async (event, ctx) => {
    const said = JSON.stringify(event.input);
    if (!DESTROYS.some((pattern) => pattern.test(said))) return undefined;
    const sure = await ctx.ui.confirm("This cannot be undone", said);
    return sure ? undefined : { block: true, reason: "nobody confirmed it" };
  });

  api.on("tool_result", (event) => {
    console.log(`${event.toolName} ${event.isError ? "failed" : "worked"}`);
  });
};

export default guard;
