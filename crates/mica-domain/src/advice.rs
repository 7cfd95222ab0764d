//! When to use which of the generic tools: one line for each case, and only those whose tools are there.

use mica_context::section::ToolNames;

/// Tools that a line is about, and the line. It is said when all of them are there.
const LINES: &[(&[&str], &str)] = &[
    (&["grep"], "Find code by what is in it with `grep`; begin narrow, and use its counts before you widen."),
    (&["glob"], "Find files by name with `glob`."),
    (&["file_read"], "Read with `file_read`. For a long file, read the part that `offset` and `limit` name."),
    (
        &["file_edit"],
        "Change files with `file_edit`: quote `old` exactly as the file has it, without line numbers, with enough lines to \
         be unique; put several changes of one file into one call.",
    ),
    (
        &["file_write", "file_edit"],
        "Use `file_write` for new files only, or when nearly all of a file changes.",
    ),
    (
        &["file_read", "file_edit"],
        "After a failed edit, read that part of the file again before the next try.",
    ),
    (
        &["todo_write"],
        "For work of three steps or more, keep a list with `todo_write`: one item in progress, and completed only when it \
         is. Not for a single small task.",
    ),
    (
        &["ask_user_question"],
        "Look before you ask. What only the user can decide, ask with `ask_user_question`, all of it at once; do not ask \
         whether you may go on.",
    ),
    (
        &["enter_plan_mode", "exit_plan_mode"],
        "Before large changes, or when there are quite different ways, ask to plan first with `enter_plan_mode`. In plan \
         mode, write the plan, then present it with `exit_plan_mode`; a plan is agreed to there and nowhere else.",
    ),
    (
        &["shell"],
        "Use `shell` for builds, tests, version control and the project's own programs. Do not read, list, search or \
         change files with it when there is a tool for that.",
    ),
    (
        &["shell", "task_output", "kill_task"],
        "Start servers and long builds with `shell` in the background, go on with other work, look with `task_output`, and \
         end with `kill_task` what is no longer needed.",
    ),
    (
        &["shell", "file_edit"],
        "After a change, run the checks or tests that the project has, and read what they say.",
    ),
    (
        &["create_subagent"],
        "Send a subagent with `create_subagent` for a search that would take many steps and whose steps nobody needs, or for \
         work that stands alone; put several into one answer when they do not depend on each other. Do small things \
         yourself: it knows nothing of this conversation and reads everything anew.",
    ),
    (
        &["create_subagent"],
        "What a subagent says is a report, not a fact: check what matters before you build on it. When one failed, do not \
         send the same one again.",
    ),
];

/// Said when nothing can be changed.
const READ_ONLY: &str = "You cannot change files now. Show the change you would make instead.";

/// The lines for the tools that are there. Empty when there are none.
pub fn text(tools: &ToolNames) -> String {
    if tools.is_empty() {
        return String::new();
    }
    let mut text = "# Tools\n".to_owned();
    let mut say = |line: &str| {
        text.push_str("\n- ");
        text.push_str(line);
    };
    for (needed, line) in LINES {
        if needed.iter().all(|name| tools.has(name)) {
            say(line);
        }
    }
    if !tools.has("file_edit") && !tools.has("file_write") {
        say(READ_ONLY);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tools_that_are_there() {
        let text = |names: &[&str]| text(&names.iter().copied().collect());
        assert_eq!(text(&[]), "");
        assert_eq!(
            text(&["glob"]),
            "# Tools\n\n- Find files by name with `glob`.\n- You cannot change files now. Show the change you would make \
             instead."
        );
        assert!(!text(&["file_edit"]).contains("file_write"));
        assert!(
            !text(&["file_edit", "enter_plan_mode"]).contains("plan_mode"),
            "one without the other is no way out"
        );
        let people = text(&["todo_write", "ask_user_question", "enter_plan_mode", "exit_plan_mode"]);
        assert_eq!(people.lines().count(), 6, "{people}");
        assert!(!text(&["file_edit", "task_output"]).contains("shell"));
        assert!(!text(&["file_edit", "shell"]).contains("task_output"));
    }
}
