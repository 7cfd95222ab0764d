//! When to use which tool: one line for each case, and only those whose tools are there.

use mica_domain::ToolNames;

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
pub(crate) fn text(tools: &ToolNames) -> String {
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
    }
}
