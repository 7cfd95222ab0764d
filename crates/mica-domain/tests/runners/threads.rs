//! Threads with somebody outside, across processes.

use super::*;

#[derive(Clone, Default)]
struct Mail(Arc<Mutex<Vec<ThreadMessage>>>);

impl Mail {
    fn add(&self, id: &str, by: By) {
        let text = format!("words of {id}");
        self.0.lock().unwrap().push(ThreadMessage { id: id.to_owned(), by, text });
    }

    fn replies(&self) -> Vec<String> {
        let messages = self.0.lock().unwrap();
        let own = messages.iter().filter(|message| matches!(message.by, By::Own { .. }));
        own.map(|message| message.text.clone()).collect()
    }
}

#[async_trait]
impl Thread for Mail {
    async fn messages(&self, _: &str, after: Option<&str>) -> Result<Vec<ThreadMessage>, String> {
        let messages = self.0.lock().unwrap();
        let from = messages.iter().position(|message| Some(message.id.as_str()) == after);
        Ok(messages.iter().skip(from.map_or(0, |from| from + 1)).cloned().collect())
    }

    async fn reply(&self, _: &str, reply: &Reply) -> Result<(), String> {
        let by = By::Own { key: Some(reply.key.clone()) };
        let mut messages = self.0.lock().unwrap();
        if !messages.iter().any(|message| message.by == by) {
            messages.push(ThreadMessage { id: format!("re:{}", reply.to), by, text: reply.text.clone() });
        }
        Ok(())
    }
}

fn thread_agent(process: &Process, mail: &Mail) -> ThreadAgent {
    let setup = ThreadSetup::new("clerk", Rights::All);
    let opening = Arc::new(process.sessions.clone());
    ThreadAgent::new(setup, Arc::new(mail.clone()), opening, process.world.records(), process.world.clock())
}

#[tokio::test]
async fn a_thread_is_answered_across_processes() {
    let (world, mail) = (World::new(), Mail::default());
    let name = |name: &str| name.to_owned();
    mail.add("a0", By::Own { key: None });
    mail.add("m1", By::Inbound { name: name("Ann") });
    let first = world.process([text("Hello Ann.")]);
    assert_eq!(thread_agent(&first, &mail).attend("t").await.unwrap(), Attended::Done { answers: 1 });
    drop(first);
    mail.add("t1", By::Teammate { name: name("Bo") });
    mail.add("m2", By::Inbound { name: name("Ann") });
    let second = world.process([Turn::new().call("look", json!({})), text("Here you are.")]);
    assert_eq!(thread_agent(&second, &mail).attend("t").await.unwrap(), Attended::Done { answers: 1 });
    assert_eq!(
        second.asked(),
        [
            "user: Background: what follows was said earlier, elsewhere.",
            "model: words of a0",
            "user: <message from=\"Ann\">\nwords of m1\n</message>",
            "model: Hello Ann.",
            "user: Background: a teammate answered in this thread. Nothing is asked of you here.\n<teammate \
             from=\"Bo\">\nwords of t1\n</teammate>",
            "user: <message from=\"Ann\">\nwords of m2\n</message>",
            "model: look{}",
            "look: seen",
        ]
    );
    assert_eq!(mail.replies(), ["words of a0", "Hello Ann.", "Here you are."]);
}

/// The model fails in the middle of an answer, after a call: the next process goes on, and the message is said once.
#[tokio::test]
async fn an_answer_that_broke_off_is_gone_on_with() {
    let (world, mail) = (World::new(), Mail::default());
    mail.add("m1", By::Inbound { name: "Ann".to_owned() });
    let first = world.process([Turn::new().call("look", json!({}))]);
    let attended = thread_agent(&first, &mail).attend("t").await.unwrap();
    assert!(matches!(attended, Attended::Failed { .. }), "{attended:?}");
    drop(first);
    mail.add("m2", By::Inbound { name: "Ann".to_owned() });
    let second = world.process([text("To the first."), text("To the second.")]);
    let swept = thread_agent(&second, &mail).sweep().await.unwrap();
    assert_eq!(swept, [("t".to_owned(), Ok(Attended::Done { answers: 2 }))]);
    assert_eq!(mail.replies(), ["To the first.", "To the second."]);
    let said = second.asked();
    for id in ["m1", "m2"] {
        let count = said.iter().filter(|line| line.contains(&format!("words of {id}"))).count();
        assert_eq!(count, 1, "{id}: {said:#?}");
    }
}
