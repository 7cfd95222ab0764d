//! Stopping tasks: what is said when it works, comes too late, or names nobody.

use std::sync::Arc;
use std::time::SystemTime;

use mica_context::spill::{SpillFolder, SpillLimits};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::tasks::{Ending, TaskKind, TaskLimits};
use crate::testing::call;

#[tokio::test(start_paused = true)]
async fn it_says_what_happened() {
    let home = tempfile::tempdir().unwrap();
    let folder = Arc::new(SpillFolder::new(home.path().join("spill"), SpillLimits::default()));
    let tasks = Tasks::new(folder, Arc::new(|| SystemTime::UNIX_EPOCH), TaskLimits::default());
    let tool = KillTask::new(&tasks);
    let begin = || tasks.begin(TaskKind::SHELL, "make", CancellationToken::new()).unwrap();
    let kill = |id: &'static str| call(&tool, json!({ "id": id }));
    let (obeys, deaf) = (begin(), begin());
    let work = async move {
        obeys.cancel().cancelled().await;
        obeys.end(Ending::Stopped("was stopped".to_owned()));
    };
    let (killed, ()) = tokio::join!(kill("shell-1"), work);
    assert_eq!(killed.unwrap(), "shell-1 has ended: it was stopped, after 0 s.");
    assert_eq!(
        kill("shell-1").await.unwrap(),
        "shell-1 had ended already: it was stopped. Nothing was done."
    );
    assert_eq!(
        kill("shell-2").await.unwrap(),
        "shell-2 was told to stop, and has not ended yet. Look again in a moment."
    );
    drop(deaf);
    assert_eq!(
        kill("shell-7").await.unwrap_err(),
        "There is no task \"shell-7\". These are known:\nshell-1 (make): was stopped after 0 s\n\
         shell-2 (make): was ended from outside after 0 s"
    );
}
