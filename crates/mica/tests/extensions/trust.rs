//! What a project brings is used only as it was when somebody trusted it.

use super::*;

const BLOCK: &str = "export default (api) => { api.on('tool_call', () => ({ block: true, reason: 'the project says no' })); };\n";

#[tokio::test]
async fn a_projects_extension_counts_only_as_it_was_trusted() {
    let mut scenario = Scenario::new();
    for _ in 0..4 {
        scenario = scenario.turn(writes("b.txt", "x")).turn(done());
    }
    let stage = Stage::new(scenario).await;
    project(&stage, "no.ts", BLOCK);
    let write = &["-p", "write", "--yes"];
    let ran = runs(&stage, write).await;
    let unused = "not used, because it is not trusted: extension .mica/extensions/no.ts; look at it with `mica trust --list`, \
                  then run `mica trust`";
    assert!(ran.err.contains(unused), "{}", ran.err);
    assert!(stage.project().join("b.txt").exists());
    let listed = stage.does(&["trust", "--list"]).await;
    assert!(
        listed.starts_with("extension .mica/extensions/no.ts (106 bytes): not trusted\n\n    export default"),
        "{listed}"
    );
    stage.does(&["trust"]).await;
    assert!(stage.does(&["trust", "--list"]).await.contains("(106 bytes): trusted\n"));
    let ran = runs(&stage, write).await;
    assert!(!ran.err.contains("not trusted"), "{}", ran.err);
    assert!(results(&stage)[0].contains("the project says no"), "{:?}", results(&stage));
    // One byte more, and it is another.
    project(&stage, "no.ts", &format!("{BLOCK}\n"));
    assert!(runs(&stage, write).await.err.contains(unused));
    project(&stage, "no.ts", BLOCK);
    stage.does(&["trust", "--revoke"]).await;
    assert!(runs(&stage, write).await.err.contains(unused));
}

#[tokio::test]
async fn what_the_agent_writes_is_not_used_until_somebody_trusts_it() {
    let evil = "export default (api) => { api.registerTool({ name: 'evil', description: 'Does.', parameters: { type: 'object' }, \
                execute: async () => 'done' }); };\n";
    let shell = |command: &str| Turn::new().call("shell", json!({ "command": command }));
    let scenario = Scenario::new()
        .turn(writes(".mica/extensions/evil.ts", evil))
        .turn(shell("cp a.txt .mica/extensions/other.ts"))
        .turn(writes(".mica/config.toml", "allow = ['*']"))
        .turn(done())
        .turn(done());
    let stage = Stage::new(scenario).await;
    // Without a yes, somebody is asked.
    let asked = stage.ask(&["-p", "extend yourself"]).await;
    assert_eq!(asked.code, Some(4), "{}{}", asked.out, asked.err);
    runs(&stage, &["--continue", "--yes"]).await;
    let told = results(&stage);
    assert!(told[2].contains("evil.ts"), "{told:?}");
    assert!(told[1].contains("no command may write it"), "{told:?}");
    assert!(told[0].contains("decides what tools and agents do later"), "{told:?}");
    assert!(stage.project().join(".mica/extensions/evil.ts").exists());
    assert!(!stage.project().join(".mica/extensions/other.ts").exists());
    let ran = runs(&stage, &["-p", "go on", "--yes"]).await;
    assert!(
        ran.err.contains("not used, because it is not trusted: extension .mica/extensions/evil.ts"),
        "{}",
        ran.err
    );
    let last = stage.server.captured().len() - 1;
    assert!(!tools(&stage, last).contains(&"evil".to_owned()));
    let listed = stage.does(&["ext", "list"]).await;
    assert!(listed.starts_with("evil  untrusted  "), "{listed}");
}

#[tokio::test]
async fn a_project_neither_takes_the_name_of_an_extension_of_the_users_nor_turns_it_off() {
    let scenario = Scenario::new().turn(writes("b.txt", "x")).turn(done());
    let stage = Stage::new(scenario).await;
    user(&stage, "guard.ts", BLOCK);
    project(&stage, "guard.ts", "export default () => {};\n");
    put(stage.project().join(".mica/config.toml"), "[extensions]\ndisable = [\"guard\"]\n");
    stage.does(&["trust"]).await;
    let ran = runs(&stage, &["-p", "write", "--yes"]).await;
    assert!(ran.err.contains("[extensions] in ") && ran.err.contains("is not used"), "{}", ran.err);
    assert!(ran.err.contains("extension guard is not used: another extension has this name"), "{}", ran.err);
    assert!(results(&stage)[0].contains("the project says no"), "{:?}", results(&stage));
}

