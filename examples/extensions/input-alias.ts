// Input aliases: what you type often, in a few letters. `/t parser` becomes a whole sentence, wherever you type it:
// at the prompt, with -p, or over a pipe. What begins with none of them goes on as it is.
// @mica-extension {"description": "Expands what you type often."}
import type { ExtensionFactory } from "mica";

const ALIASES: Record<string, (rest: string) => string> = {
  "/t": (rest) => `Write tests for ${rest || "what you changed last"}. Run them, and repair what they find.`,
  "/why": (rest) => `Explain why ${rest || "this is so"}, with the files and lines that show it. Change nothing.`,
};

const inputAlias: ExtensionFactory = (api) => {
  api.on("input", (event) => {
    const [name, ...rest] = event.text.trim().split(/\s+/);
    const expand = ALIASES[name];
    if (!expand) return { action: "continue" };
    return { action: "transform", text: expand(rest.join(" ")) };
  });
};

export default inputAlias;
