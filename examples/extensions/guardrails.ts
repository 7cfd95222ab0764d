// Guardrails: asks a person before a call with something dangerous in it runs, and logs what every call came to.
// Where nobody can be asked, such a call does not run. `mica ext log guardrails` shows the log.
import type { ExtensionFactory } from "mica";

// What nobody means to run by accident, and what to say of it.
const DANGERS: [RegExp, string][] = [
  [/\brm\s+(-\w+\s+)*-\w*r\w*\s+(-\w+\s+)*[/~]/i, "deletes a whole tree"],
  [/\b(drop|truncate)\s+(database|schema|table)\b/i, "throws data away"],
  [/\bdelete\s+from\s+[\w.]+\s*(;|\\?"|$)/i, "empties a table"],
  [/\bgit\s+push\b[^"]*\s(-f|--force)\b/, "takes back what others may have"],
];

const guardrails: ExtensionFactory = (api) => {
  api.on("tool_call", async (event, ctx) => {
    const words = JSON.stringify(event.input);
    const danger = DANGERS.find(([pattern]) => pattern.test(words));
    if (!danger) return;
    const [, does] = danger;
    if (await ctx.ui.confirm(`${event.toolName} ${does}. Run it?\n${words}`)) return;
    return { block: true, reason: `nobody agreed to it, and it ${does}` };
  });

  api.on("tool_result", (event) => {
    console.log(`${event.toolName} ${event.isError ? "failed" : "worked"}`);
  });
};

export default guardrails;
