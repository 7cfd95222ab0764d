// A tool of one's own: the model can count the words of a text, which it does badly by itself.
// A tool has a name, a description that tells the model when to call it, parameters as a JSON Schema, and `execute`.
// @mica-extension {"description": "Gives the model a tool that counts words."}
import { Type, type ExtensionFactory } from "mica";

const customTool: ExtensionFactory = (api) => {
  api.registerTool({
    name: "count_words",
    label: "Count words",
    description: "Counts the words, characters and lines of a text. Call it instead of counting yourself.",
    parameters: Type.Object({
      text: Type.String({ description: "The text." }),
      longest: Type.Optional(Type.Integer({ minimum: 0, maximum: 20, description: "List so many of the longest words." })),
    }),
    readOnly: true,
    async execute(_id, params) {
      const { text, longest = 0 } = params as { text: string; longest?: number };
      const words = text.split(/\s+/).filter((word) => word !== "");
      const lines = [`${words.length} words, ${[...text].length} characters, ${text.split("\n").length} lines`];
      const unique = [...new Set(words)].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
      if (longest > 0) lines.push(`longest: ${unique.slice(0, longest).join(", ")}`);
      return { content: [{ type: "text", text: lines.join("\n") }], details: { words: words.length } };
    },
  });
};

export default customTool;
