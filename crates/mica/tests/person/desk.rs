//! The help desk as a person sees it.

use super::*;

const DESK: &[&str] = &["desk", "--data", "desk"];

async fn sits_at_the_desk(scenario: Scenario) -> Person {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(scenario).await.unwrap();
    std::fs::create_dir(folder.path().join("project")).unwrap();
    let (keyboard, screen, program) = begin(&folder, &server, DESK);
    Person { keyboard, screen, seen: String::new(), program, folder, server }
}

impl Person {
    fn comes_back_to_the_desk(&mut self) {
        (self.keyboard, self.screen, self.program) = begin(&self.folder, &self.server, DESK);
        self.seen.clear();
    }

    /// Waits until the model was asked so often.
    async fn asks(&self, times: usize) {
        let asked = async {
            while self.server.captured().len() < times {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), asked).await.unwrap();
    }

    fn left_with(&mut self, code: i32) {
        assert_eq!(self.program.wait().unwrap().code(), Some(code));
    }
}

fn looks() -> Turn {
    Turn::new().call("search_records", json!({ "query": "Ana" }))
}

fn changes() -> Turn {
    Turn::new()
        .call("update_record", json!({ "record": "company:initech", "changes": { "status": "active" } }))
}

fn stalls() -> Turn {
    Turn::new().text("half").fault(Fault::Stall { at: At::BeforeFinish })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_run_and_not_the_desk() {
    let hello = |results| When {
        user_contains: Some("hello".into()),
        tool_results: Some(results),
        ..When::default()
    };
    let mut scenario = Scenario::new().turn(looks().when(hello(0))).turn(stalls().when(hello(1)));
    scenario.otherwise = Some(Box::new(Turn::new().text("Here again.")));
    let mut person = sits_at_the_desk(scenario).await;
    person.sees("desk> ");
    person.types("hello\r");
    person.sees("· search_records query=Ana");
    person.types("\x03");
    person.sees("stopping; Ctrl-C again leaves");
    person.sees("… stopped");
    person.sees("desk> ");
    person.types("and now?\r");
    person.sees("Here again.");
    person.sees("desk> ");
    person.types("\x03");
    person.left_with(130);
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_that_a_command_set_to_work_are_stopped_with_it() {
    let mut scenario = Scenario::new().turn(looks());
    scenario.otherwise = Some(Box::new(stalls()));
    let mut person = sits_at_the_desk(scenario).await;
    person.sees("desk> ");
    person.types("/tell triage Hello\r");
    person.sees("· search_records query=Ana");
    person.types("\x03");
    person.sees("stopping; Ctrl-C again leaves");
    person.sees("agent:triage (aborted)");
    person.sees("desk> ");
    person.types("\x03");
    person.left_with(130);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_can_be_left_put_off_and_answered_in_words() {
    let scenario = Scenario::new().turn(changes()).turn(Turn::new().text("It is active."));
    let mut person = sits_at_the_desk(scenario).await;
    person.sees("desk> ");
    person.types("Mark Initech\r");
    person.sees("answer> ");
    // Leaving decides nothing.
    person.types("\x03");
    person.left_with(130);
    person.comes_back_to_the_desk();
    person.sees("? update_record Initech");
    person.sees("answer> ");
    person.types("hm, what is that\r");
    person.sees("neither a clear yes nor a clear no");
    person.sees("? update_record Initech");
    person.sees("answer> ");
    person.types("l\r");
    person.sees("left waiting");
    let after = person.sees("(1 waits: /waiting) desk> ");
    assert!(!after.contains("? update_record"), "{after:?}");
    person.types("/show company:initech\r");
    person.sees("status: at risk");
    person.sees("desk> ");
    person.types("/waiting\r");
    person.sees("? update_record Initech");
    person.sees("answer> ");
    person.types("yes, please\r");
    person.sees("It is active.");
    person.sees("desk> ");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_are_edited_and_remembered() {
    let mut person = sits_at_the_desk(Scenario::new()).await;
    person.sees("desk> ");
    // Typed with a mistake, which is put right in the middle of the line.
    person.types("/pge kb\x1b[D\x1b[D\x1b[D\x1b[D\x1b[Da\r");
    person.sees("on the page kb");
    person.sees("kb> ");
    person.types("/page none\r");
    person.sees("on no page");
    person.sees("desk> ");
    person.leaves();
    person.comes_back_to_the_desk();
    person.sees("desk> ");
    person.types("\x1b[A\x1b[A\r");
    person.sees("on the page kb");
    person.sees("kb> ");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn offered_answers_are_shown_and_picked_by_number() {
    let offers = Turn::new()
        .text("Which Ana?")
        .call("suggest_replies", json!({ "replies": ["Ana Silva of Acme", "Ana\u{1b}[2J Reyes"] }));
    let mut person =
        sits_at_the_desk(Scenario::new().turn(offers).turn(Turn::new().text("Her, then."))).await;
    person.sees("desk> ");
    person.types("Find Ana\r");
    let shown = person.sees("(a number says it)");
    assert!(
        shown.contains("  1  Ana Silva of Acme") && shown.contains("  2  Ana\\u{1b}[2J Reyes"),
        "{shown:?}"
    );
    person.sees("desk> ");
    person.types("2\r");
    person.sees("Her, then.");
    person.sees("desk> ");
    let sent = person.server.captured()[1].json["messages"].to_string();
    assert!(sent.contains("Reyes") && !sent.contains("\"content\":\"2\""), "{sent}");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_there_again() {
    let scenario = Scenario::new().turn(Turn::new().text("Seen."));
    let mut person = sits_at_the_desk(scenario).await;
    person.sees("desk> ");
    person.types("/page inbox\r");
    person.sees("inbox> ");
    person.types("/open thread:1053\r");
    person.sees("inbox thread:1053> ");
    person.types("look\r");
    person.sees("Seen.");
    person.sees("inbox thread:1053> ");
    person.leaves();
    person.comes_back_to_the_desk();
    person.sees("on the page inbox, open: thread:1053 Second printer for the cold store");
    person.sees("inbox thread:1053> ");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_ahead_comes_in_its_order() {
    let mut person = sits_at_the_desk(Scenario::new().turn(stalls())).await;
    person.sees("desk> ");
    person.types("wait\r");
    person.asks(1).await;
    for line in ["/page kb", "/page tasks", "/page none"] {
        person.types(&format!("{line}\r"));
        person.sees(&format!("» {line}"));
    }
    person.types("\x03");
    person.sees("line by line");
    // One line is in each prompt, and waits to be sent there.
    person.sees("desk> /page kb");
    person.types("\r");
    person.sees("kb> /page tasks");
    person.types("\r");
    person.sees("tasks> /page none");
    person.types("\r");
    person.sees("on no page");
    person.sees("desk> ");
    person.leaves();
}

/// The line editor drops what stands behind the line that it takes, so what came before its prompt is not left to it.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_before_the_first_prompt_is_not_lost() {
    let mut person = sits_at_the_desk(Scenario::new()).await;
    person.types("/page kb\r/page tasks\r/page no");
    person.sees("kb> /page tasks");
    person.types("\r");
    person.sees("tasks> /page no");
    person.types("ne\r");
    person.sees("on no page");
    person.sees("desk> ");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_cut_off_is_told_at_the_next_start() {
    let hello = |results| When { tool_results: Some(results), ..When::default() };
    let scenario = Scenario::new().turn(looks().when(hello(0))).turn(stalls().when(hello(1)));
    let mut person = sits_at_the_desk(scenario).await;
    let first = person.sees("desk> ");
    assert!(!first.contains("has no answer"), "{first:?}");
    person.types("hello\r");
    person.sees("· search_records query=Ana");
    person.program.kill().unwrap();
    person.program.wait().unwrap();
    person.comes_back_to_the_desk();
    person.sees("what you said last has no answer");
    person.sees("desk> ");
    person.leaves();
}

/// What a killed process held is not free for a while, and a sweep waits for it: nobody has to wait with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_stop_leaves_at_once_also_after_a_kill() {
    let first = When { tool_results: Some(0), ..When::default() };
    let mut scenario = Scenario::new().turn(looks().when(first));
    scenario.otherwise = Some(Box::new(stalls()));
    let mut person = sits_at_the_desk(scenario).await;
    person.sees("desk> ");
    person.types("/sweep\r");
    person.sees("· search_records query=Ana");
    person.program.kill().unwrap();
    person.program.wait().unwrap();
    person.comes_back_to_the_desk();
    person.sees("desk> ");
    person.types("/sweep\r");
    // The prompt is over; a key shows that it is listened to while the sweep goes on.
    person.sees("\x1b[?2004l");
    person.types("x");
    person.sees("» x");
    let since = std::time::Instant::now();
    person.types("\x03\x03");
    person.sees("stopping; Ctrl-C again leaves");
    person.sees("desk: left in the middle: ");
    person.left_with(130);
    // Who is killed holds what they had for a minute.
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_fit_a_narrow_terminal() {
    let mut person = sits_at_the_desk(Scenario::new()).await;
    person.sees("desk> ");
    let narrow = rustix::termios::Winsize { ws_row: 24, ws_col: 40, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&person.keyboard, narrow).unwrap();
    person.types("/open thread:1053\r");
    person.sees("open: thread:1053 Second printer for the\r\n  cold store\r\n");
    person.sees("desk thread:1053> ");
    person.types("/frob\r");
    person.sees("✗ there is no command /frob (/help lists\r\n  them)\r\n");
    person.sees("desk thread:1053> ");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stopped_run_changed_is_offered_once() {
    let changes = json!({ "article": "article:returns", "old": "within 30 days", "new": "within 45 days" });
    let said = |text: &str, results| When {
        user_contains: Some(text.into()),
        tool_results: Some(results),
        ..When::default()
    };
    let mut scenario = Scenario::new()
        .turn(Turn::new().call("edit_article", changes).when(said("longer", 0)))
        .turn(stalls().when(said("longer", 1)));
    scenario.otherwise = Some(Box::new(Turn::new().text("Here again.")));
    let mut person = sits_at_the_desk(scenario).await;
    person.sees("desk> ");
    person.types("/page kb\r");
    person.sees("kb> ");
    person.types("longer\r");
    person.sees("answer> ");
    person.types("y\r");
    // The model is asked again when the article is changed.
    person.asks(2).await;
    person.types("\x03");
    person.sees("article:returns was changed, and the run was stopped; /undo ");
    person.sees("kb> ");
    person.types("and now?\r");
    person.sees("Here again.");
    let after = person.sees("kb> ");
    assert!(!after.contains("was changed"), "{after:?}");
    person.types("/undo\r");
    person.sees("article:returns: the run was stopped");
    person.sees("kb> ");
    person.leaves();
}
