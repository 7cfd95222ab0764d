// Audit log: keeps what every call came to, in the session (it follows branches) and as a count over all sessions.
// `/audit` shows both; `/audit clear` begins the count anew.
// @mica-extension {"description": "Keeps what every call came to; /audit shows it.", "permissions": ["storage"]}
import type { ExtensionFactory } from "mica";

interface Call {
  tool: string;
  ok: boolean;
}

const auditLog: ExtensionFactory = (api) => {
  api.on("tool_result", async (event) => {
    const call: Call = { tool: event.toolName, ok: !event.isError };
    await api.appendEntry("call", call);
    const counts = ((await api.storage.get("counts")) ?? {}) as Record<string, number>;
    counts[call.tool] = (counts[call.tool] ?? 0) + 1;
    await api.storage.set("counts", counts);
  });

  api.registerCommand("audit", {
    description: "what calls came to: in this session, and how many in all",
    handler: async (args) => {
      if (args.trim() === "clear") {
        await api.storage.delete("counts");
        return "the count begins anew";
      }
      const calls = await api.getEntries("call");
      const lines = calls.map((entry, at) => {
        const { tool, ok } = entry.data as Call;
        return `${at + 1}. ${tool}: ${ok ? "ok" : "failed"}`;
      });
      const counts = ((await api.storage.get("counts")) ?? {}) as Record<string, number>;
      const all = Object.keys(counts).sort().map((tool) => `${tool} ${counts[tool]}`);
      return [...lines, `in all sessions: ${all.join(", ") || "nothing"}`].join("\n");
    },
  });
};

export default auditLog;
