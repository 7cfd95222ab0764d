//! Spilling on a real disk: names, limits, the guard, and what happens when the disk says no.

use mica_agent::{Hooks, ToolOutput, ToolSpec};
use mica_ai::Content;
use mica_ai::arguments::Arguments;
use mica_ai::message::ToolCall;
use serde_json::{Value, json};

use super::*;
use std::sync::Arc;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000)
}

fn folder(limits: SpillLimits) -> (tempfile::TempDir, Arc<SpillFolder>) {
    let home = tempfile::tempdir().unwrap();
    let folder = SpillFolder::new(home.path().join("spill"), limits);
    (home, Arc::new(folder))
}

fn names(folder: &SpillFolder) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Makes a file older.
fn age(path: &Path, age: Duration) {
    std::fs::File::options().write(true).open(path).unwrap().set_modified(now() - age).unwrap();
}

async fn result(folder: &Arc<SpillFolder>, tool: &str, args: Value, text: &str) -> String {
    let hook = Spill::new(Arc::clone(folder), Arc::new(now));
    let call = ToolCall { id: "c".into(), name: tool.into(), arguments: Arguments::from_value(&args) };
    let mut output = ToolOutput::text(text);
    hook.after_tool(&call, &ToolSpec::new(tool, "", json!({})), &mut output).await;
    let [Content::Text { text }] = output.content.as_slice() else { panic!("{output:?}") };
    text.clone()
}

fn large() -> String {
    (0..4_000).map(|line| format!("line {line}\n")).collect()
}

#[tokio::test]
async fn a_large_result_is_shown_in_part_and_kept_whole() {
    let (_home, folder) = folder(SpillLimits::default());
    let text = large();
    let shown = result(&folder, "grep", json!({ "pattern": "x" }), &text).await;
    let path = path_in(&shown).unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    assert_eq!(names(&folder), ["000001-grep.txt"]);
    assert!(shown.contains("line 0\n") && shown.contains("line 3999"), "{shown}");
    assert!(shown.len() < 2_048 + 400, "{}", shown.len());
    assert_eq!(result(&folder, "grep", json!({}), "small").await, "small");
    // The next one has the next number, and so has the next process.
    result(&folder, "../../etc/passwd", json!({}), &text).await;
    let again = SpillFolder::new(folder.root(), SpillLimits::default());
    again.write("", "x", now()).unwrap();
    assert_eq!(names(&folder), ["000001-grep.txt", "000002-______etc_passwd.txt", "000003-tool.txt"]);
}

#[tokio::test]
async fn reading_a_spilled_file_does_not_spill() {
    let (_home, folder) = folder(SpillLimits::default());
    let text = large();
    let shown = result(&folder, "grep", json!({}), &text).await;
    let path = path_in(&shown).unwrap().to_owned();
    for path in [path.as_str(), "spill/000001-grep.txt", "./spill/000001-grep.txt"] {
        let read = result(&folder, "read", json!({ "path": path }), &text).await;
        assert!(path_in(&read).is_none() && read.contains("bytes are left out"), "{path}: {read:.100}");
        assert!(read.len() < (30 << 10) + 400);
    }
    assert_eq!(names(&folder).len(), 1);
    for path in ["/etc/000001-grep.txt", "000001-grep.txt", "../spill/000001-grep.txt", "spill/other.txt", ""]
    {
        assert!(!folder.names(path), "{path}");
    }
}

#[tokio::test]
async fn a_disk_that_fails_shortens_the_result() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("in the way");
    drop(std::fs::File::create(&file).unwrap());
    let folder = Arc::new(SpillFolder::new(file.join("spill"), SpillLimits::default()));
    let shown = result(&folder, "grep", json!({}), &large()).await;
    assert!(shown.contains("could not be saved") && shown.contains("line 3999"), "{shown:.200}");
    assert!(shown.len() > 25 << 10);
}

#[test]
fn the_oldest_go_first() {
    let limits = SpillLimits { files: 3, bytes: 10, ..SpillLimits::default() };
    let (_home, folder) = folder(limits);
    for number in 0u32..3 {
        let path = folder.write("t", "1234", now()).unwrap();
        age(&path, Duration::from_secs(u64::from(10 - number)));
    }
    // Twelve bytes are two too many; the third write left that to the next one, which came before the files aged.
    folder.sweep(now());
    assert_eq!(names(&folder), ["000002-t.txt", "000003-t.txt"]);
    age(&folder.root().join("000002-t.txt"), Duration::from_secs(8 * 24 * 3600));
    drop(std::fs::File::create(folder.root().join(".spill-left")).unwrap());
    age(&folder.root().join(".spill-left"), Duration::from_secs(7_200));
    drop(std::fs::File::create(folder.root().join("mine.txt")).unwrap());
    assert_eq!(folder.sweep(now()), 2);
    assert_eq!(names(&folder), ["000003-t.txt", "mine.txt"], "what is not ours stays");
}

#[test]
fn a_result_larger_than_the_folder_may_be_is_cut() {
    let (_home, folder) = folder(SpillLimits { bytes: 5, ..SpillLimits::default() });
    let path = folder.write("t", "ääää", now()).unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), "ää");
}

#[test]
fn a_log_grows_until_it_is_full() {
    let (_home, folder) = folder(SpillLimits { bytes: 20, ..SpillLimits::default() });
    folder.write("grep", "x", now()).unwrap();
    let mut log = folder.begin("shell-1", now()).unwrap();
    assert_eq!(log.path(), folder.root().join("000002-shell-1.txt"));
    assert!(folder.names(log.path().to_str().unwrap()), "reading it does not spill again");
    log.append("12345");
    assert_eq!(std::fs::read_to_string(log.path()).unwrap(), "12345");
    assert!(log.is_whole());
    log.append("678äö");
    assert!(!log.is_whole());
    log.append("more");
    let full = "12345678ä\n[… the log is full; the rest is not kept …]\n";
    assert_eq!(std::fs::read_to_string(log.path()).unwrap(), full);
    let mut owners = folder.owners();
    owners.sort();
    assert_eq!(owners, ["grep", "shell-1"]);
}
