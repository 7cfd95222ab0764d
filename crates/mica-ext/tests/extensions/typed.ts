// @mica-extension {"description": "Uses what the types offer, and what they must refuse."}
import { StringEnum, Type, type ExtensionFactory } from "mica";
import { Type as Same } from "@sinclair/typebox";

const typed: ExtensionFactory = async (api) => {
  api.registerTool({
    name: "greet",
    description: "Greets.",
    readOnly: true,
    parameters: Type.Object({
      name: Type.String({ description: "Who." }),
      how: Type.Optional(StringEnum(["loud", "soft"])),
      kind: Same.Union([Type.Literal("a"), Type.Literal("b")]),
      more: Type.Array(Type.Integer()),
    }),
    async execute(id, params, signal, onUpdate, ctx) {
      const name: string = params.name;
      const how: "loud" | "soft" | undefined = params.how;
      const kind: "a" | "b" = params.kind;
      const more: number[] = params.more;
      // @ts-expect-error A name is no number.
      const wrong: number = params.name;
      onUpdate("half");
      return { content: [{ type: "text", text: [id, name, how, kind, more, wrong, signal.aborted, ctx.cwd].join(" ") }] };
    },
  });

  // @ts-expect-error There is no such event.
  if (api === null) api.on("tool_cal", () => {});
  // @ts-expect-error It is called block.
  if (api === null) api.on("tool_call", () => ({ blocked: true }));
  // @ts-expect-error A block is yes or no.
  if (api === null) api.on("tool_call", async () => ({ block: "yes" }));
  // @ts-expect-error There is no such field.
  if (api === null) api.on("turn_end", (event) => event.nope);

  api.on("input", async (event) =>
    event.text === "x" ? { action: "transform", text: "y" } : { action: "continue" });
  api.on("context", async (event) => ({ messages: event.messages.filter((m) => m.customType !== "temporary") }));
  api.on("tool_call", async (event, ctx) => {
    if (event.input.path === "/" && !(await ctx.ui.confirm("Really?"))) return { block: true, reason: "no" };
  });
  api.on("tool_result", (event) => (event.isError ? { content: `It failed: ${event.content.length}` } : undefined));
  api.on("turn_end", (event) => console.log(event.turnIndex + 1));
  api.on("agent_end", (event) => { if (event.outcome === "completed") console.log(event.answer); });
  api.registerCommand("pick", {
    description: "Picks one.",
    handler: async (args, ctx) => {
      const picked = await ctx.ui.select("Which?", ["a", "b"]);
      const valued = await ctx.ui.select({ title: "Which?", options: [{ label: "one", value: 1 }] });
      return picked === "a" && valued === 1 ? { prompt: args } : `You picked ${picked}`;
    },
  });
  const timer = setTimeout((text) => console.log(text), 1000, "late");
  clearTimeout(timer);
};

export default typed;
