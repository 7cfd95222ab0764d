// NAME: say here what it is for.
//
// What it needs beyond listening stands in the next line, and you allow it with `mica ext allow NAME`: "exec:git" runs git,
// "fetch:api.example.com" asks that host, "storage" keeps values, "messages" speaks to the model, "agent" chooses tools.
// @mica-extension {"description": "Does something.", "permissions": []}
//
// `mica docs extensions` has everything; `mica ext check FILE` tries it; changes count before your next input.
import { Type, type ExtensionFactory } from "mica";

const extension: ExtensionFactory = (api) => {
  // Before a tool runs. Return nothing to let it pass, { block: true, reason } to refuse it, { ask: true, reason } to have
  // a person decide. If this throws or takes too long, the call is refused.
  api.on("tool_call", (event) => {
    if (event.toolName === "shell" && String(event.input.command).includes("--force")) {
      return { ask: true, reason: "it uses --force" };
    }
  });

  // A command: what you type behind a slash. What it returns is shown.
  api.registerCommand("NAME", {
    description: "says hello",
    handler: async (args, ctx) => `hello ${args || "there"}, from ${ctx.cwd}`,
  });

  // A tool: what the model can call.
  api.registerTool({
    name: "roll_dice",
    description: "Rolls dice, and tells what came up.",
    parameters: Type.Object({ count: Type.Integer({ minimum: 1, maximum: 20 }) }),
    readOnly: true,
    async execute(_id, params) {
      const { count } = params as { count: number };
      const rolled = Array.from({ length: count }, () => 1 + Math.floor(Math.random() * 6));
      return { content: rolled.join(" ") };
    },
  });
};

export default extension;
