// Guardrails: asks a person before a call with something dangerous in it runs, and logs what every call came to.
// Where nobody can be asked, such a call does not run. `mica ext log guardrails` shows the log.
import type { ExtensionFactory } from "mica";

const guardrailsExtension: ExtensionFactory = (api) => {
  // Block dangerous patterns
  api.on("tool_call", async (event, ctx) => {
    const blockedPatterns = [
      /rm\s+-rf\s+\//,
      /DROP\s+DATABASE/i,
      /DELETE\s+FROM\s+\w+\s*;/i,
    ];

    const input = JSON.stringify(event.input);
    for (const pattern of blockedPatterns) {
      if (pattern.test(input)) {
        const confirmed = await ctx.ui.confirm(
          `⚠️ Potentially dangerous operation detected:\n${input}\n\nProceed?`
        );
        if (!confirmed) {
          return { block: true, reason: "Blocked by guardrails" };
        }
      }
    }

    return undefined;
  });

  // Log all tool executions
  api.on("tool_result", async (event) => {
    console.log(`[AUDIT] ${event.toolName}: ${event.isError ? "FAILED" : "OK"}`);
    return undefined;
  });
};

export default guardrailsExtension;
