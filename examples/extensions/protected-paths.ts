// Protected paths: files that the agent reads and never changes, and those it asks about each time.
// Edit the two lists. A path is held against the patterns as the model wrote it and without `./` in front.
// @mica-extension {"description": "Keeps the agent from changing generated and released files."}
import type { ExtensionFactory } from "mica";

const NEVER = [/(^|\/)dist\//, /\.lock$/, /(^|\/)package-lock\.json$/];
const ASK = [/^migrations\//, /(^|\/)LICENSE/];
const WRITERS = ["file_write", "file_edit"];

const protectedPaths: ExtensionFactory = (api) => {
  api.on("tool_call", (event) => {
    if (!WRITERS.includes(event.toolName)) return;
    const path = String(event.input.path ?? "").replace(/^(\.\/)+/, "");
    if (NEVER.some((pattern) => pattern.test(path))) {
      return { block: true, reason: `${path} is protected: it is generated. Change what it is made from.` };
    }
    if (ASK.some((pattern) => pattern.test(path))) {
      return { ask: true, reason: `${path} is protected: a person looks at every change of it` };
    }
  });
};

export default protectedPaths;
