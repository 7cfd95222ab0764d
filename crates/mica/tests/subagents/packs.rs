//! Subagents that a pack brings, and subagents whose tools are deferred.

use mica_testkit::{Call, Scenario, Step, Turn};
use serde_json::{Value, json};

use crate::{after, asked, done, first, results, send, sends, stage::Stage, system, tools};

/// A stage whose folder is a Micro Integrator project.
async fn project(scenario: Scenario) -> Stage {
    let stage = Stage::new(scenario).await;
    let folder = stage.project().join("src/main/wso2mi/artifacts/sequences");
    std::fs::create_dir_all(&folder).unwrap();
    let text = "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Keep\"><drop/></sequence>\n";
    std::fs::write(folder.join("Keep.xml"), text).unwrap();
    stage
}

fn through(turn: Turn, id: &str, name: &str, arguments: &Value) -> Turn {
    turn.step(Step::Call(Call::new("call_tool", json!({ "name": name, "arguments": arguments })).with_id(id)))
}

#[tokio::test]
async fn a_pack_brings_subagents_under_forgiving_names() {
    let scenario = Scenario::new()
        .turn(send(
            send(
                send(first("begin"), "call_1", sends("SynapseContext", "what is drop")),
                "call_2",
                sends("Explore", "where is Keep"),
            ),
            "call_3",
            sends("data_mapper", "map it"),
        ))
        .turn(after("begin", 3).text("Done."))
        .turn(first("what is drop").text("It drops."))
        .turn(first("where is Keep").text("There."));
    let stage = project(scenario).await;
    let ran = stage.ask(&["-p", "begin"]).await;
    done(&ran);

    let own = asked(&stage, "begin");
    let sending = own[0]["tools"].as_array().unwrap().iter().map(ToString::to_string);
    let sending = sending.into_iter().find(|tool| tool.contains("\"create_subagent\"")).unwrap();
    assert!(sending.contains("- synapse_context: looks facts about Synapse up"), "{sending}");
    assert!(sending.contains("Which kind of subagent: explore, general, synapse_context."), "{sending}");
    assert!(!sending.contains("data_mapper") && !sending.contains("compact"), "only tools send those");
    let said = results(own.last().unwrap());
    assert!(said[0].starts_with("It drops.\n<subagent id=\"synapse_context-"), "{said:?}");
    assert!(said[1].starts_with("There.\n<subagent id=\"explore-"), "{said:?}");
    assert_eq!(
        said[2],
        "There is no profile \"data_mapper\"; there are: explore, general, synapse_context. Nothing was begun."
    );

    // Each has the tools of its profile that are there, and is told of no others.
    for (words, part) in [
        ("what is drop", "You are a subagent that looks things up about Synapse"),
        ("where is Keep", "You are a subagent in a WSO2 Micro Integrator project."),
    ] {
        let request = asked(&stage, words).remove(0);
        let (has, told) = (tools(&request), system(&request));
        assert!(told.contains(part), "{told}");
        for name in ["file_read", "glob", "grep", "list_dir"] {
            assert!(has.contains(&name.to_owned()), "{has:?}");
        }
        for name in ["load_context_reference", "search_references", "file_write", "validate_code"] {
            assert_eq!(told.contains(name), has.contains(&name.to_owned()), "{name} in {told}");
        }
        assert!(!told.contains("[["), "{told}");
    }
    assert!(
        system(&asked(&stage, "where is Keep")[0]).contains("Find candidates with `glob` or `grep` first")
    );
}

#[tokio::test]
async fn settings_are_laid_over_those_of_a_pack() {
    let scenario = Scenario::new()
        .turn(send(first("begin"), "call_1", sends("synapse_context", "what is drop")))
        .turn(after("begin", 1).text("Done."))
        .turn(first("what is drop").text("It drops."));
    let stage = project(scenario).await;
    stage.settings("[subagents.synapse_context]\nmax_turns = 2\nprompt = \"Be quick. Use [[file_write]].\\nUse [[grep]].\"\n");
    done(&stage.ask(&["-p", "begin"]).await);
    let told = system(&asked(&stage, "what is drop")[0]);
    assert!(told.ends_with("Use `grep`."), "{told}");
    assert!(!told.contains("Be quick"), "the line names a tool that is not there: {told}");

    let explained = stage.does(&["config", "explain", "subagents.synapse_context.max_turns"]).await;
    let file = stage.folder.path().join("home/config/config.toml");
    assert_eq!(explained, format!("6  from the pack mi (overruled)\n2  from {} (counts)\n", file.display()));
    let explained = stage.does(&["config", "explain", "subagents.explore.max_turns"]).await;
    assert_eq!(explained, "30  from built in (overruled)\n30  from the pack mi (counts)\n");
    // Elsewhere it is not there.
    let code = Stage::new(Scenario::new()).await;
    let explained = code.does(&["config", "explain", "subagents.explore.max_turns"]).await;
    assert_eq!(explained, "30  from built in (counts)\n");
    assert!(code.fails(&["config", "explain", "subagents.compact.model"]).await.contains("is set nowhere"));
}

#[tokio::test]
async fn deferred_tools_of_subagents_are_those_of_their_profile() {
    let read = |turn: Turn| through(turn, "r", "file_read", &json!({ "path": "a.txt" }));
    let write = |turn: Turn| through(turn, "w", "file_write", &json!({ "path": "b.txt", "content": "x" }));
    let scenario = Scenario::new()
        .turn(through(first("begin"), "call_1", "create_subagent", &sends("explore", "what does it say")))
        .turn(after("begin", 1).text("Done."))
        .turn(read(write(first("what does it say"))))
        .turn(after("what does it say", 2).text("Hello."));
    let stage = Stage::new(scenario).await;
    stage.settings("defer = [\"file_*\", \"create_subagent\"]\n");
    let ran = stage.ask(&["-p", "begin", "--yes"]).await;
    done(&ran);
    let own = asked(&stage, "begin");
    assert!(!tools(&own[0]).iter().any(|name| name == "create_subagent" || name.starts_with("file_")));
    assert!(results(own.last().unwrap())[0].starts_with("Hello.\n<subagent id=\"explore-"), "{own:?}");
    assert!(ran.err.contains("● Subagent "), "{}", ran.err);

    let theirs = asked(&stage, "what does it say");
    assert_eq!(
        tools(&theirs[0]),
        ["call_tool", "glob", "grep", "list_dir", "load_skill", "load_tools", "web_fetch"]
    );
    let told = system(&theirs[0]);
    assert!(told.contains("\n- file_read: ") && !told.contains("file_write"), "{told}");
    let said = results(theirs.last().unwrap());
    assert!(said[0].starts_with("There is no tool \"file_write\"."), "{said:?}");
    assert!(said[1].contains("world"), "{said:?}");
    assert!(results(own.last().unwrap())[0].contains("tools: file_read 1"), "by the tool itself");
    assert!(!stage.project().join("b.txt").exists());
}
