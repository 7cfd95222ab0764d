//! Recordings of models and judges.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_judge_is_recorded_once_and_played_without_a_model() {
    let verdict = r#"{"verdict":"true","reason":"It says so."}"#;
    let stage = Stage::new(Scenario::new().turn(Turn::new().text(verdict))).await;
    let text = FINE
        .replace("prefix_stable = true", "judge = \"Something was written.\"")
        .replace("[[step]]", "[judge]\ncassette = \"tape/judge.jsonl\"\n\n[[step]]");
    put(&stage, "judged.toml", &text);
    let ran = stage.mica(&["eval", "judged.toml"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("ERROR judged") && ran.out.contains("record it with --record"), "{}", ran.out);
    let ran = stage.ask(&["eval", "judged.toml", "--record"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(stage.server.captured().len(), 1);
    let tape = read(&stage, "tape/judge.jsonl");
    assert!(tape.starts_with("{\"cassette\":1,\"model\":\"scripted\","), "{tape}");
    // No model is there, and none is asked.
    let ran = stage.mica(&["eval", "judged.toml", "--report", "report.json"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let checks = report(&stage, "report.json")["cases"][0]["checks"].clone();
    let judged: Vec<&Value> =
        checks.as_array().unwrap().iter().filter(|check| check["judged"] == true).collect();
    assert_eq!(judged.len(), 1);
    put(&stage, "judged.toml", &text.replace("Something was", "Nothing was"));
    let ran = stage.mica(&["eval", "judged.toml"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.out.contains(
            "the cassette judge.jsonl does not fit: request 1 is not the one that was recorded: message 1 user changed in it: recorded"
        ) && ran.out.contains("Nothing was written."),
        "{}",
        ran.out
    );
    assert_eq!(stage.server.captured().len(), 1, "nobody was asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_conversation_of_the_desk_is_replayed_byte_for_byte() {
    let card = "```mica:record-card\n{ \"id\": \"contact:ana-silva\" }\n```";
    let scenario = Scenario::new()
        .named("desk replay")
        .turn(Turn::new().thinking("A contact.").call("search_records", json!({ "query": "Ana Silva" })))
        .turn(Turn::new().text(format!("Ana Silva is one of our contacts.\n\n{card}\n")))
        .turn(Turn::new().call("create_task", json!({ "title": "Call Ana Silva" })))
        .turn(Turn::new().text("It is on your list."));
    let stage = Stage::new(scenario).await;
    let case = std::fs::read_to_string(desk_evals().join("20_replay_byte_for_byte.toml")).unwrap();
    let journal = case.lines().find(|line| line.starts_with("journal = ")).unwrap().to_owned();
    put(&stage, "replay.toml", &case.replace(&format!("{journal}\n"), ""));

    // Recording it again gives the file that comes along.
    let ran = stage.ask(&["eval", "replay.toml", "--record"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(stage.server.captured().len(), 4);
    let recorded = read(&stage, "data/20_replay.jsonl");
    let kept = desk_evals().join("data/20_replay.jsonl");
    let fresh = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("20_replay.jsonl");
    std::fs::write(&fresh, &recorded).unwrap();
    assert_eq!(
        std::fs::read_to_string(&kept).unwrap_or_default(),
        recorded,
        "when the desk says something else on purpose, put {} in the place of {}",
        fresh.display(),
        kept.display()
    );

    // Played twice it tells the same, and it is what was told when the case was written.
    let mut journals = Vec::new();
    for folder in ["one", "two"] {
        let ran = stage.mica(&["eval", "replay.toml", "--journal", folder, "--report", "report.json"]).await;
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        journals.push(std::fs::read(stage.project().join(folder).join("replay.jsonl")).unwrap());
    }
    assert_eq!(stage.server.captured().len(), 4, "nobody was asked again");
    assert!(!journals[0].is_empty() && journals[0] == journals[1]);
    let digest = report(&stage, "report.json")["cases"][0]["journal"].clone();
    assert_eq!(journal, format!("journal = {digest}"));

    // Another journal fails the case, and a changed word does not fit the cassette.
    put(&stage, "other.toml", &case.replace(&journal, "journal = \"0123456789abcdef\""));
    let ran = stage.mica(&["eval", "other.toml"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("the end: journal\n        expected: 0123456789abcdef"), "{}", ran.out);
    put(&stage, "changed.toml", &case.replace("Who is Ana", "Who was Ana"));
    let ran = stage.mica(&["eval", "changed.toml"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("the cassette 20_replay.jsonl does not fit: request 1"), "{}", ran.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_with_something_secret_in_it_is_not_written() {
    // An escape that nobody redacts: the model spells the slash of the key as JSON may have it.
    let mut stage =
        Stage::new(Scenario::new().turn(Turn::new().text(r#"{"key": "open\/sesame\/now"}"#))).await;
    stage.set("DOOR_KEY", "open/sesame/now");
    let case = "about = \"x\"\nproduct = \"desk\"\n[model]\nkind = \"cassette\"\nfile = \"one.jsonl\"\n[[step]]\nsay = \"Hi\"\nexpect.text.has = \"sesame\"\n";
    put(&stage, "one.toml", case);
    let ran = stage.ask(&["eval", "one.toml", "--record"]).await;
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(
        ran.out.contains("one.jsonl was not written: something secret of the environment or the settings"),
        "{}",
        ran.out
    );
    assert!(!stage.project().join("one.jsonl").exists());
}