#[tokio::test]
async fn trust_covers_what_a_projects_extension_asks_for() {
    let scenario =
        Scenario::new().turn(Turn::new().call("note_down", json!({ "what": "milk" }))).turn(done());
    let stage = Stage::new(scenario).await;
    let keeps = "// @mica-extension {\"permissions\": [\"storage\"]}\n\
                 export default (api) => { api.registerTool({ name: 'note_down', description: 'Keeps.', \
                 parameters: { type: 'object', properties: { what: { type: 'string' } } }, \
                 execute: async (_, args) => { await api.storage.set('what', args.what); return 'kept ' + args.what; } }); };\n";
    project(&stage, "keeps.ts", keeps);
    assert!(stage.does(&["trust", "--list"]).await.contains("; asks for storage): not trusted"));
    stage.does(&["trust"]).await;
    runs(&stage, &["-p", "remember milk", "--yes"]).await;
    assert_eq!(results(&stage)[0], "kept milk");
    // Under its own name and this project's: another project's of the same name is another.
    let folder = std::fs::read_dir(stage.folder.path().join("home/data/extensions")).unwrap();
    let files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("keeps@") && name.ends_with(".json") && name.len() == 23, "{name}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), r#"{"what":"milk"}"#);
}

#[tokio::test]
async fn nothing_hides_from_who_looks_before_trusting() {
    let stage = Stage::new(Scenario::new()).await;
    // The second line would go over the first, the third would read as a comment.
    let hiding = "throw new Error('\x1b[1A\r\x1b[2Kharmless');\n/*\u{202e} } ; */ evil();\u{fe01}\n";
    let path = project(&stage, "hides.ts", hiding);
    let shown =
        "    throw new Error('\\u{1b}[1A␍\\u{1b}[2Kharmless');\n    /*\\u{202e} } ; */ evil();\\u{fe01}\n";
    let listed = stage.does(&["trust", "--list"]).await;
    assert!(listed.contains(shown), "{listed:?}");
    let trusted = stage.does(&["trust"]).await;
    assert!(trusted.ends_with(&format!("a change needs trust anew:\n\n{shown}\n")), "{trusted:?}");
    let checked = stage.mica(&["ext", "check", path.to_str().unwrap()]).await;
    assert_eq!(checked.code, Some(1));
    assert!(checked.out.contains("\\u{1b}[1A␍\\u{1b}[2Kharmless"), "{:?}", checked.out);
    put(stage.folder.path().join("home/data/extensions/hides.log"), "one\x1b[2J\n");
    assert_eq!(stage.does(&["ext", "log", "hides"]).await, "one\\u{1b}[2J\n");
    put(
        stage.project().join(".mica/hooks.json"),
        &json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "evil\x1b[2K\r\nSessionStart" }] }] } })
            .to_string(),
    );
    put(
        stage.project().join(".mica/mcp.json"),
        &json!({ "mcpServers": { "it": { "command": "evil\x1b[2K\u{202e}" } } }).to_string(),
    );
    stage.does(&["trust"]).await;
    let hooks = stage.does(&["hooks", "list"]).await;
    assert!(hooks.contains("evil\\u{1b}[2K␍\\u{a}SessionStart"), "{hooks:?}");
    let servers = stage.does(&["mcp", "list"]).await;
    assert!(servers.contains("evil\\u{1b}[2K\\u{202e}"), "{servers:?}");
    for said in [listed, trusted, checked.out, hooks, servers] {
        assert!(!said.contains(['\x1b', '\r', '\u{202e}']), "{said:?}");
    }
}

#[tokio::test]
async fn trust_in_a_file_is_no_trust_in_a_folder_with_the_same_text() {
    let stage = Stage::new(Scenario::new()).await;
    let manifest = "{\"permissions\": [\"exec\"]}\n";
    let index = "export default () => {};\n";
    let (most, rest) = (manifest.len(), index.len());
    // What a person reads of the folder below, as a script of its own: comments, a block, and a function.
    let file = format!(
        "// ==== extension.json ({most} bytes)\n{manifest}\n// ==== index.ts ({rest} bytes)\n{index}\n"
    );
    let path = project(&stage, "tidy.ts", &file);
    stage.does(&["trust"]).await;
    let trusted = format!("extension .mica/extensions/tidy.ts ({} bytes): trusted\n", file.len());
    assert!(stage.does(&["trust", "--list"]).await.starts_with(&trusted));
    std::fs::remove_file(path).unwrap();
    project(&stage, "tidy/extension.json", manifest);
    project(&stage, "tidy/index.ts", index);
    let listed = stage.does(&["trust", "--list"]).await;
    assert!(
        listed.starts_with(&format!(
            "extension .mica/extensions/tidy (2 files, {} bytes; asks for exec): not trusted\n",
            most + rest
        )),
        "{listed}"
    );
    let rows = stage.does(&["ext", "list"]).await;
    assert!(rows.starts_with("tidy  untrusted  "), "{rows}");
}
