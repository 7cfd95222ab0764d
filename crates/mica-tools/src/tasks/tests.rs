//! The table of tasks: ids, ends, limits, waiting and stopping.

use mica_context::spill::SpillLimits;

use super::*;

/// A table with a clock that stands still until it is moved.
struct Desk {
    home: tempfile::TempDir,
    now: Arc<Mutex<SystemTime>>,
}

impl Desk {
    fn new() -> Self {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        Self { home: tempfile::tempdir().unwrap(), now: Arc::new(Mutex::new(now)) }
    }

    fn tasks(&self, limits: TaskLimits) -> Tasks {
        let folder = SpillFolder::new(self.home.path().join("spill"), SpillLimits::default());
        let now = Arc::clone(&self.now);
        Tasks::new(Arc::new(folder), Arc::new(move || *now.lock().unwrap()), limits)
    }

    fn pass(&self, seconds: u64) {
        *self.now.lock().unwrap() += Duration::from_secs(seconds);
    }
}

fn begin(tasks: &Tasks, title: &str) -> Feed {
    tasks.begin(TaskKind::SHELL, title, CancellationToken::new()).unwrap()
}

fn lines(tasks: &Tasks) -> Vec<String> {
    tasks.list().iter().map(ToString::to_string).collect()
}

#[test]
fn a_task_is_followed_from_its_beginning_to_its_end() {
    let desk = Desk::new();
    let tasks = desk.tasks(TaskLimits::default());
    let feed = begin(&tasks, "make");
    feed.append("one\n");
    desk.pass(3);
    assert_eq!(lines(&tasks), ["shell-1 (make): running for 3 s"]);
    let first = tasks.read("shell-1", 0).unwrap();
    assert_eq!((first.text.as_str(), first.next), ("one\n", 4));
    feed.append("two\n");
    let second = tasks.read("shell-1", first.next).unwrap();
    assert_eq!((second.text.as_str(), second.next), ("two\n", 8));
    feed.end(Ending::Failed("ended with code 2".to_owned()));
    desk.pass(60);
    assert_eq!(lines(&tasks), ["shell-1 (make): ended with code 2 after 3 s"]);
    let log = second.task.log.unwrap();
    assert_eq!(log, desk.home.path().join("spill/000001-shell-1.txt"));
    assert_eq!(std::fs::read_to_string(log).unwrap(), "one\ntwo\n");
}

#[test]
fn ids_are_never_given_twice() {
    let desk = Desk::new();
    let tasks = desk.tasks(TaskLimits { kept: 1, ..TaskLimits::default() });
    for title in ["a", "b"] {
        begin(&tasks, title).end(Ending::Done("is done".to_owned()));
    }
    let third = tasks.begin(TaskKind::AGENT, "c", CancellationToken::new()).unwrap();
    assert_eq!(third.id().as_str(), "agent-3");
    // Also by another process that opens the session.
    drop((third, tasks));
    assert_eq!(begin(&desk.tasks(TaskLimits::default()), "d").id().as_str(), "shell-4");
}

#[test]
fn tables_of_one_session_give_no_id_twice() {
    let desk = Desk::new();
    let session = desk.tasks(TaskLimits::default());
    let others = session.others();
    let (one, two) = (others(), others());
    let ids: Vec<String> =
        [&session, &one, &session, &two, &one].map(|tasks| begin(tasks, "a").id().to_string()).into();
    assert_eq!(ids, ["shell-1", "shell-2", "shell-3", "shell-4", "shell-5"]);
    assert_eq!(lines(&two), ["shell-4 (a): was ended from outside after 0 s"], "tasks are not shared");
    // What makes tables keeps no task of the first one going.
    let feed = begin(&session, "b");
    drop(session);
    assert!(feed.cancel().is_cancelled());
}

#[test]
fn one_that_came_to_nothing_is_taken_back() {
    let tasks = Desk::new().tasks(TaskLimits::default());
    tasks.withdraw(begin(&tasks, "a"));
    assert_eq!(lines(&tasks), [""; 0]);
    assert_eq!(tasks.take_endings(), []);
    assert_eq!(begin(&tasks, "b").id().as_str(), "shell-2");
}

#[test]
fn who_only_looks_takes_nothing() {
    let tasks = Desk::new().tasks(TaskLimits::default());
    let weak = tasks.downgrade();
    let feed = begin(&tasks, "a");
    feed.append("one\n");
    feed.changed(vec!["/p/a.txt".into()]);
    feed.end(Ending::Done("is done".to_owned()));
    assert_eq!(weak.upgrade().unwrap().peek("shell-1"), Ok("one\n".to_owned()));
    assert_eq!(tasks.take_endings().len(), 1, "its end is not told yet");
    assert_eq!(tasks.read("shell-1", 0).unwrap().changed, [PathBuf::from("/p/a.txt")]);
    drop(tasks);
    assert!(weak.upgrade().is_none());
}

#[test]
fn an_owner_that_vanishes_ends_its_task() {
    let tasks = Desk::new().tasks(TaskLimits::default());
    drop(begin(&tasks, "a"));
    assert_eq!(lines(&tasks), ["shell-1 (a): was ended from outside after 0 s"]);
}

