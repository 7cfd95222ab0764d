//! Requests that are taken back.

use super::*;

fn server() -> (Server, std::sync::mpsc::Receiver<String>) {
    let (outbox, messages) = Outbox::new();
    let (worker, _) = sync_channel(1);
    (Server::new(Options::default(), outbox, worker), messages)
}

fn message(method: &str, id: Option<i32>, params: Value) -> Event {
    let method = method.to_owned();
    Event::Message(match id {
        Some(id) => Incoming::Request { id: json!(id), method, params },
        None => Incoming::Notification { method, params },
    })
}

fn check(id: i32) -> Job {
    Job::Check(Box::new(worker::Check {
        id: json!(id),
        folders: Vec::new(),
        versions: HashMap::new(),
        previous: HashMap::new(),
        partial: None,
        progress: None,
        client: Client::default(),
        options: Options::default(),
        cancelled: Arc::default(),
    }))
}

fn answers(messages: &std::sync::mpsc::Receiver<String>) -> Vec<(Value, Value)> {
    let all = messages.try_iter().map(|text| serde_json::from_str::<Value>(&text).unwrap());
    all.map(|message| (message["id"].clone(), message["error"]["code"].clone())).collect()
}

#[test]
fn what_waits_is_answered_at_once_and_never_done() {
    let (mut server, messages) = server();
    let mut inbox = VecDeque::new();
    server.take_in(message("textDocument/hover", Some(1), Value::Null), &mut inbox);
    server.take_in(message("textDocument/hover", Some(2), Value::Null), &mut inbox);
    server.take_in(message("$/cancelRequest", None, json!({ "id": 1 })), &mut inbox);
    assert_eq!(answers(&messages), [(json!(1), json!(REQUEST_CANCELLED))]);
    assert_eq!(inbox.len(), 1);
    server.enqueue(check(3));
    server.take_in(message("$/cancelRequest", None, json!({ "id": 3 })), &mut inbox);
    assert_eq!(answers(&messages), [(json!(3), json!(REQUEST_CANCELLED))]);
    assert!(server.jobs.is_empty());
}

#[test]
fn what_runs_is_told_and_what_is_unknown_is_nothing() {
    let (mut server, messages) = server();
    let cancelled = Arc::new(AtomicBool::new(false));
    server.running = Some(Running { id: json!(7), cancelled: Arc::clone(&cancelled) });
    let mut inbox = VecDeque::new();
    server.take_in(message("$/cancelRequest", None, json!({ "id": 8 })), &mut inbox);
    assert!(!cancelled.load(Ordering::Relaxed));
    server.take_in(message("$/cancelRequest", None, json!({ "id": 7 })), &mut inbox);
    assert!(cancelled.load(Ordering::Relaxed));
    assert_eq!(answers(&messages), []);
}

#[test]
fn a_cancelled_check_says_so() {
    let (outbox, _messages) = Outbox::new();
    let (events, happened) = sync_channel(4);
    let (jobs, to_do) = sync_channel(1);
    let Job::Check(job) = check(9) else { panic!("a check") };
    let folder = crate::folder::Shared::default();
    folder.write().set("a.xml", "<sequence/>");
    job.cancelled.store(true, Ordering::Relaxed);
    jobs.send(Job::Check(Box::new(worker::Check { folders: vec![(PathBuf::from("/p"), folder)], ..*job })))
        .unwrap();
    drop(jobs);
    worker::work(&to_do, &events, &outbox, &AtomicBool::new(false));
    let Ok(Event::Worker(Report::Checked { id, answer })) = happened.try_recv() else { panic!("a report") };
    assert_eq!((id, answer.unwrap_err().code), (json!(9), REQUEST_CANCELLED));
}
