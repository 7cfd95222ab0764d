//! Reading tasks: what is new, from both ends, and with waiting.

use std::sync::Arc;
use std::time::SystemTime;

use mica_context::spill::{SpillFolder, SpillLimits};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::tasks::{Ending, Feed, TaskKind, TaskLimits};
use crate::testing::call;

fn desk() -> (tempfile::TempDir, Tasks, Feed) {
    let home = tempfile::tempdir().unwrap();
    let folder = Arc::new(SpillFolder::new(home.path().join("spill"), SpillLimits::default()));
    let tasks = Tasks::new(folder, Arc::new(|| SystemTime::UNIX_EPOCH), TaskLimits::default());
    let feed = tasks.begin(TaskKind::SHELL, "make", CancellationToken::new()).unwrap();
    (home, tasks, feed)
}

#[tokio::test(start_paused = true)]
async fn what_is_new_is_shown() {
    let (_home, tasks, feed) = desk();
    let tool = TaskOutput::new(&tasks);
    let look = || call(&tool, json!({ "id": "shell-1" }));
    assert_eq!(look().await.unwrap(), "shell-1 (make): running for 0 s.\n[it has printed nothing yet]");
    feed.append("one\n");
    assert_eq!(look().await.unwrap(), "shell-1 (make): running for 0 s.\n\none");
    assert_eq!(look().await.unwrap(), "shell-1 (make): running for 0 s.\n[nothing new since the last look]");
    feed.append("two\n");
    feed.end(Ending::Done("ended with code 0".to_owned()));
    assert_eq!(look().await.unwrap(), "shell-1 (make): ended with code 0 after 0 s.\n\ntwo");
    let all = call(&tool, json!({ "id": "shell-1", "all": true })).await.unwrap();
    assert_eq!(all, "shell-1 (make): ended with code 0 after 0 s.\n\none\ntwo");
    assert_eq!(
        call(&tool, json!({ "id": "shell-2" })).await.unwrap_err(),
        "There is no task \"shell-2\". These are known:\nshell-1 (make): ended with code 0 after 0 s"
    );
}

#[tokio::test(start_paused = true)]
async fn a_long_output_is_shown_from_both_ends() {
    let (home, tasks, feed) = desk();
    let tool = TaskOutput::new(&tasks);
    feed.append("first\n");
    for _ in 0..2000 {
        feed.append("0123456789012345678901234567890123456789\n");
    }
    feed.append("last\n");
    let shown = call(&tool, json!({ "id": "shell-1" })).await.unwrap();
    let log = home.path().join("spill/000001-shell-1.txt");
    let head =
        format!("shell-1 (make): running for 0 s.\nAll of it is in {}.\n\nfirst\n01234", log.display());
    assert!(shown.starts_with(&head), "{shown:.200}");
    assert!(shown.ends_with("0123456789\nlast") && shown.len() < 25 << 10);
    assert_eq!(std::fs::metadata(log).unwrap().len(), 82_011);
}

#[tokio::test(start_paused = true)]
async fn it_waits_for_the_end_or_for_news() {
    let (_home, tasks, feed) = desk();
    let tool = TaskOutput::new(&tasks);
    let start = tokio::time::Instant::now();
    let too_long = call(&tool, json!({ "id": "shell-1", "wait_seconds": 100_000 })).await.unwrap();
    assert!(too_long.ends_with("[waited 240 s, which is the longest]"), "{too_long}");
    assert_eq!(start.elapsed(), Duration::from_secs(240));
    let speak = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        feed.append("listening\n");
        feed
    };
    let (news, feed) =
        tokio::join!(call(&tool, json!({ "id": "shell-1", "wait_seconds": 60, "until": "news" })), speak);
    assert_eq!(news.unwrap(), "shell-1 (make): running for 0 s.\n\nlistening");
    assert_eq!(start.elapsed(), Duration::from_secs(243));
    let end = async {
        feed.append("more\n");
        tokio::time::sleep(Duration::from_secs(7)).await;
        feed.end(Ending::Failed("ended with code 1".to_owned()));
    };
    let (ended, ()) = tokio::join!(call(&tool, json!({ "id": "shell-1", "wait_seconds": 60 })), end);
    assert_eq!(ended.unwrap(), "shell-1 (make): ended with code 1 after 0 s.\n\nmore");
    assert_eq!(start.elapsed(), Duration::from_secs(250));
}