#[test]
fn running_and_kept_have_a_most() {
    let desk = Desk::new();
    let tasks = desk.tasks(TaskLimits { running: 2, kept: 3, ..TaskLimits::default() });
    let (one, two) = (begin(&tasks, "a"), begin(&tasks, "b"));
    let full = tasks.begin(TaskKind::SHELL, "c", CancellationToken::new()).err().unwrap();
    assert_eq!(full, TaskError::TooMany { running: vec!["shell-1".to_owned(), "shell-2".to_owned()] });
    two.end(Ending::Done("is done".to_owned()));
    begin(&tasks, "c").end(Ending::Done("is done".to_owned()));
    begin(&tasks, "d").end(Ending::Done("is done".to_owned()));
    // The oldest that ended made room; what runs stays.
    let titles: Vec<String> = tasks.list().into_iter().map(|task| task.title).collect();
    assert_eq!(titles, ["a", "c", "d"]);
    desk.pass(3599);
    assert_eq!(tasks.list().len(), 3);
    desk.pass(1);
    assert_eq!(lines(&tasks), ["shell-1 (a): running for 3600 s"]);
    drop(one);
}

#[test]
fn unknown_ids_list_the_known() {
    let tasks = Desk::new().tasks(TaskLimits::default());
    let error = |id: &str| tasks.read(id, 0).unwrap_err().for_model();
    assert_eq!(
        error("x"),
        "There is no task \"x\", and no other either. One that ended is forgotten after an hour."
    );
    let _feed = begin(&tasks, "make");
    assert_eq!(error("1"), "There is no task \"1\". These are known:\nshell-1 (make): running for 0 s");
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_with_what_was_waited_for() {
    let tasks = Desk::new().tasks(TaskLimits::default());
    let never = CancellationToken::new();
    let long = Duration::from_secs(1000);
    let feed = begin(&tasks, "a");
    let start = tokio::time::Instant::now();
    // In vain.
    tasks.wait("shell-1", Until::End, Duration::from_secs(5), &never).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(5));
    // For news.
    let speak = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        feed.append("x");
    };
    let (waited, ()) = tokio::join!(tasks.wait("shell-1", Until::News { from: 0 }, long, &never), speak);
    waited.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(7));
    // News that are there already.
    tasks.wait("shell-1", Until::News { from: 0 }, long, &never).await.unwrap();
    // Until somebody else has enough.
    let enough = CancellationToken::new();
    let stop = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        enough.cancel();
    };
    let (waited, ()) = tokio::join!(tasks.wait("shell-1", Until::End, long, &enough), stop);
    waited.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(8));
    // For the end, and not for what is printed before it.
    let end = async {
        feed.append("y");
        tokio::time::sleep(Duration::from_secs(1)).await;
        feed.end(Ending::Done("is done".to_owned()));
    };
    let (waited, ()) = tokio::join!(tasks.wait("shell-1", Until::End, long, &never), end);
    waited.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(9));
}

#[tokio::test(start_paused = true)]
async fn tasks_are_told_to_stop() {
    let desk = Desk::new();
    let tasks = desk.tasks(TaskLimits::default());
    let feed = begin(&tasks, "a");
    assert_eq!(tasks.stop("shell-1"), Ok(Stop::Told));
    assert!(feed.cancel().is_cancelled());
    feed.end(Ending::Stopped("was stopped".to_owned()));
    assert_eq!(tasks.stop("shell-1"), Ok(Stop::Was(Ending::Stopped("was stopped".to_owned()))));
    // At the end of the session: one that listens, one that does not.
    let (obeys, deaf) = (begin(&tasks, "b"), begin(&tasks, "c"));
    let work = async move {
        obeys.cancel().cancelled().await;
        obeys.end(Ending::Stopped("was stopped".to_owned()));
    };
    let (left, ()) = tokio::join!(tasks.close(Duration::from_secs(5)), work);
    assert_eq!(left, [deaf.id().clone()]);
    assert_eq!(tasks.begin(TaskKind::SHELL, "d", CancellationToken::new()).err(), Some(TaskError::Closed));
    // With the last handle.
    let other = desk.tasks(TaskLimits::default());
    let feed = begin(&other, "e");
    let again = other.clone();
    drop(other);
    assert!(!feed.cancel().is_cancelled());
    drop(again);
    assert!(feed.cancel().is_cancelled());
}

#[test]
fn an_end_is_told_once() {
    let tasks = Desk::new().tasks(TaskLimits::default());
    let (one, two, three) = (begin(&tasks, "a"), begin(&tasks, "b"), begin(&tasks, "c"));
    one.end(Ending::Done("is done".to_owned()));
    two.end(Ending::Done("is done".to_owned()));
    // Who read that it ended need not be told.
    tasks.read("shell-1", 0).unwrap();
    let told = |tasks: &Tasks| tasks.take_endings().into_iter().map(|task| task.title).collect::<Vec<_>>();
    assert_eq!(told(&tasks), ["b"]);
    assert_eq!(told(&tasks), [""; 0]);
    three.end(Ending::Lost);
    assert_eq!(told(&tasks), ["c"]);
}
