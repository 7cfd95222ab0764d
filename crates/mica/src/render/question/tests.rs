//! Questions as they look.

use mica_ai::arguments::Arguments;
use mica_ai::message::ToolCall;
use serde_json::json;

use super::*;

fn ask(tool: &str, arguments: Value, preview: Option<Preview>) -> Ask {
    let call =
        ToolCall { id: "c1".into(), name: tool.to_owned(), arguments: Arguments::from_value(&arguments) };
    Ask::new(call, arguments, "It asks before it runs.".to_owned(), None).showing(preview)
}

fn changes(lines: usize) -> Option<Preview> {
    let rows: String = (0..lines).map(|line| format!("+line {line}\n")).collect();
    let diff = format!("--- a/src/a.txt\n+++ b/src/a.txt\n@@ -0,0 +1,{lines} @@\n{rows}");
    Some(Preview::Diff { title: "src/a.txt".to_owned(), diff, added: lines, removed: 0 })
}

#[test]
fn a_change_is_shown_as_a_diff() {
    let preview = Preview::Diff {
        title: "a.txt".to_owned(),
        diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n hello\n-world\n+mica\n".to_owned(),
        added: 1,
        removed: 1,
    };
    let ask = ask("file_edit", json!({ "path": "a.txt" }), Some(preview));
    assert_eq!(
        question(&ask, Length::Short, Paint::Plain),
        "file_edit a.txt (+1 -1)\n  @@ -1,2 +1,2 @@\n   hello\n  -world\n  +mica\n  It asks before it runs.\n  [y]es, \
         [n]o, or say what to do instead:"
    );
    assert!(question(&ask, Length::Short, Paint::Colours).contains("\n  \x1b[32m+mica\x1b[0m\n"));
    assert_eq!(short(&ask), "file_edit a.txt (+1 -1)");
}

#[test]
fn a_long_change_is_cut_and_can_be_seen_whole() {
    let ask = ask("file_write", json!({}), changes(40));
    let text = question(&ask, Length::Short, Paint::Plain);
    assert_eq!(text.lines().count(), 1 + ROWS + 3);
    assert!(text.contains("\n  +line 16\n  … 23 more lines\n"), "{text}");
    assert!(text.ends_with("[y]es, [n]o, [a]ll of it, or say what to do instead:"));
    let whole = question(&ask, Length::Whole, Paint::Plain);
    assert!(whole.contains("\n  +line 39\n") && !whole.contains("more lines"), "{whole}");
    // The row that says how much is missing takes the place of the one that would be.
    let fits = self::ask("file_write", json!({}), changes(ROWS));
    assert_eq!(question(&fits, Length::Short, Paint::Plain), question(&fits, Length::Whole, Paint::Plain));
}

#[test]
fn other_calls_show_their_arguments_by_name() {
    let arguments = json!({
        "url": "http://localhost",
        "retries": 3,
        "body": "one\ntwo",
        "headers": { "accept": "json" },
        "edits": [{ "old": "a", "new": "b" }],
        "tags": ["x", "y"],
    });
    let ask = ask("http_post", arguments, None);
    assert_eq!(
        question(&ask, Length::Short, Paint::Plain),
        "http_post\n  url: http://localhost\n  retries: 3\n  body:\n    one\n    two\n  headers:\n    accept: json\n  edits:\n    - \
         old: a\n      new: b\n  tags: [\"x\",\"y\"]\n  It asks before it runs.\n  [y]es, [n]o, or say what to do instead:"
    );
    assert_eq!(short(&self::ask("deploy", json!({ "to": "prod" }), None)), "deploy to=prod");
}

#[test]
fn what_would_fail_says_so() {
    let preview = Some(Preview::Fails { reason: "old was not found.\nThe nearest is:".to_owned() });
    let ask = ask("file_edit", json!({ "path": "a.txt", "old": "x" }), preview);
    assert_eq!(
        question(&ask, Length::Short, Paint::Plain),
        "file_edit a.txt\n  as things are now, this fails:\n    old was not found.\n    The nearest is:\n  path: a.txt\n  old: x\n  \
         It asks before it runs.\n  [y]es, [n]o, or say what to do instead:"
    );
    assert_eq!(short(&ask), "file_edit a.txt (as things are now it fails: old was not found.)");
}

#[test]
fn nothing_in_a_question_moves_the_cursor_or_hides() {
    assert_eq!(plain("a\x1b[2Jb\u{202e}c\u{200b}d\te\r"), "a\\u{1b}[2Jb\\u{202e}c\\u{200b}d    e␍");
    let evil = ask("x\x1b[1A", json!({ "a\x07": "\x1b[2K\n\x1b[1A" }), None);
    let text = question(&evil, Length::Whole, Paint::Plain);
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
}

#[test]
fn a_plan_is_shown_as_it_is_written() {
    let text = "# Retries\n\n1. Add them.\n\u{1b}[8mhidden".to_owned();
    let preview = Preview::Text { title: "Retries".to_owned(), text: text.clone() };
    let ask = ask("exit_plan_mode", json!({ "plan": text }), Some(preview));
    assert_eq!(
        question(&ask, Length::Short, Paint::Plain),
        "exit_plan_mode: Retries\n  # Retries\n  \n  1. Add them.\n  \\u{1b}[8mhidden\n  It asks before it runs.\n  \
         [y]es, [n]o, or say what to do instead:"
    );
    assert_eq!(short(&ask), "exit_plan_mode: Retries");
}

#[test]
fn what_can_be_remembered_is_a_choice() {
    let proposals = vec![
        Proposal::new(Scope::Session, "a", "commands that begin with: mvn test"),
        Proposal::new(Scope::Project, "b", "commands that begin with: mvn test"),
        Proposal::new(Scope::Session, "c", "every\x1b[2J page"),
    ];
    let ask = ask("shell", json!({ "command": "mvn test" }), None).proposing(proposals);
    assert_eq!(
        question(&ask, Length::Short, Paint::Plain),
        "shell\n  command: mvn test\n  It asks before it runs.\n  [s] yes, and for this session: commands that begin with: \
         mvn test\n  [p] yes, and always in this project: commands that begin with: mvn test\n  [s2] yes, and for this \
         session: every\\u{1b}[2J page\n  [y]es, [n]o, or say what to do instead:"
    );
    let key = |word: &str| picked(&ask, word).map(|proposal| proposal.key.as_str());
    assert_eq!(
        [key("s"), key("p"), key("s2"), key("p2"), key("x")],
        [Some("a"), Some("b"), Some("c"), None, None]
    );
    let choices = ["s", "p", "s2", "p10", "", "so", "stop", "2s"].map(is_choice);
    assert_eq!(choices, [true, true, true, true, false, false, false, false]);
}
