// Git checkpoint: before the first change of each run, keeps the working tree as a commit that no branch points to, and
// gives it a tag `mica/checkpoint-N`. `git stash apply mica/checkpoint-N` brings it back. Nothing is done where there is
// no repository, or nothing to keep.
// @mica-extension {"description": "Keeps the working tree in git before each run changes it.", "permissions": ["exec:git"]}
import type { ExtensionFactory } from "mica";

const CHANGES = ["file_write", "file_edit", "shell"];

const gitCheckpoint: ExtensionFactory = (api) => {
  let kept = false;

  api.on("agent_start", () => {
    kept = false;
  });

  api.on("tool_call", async (event, ctx) => {
    if (kept || !CHANGES.includes(event.toolName)) return;
    kept = true;
    const made = await api.exec("git", ["stash", "create", "before a run of mica"]);
    const commit = made.stdout.trim();
    // No repository, or a tree without changes.
    if (made.code !== 0 || commit === "") return;
    const tags = await api.exec("git", ["tag", "--list", "mica/checkpoint-*"]);
    const number = tags.stdout.split("\n").filter((line) => line !== "").length + 1;
    const tagged = await api.exec("git", ["tag", `mica/checkpoint-${number}`, commit]);
    if (tagged.code === 0) ctx.ui.notify(`kept as mica/checkpoint-${number}`);
    else ctx.ui.notify(`no checkpoint: ${tagged.stderr.trim()}`, "warn");
  });
};

export default gitCheckpoint;
