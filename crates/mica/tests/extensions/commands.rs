//! `mica ext` and `mica docs`.

use super::*;

#[tokio::test]
async fn extensions_are_listed_with_what_became_of_them() {
    let stage = Stage::new(Scenario::new()).await;
    let none = stage.does(&["ext", "list"]).await;
    assert!(none.starts_with("there are none: put files into "), "{none}");
    example(&stage, "audit-log");
    example(&stage, "custom-tool");
    user(&stage, "broken.ts", "export default 3;\n");
    project(&stage, "theirs.ts", "export default () => {};\n");
    stage.does(&["ext", "disable", "custom-tool"]).await;
    let listed: Value =
        serde_json::from_str(&stage.does(&["ext", "list", "--format", "json"]).await).unwrap();
    let rows: Vec<(&str, &str, &str)> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (row["name"].as_str().unwrap(), row["where"].as_str().unwrap(), row["state"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("audit-log", "user", "loaded"),
            ("broken", "user", "failed"),
            ("custom-tool", "user", "disabled"),
            ("theirs", "project", "untrusted"),
        ]
    );
    assert_eq!(listed[0]["brings"]["commands"], json!(["audit"]));
    assert_eq!((listed[0]["asks"].clone(), listed[0]["granted"].clone()), (json!(["storage"]), json!([])));
    stage.does(&["ext", "allow", "audit-log"]).await;
    stage.does(&["ext", "enable", "custom-tool"]).await;
    let listed = stage.does(&["ext", "list"]).await;
    assert!(listed.contains("asks for storage; allowed: storage\n"), "{listed}");
    assert!(listed.contains("tools count_words\n"), "{listed}");
    stage.does(&["ext", "allow", "audit-log", "--revoke"]).await;
    assert!(stage.does(&["ext", "list"]).await.contains("asks for storage; allowed: nothing; "));
    let unknown = stage.fails(&["ext", "allow", "nope"]).await;
    assert!(
        unknown.contains("there is no extension \"nope\"; there are audit-log, broken, custom-tool, theirs"),
        "{unknown}"
    );
    let theirs = stage.fails(&["ext", "allow", "theirs"]).await;
    assert!(theirs.contains("`mica trust` trusts it"), "{theirs}");
}

#[tokio::test]
async fn the_starter_loads_and_mistakes_are_told_with_their_place() {
    let stage = Stage::new(Scenario::new()).await;
    let made = stage.does(&["ext", "new", "mine"]).await;
    let path = made.lines().next().unwrap().to_owned();
    assert!(path.ends_with("home/config/extensions/mine.ts"), "{made}");
    let checked = stage.does(&["ext", "check", &path]).await;
    assert_eq!(checked, "mine loads: judges calls; tools roll_dice; commands /mine\nasks for: nothing\n");
    assert!(stage.fails(&["ext", "new", "mine"]).await.contains("is there already"));
    assert!(stage.fails(&["ext", "new", "../mine"]).await.contains("is no name for an extension"));
    let types = stage.does(&["ext", "types"]).await;
    assert!(types.contains("ExtensionFactory"), "{types}");
    for (source, expect) in [
        ("export default (api) => {\n  api.on('tool_call', (;\n};\n", "line 2, column 24"),
        ("export const a = 1;\n", "the file must export a function as its default"),
        ("export default (api) => {\n\n  throw new Error('no way');\n};\n", "no way (at default (bad.ts:3:"),
        ("export default (api) => { api.on('nothing', () => {}); };\n", "there is no event \"nothing\""),
        ("export default () => { for (;;); };\n", "it computed for longer than"),
    ] {
        let path = put(stage.project().join("bad.ts"), source);
        let ran = stage.mica(&["ext", "check", path.to_str().unwrap()]).await;
        assert_eq!(ran.code, Some(1), "{source}: {}{}", ran.out, ran.err);
        assert!(
            ran.out.starts_with("bad does not load: ") && ran.out.contains(expect),
            "{source}: {}",
            ran.out
        );
    }
    let path = put(
        stage.project().join("bad.ts"),
        "// @mica-extension {\"permissions\": [\"root\"]}\nexport default 1;\n",
    );
    let told = stage.fails(&["ext", "check", path.to_str().unwrap()]).await;
    assert!(told.contains("there is no permission \"root\""), "{told}");
}

#[tokio::test]
async fn the_pages_are_in_the_program_for_people_and_models() {
    let scenario = Scenario::new()
        .turn(Turn::new().call("mica_docs", json!({ "page": "extensions" })))
        .turn(Turn::new().call("mica_docs", json!({ "page": "extensions/guardrails.ts" })))
        .turn(done());
    let stage = Stage::new(scenario).await;
    let listed = stage.does(&["docs"]).await;
    assert!(listed.contains("\nextensions ") && listed.contains("\nextensions/guardrails.ts "), "{listed}");
    let page = stage.does(&["docs", "extensions"]).await;
    assert!(page.starts_with("# Extensions\n"), "{page}");
    assert!(stage.fails(&["docs", "nope"]).await.contains("there is no page \"nope\""));
    runs(&stage, &["-p", "read"]).await;
    let told = results(&stage);
    assert!(told[1].starts_with("# Extensions\n") && told[0].starts_with("// Guardrails: "), "{told:?}");
}

#[tokio::test]
async fn what_is_not_trusted_is_allowed_nothing_and_what_mica_has_is_not_brought() {
    let stage = Stage::new(Scenario::new()).await;
    let helps = "// @mica-extension {\"permissions\": [\"exec:git\"]}\nexport default (api) => {\n\
                 for (const name of ['help', 'mine']) api.registerCommand(name, { handler() {} });\n};\n";
    let path = project(&stage, "helps.ts", helps);
    let row = |listed: &str| serde_json::from_str::<Value>(listed).unwrap()[0].clone();
    let format = &["ext", "list", "--format", "json"];
    let untrusted = row(&stage.does(format).await);
    assert_eq!((&untrusted["state"], &untrusted["granted"]), (&json!("untrusted"), &json!([])));
    let listed = stage.does(&["ext", "list"]).await;
    assert!(listed.contains("asks for exec:git; allowed: nothing\n"), "{listed}");
    stage.does(&["trust"]).await;
    let trusted = row(&stage.does(format).await);
    assert_eq!((&trusted["state"], &trusted["granted"]), (&json!("loaded"), &json!(["exec:git"])));
    let brings = &trusted["brings"];
    assert_eq!((&brings["commands"], &brings["clashing"]), (&json!(["mine"]), &json!(["help"])));
    let checked = stage.does(&["ext", "check", path.to_str().unwrap()]).await;
    assert_eq!(
        checked,
        "helps loads: commands /mine; not used, because mica has one of this name: /help\nasks for: exec:git\n"
    );
}

#[tokio::test]
async fn a_command_that_nobody_has_is_no_prompt() {
    let stage = Stage::new(Scenario::new().turn(done())).await;
    user(
        &stage,
        "hello.ts",
        "export default (api) => { api.registerCommand('hello', { description: 'x', handler: async () => 'hi' }); };\n",
    );
    for (prompt, says) in [
        ("/helo you", "mica: there is no command /helo; did you mean /hello?"),
        ("/zzz", "mica: there is no command /zzz. To say it to the model"),
        ("/undo", "mica: /undo is a command of the interactive program"),
    ] {
        let ran = stage.ask(&["-p", prompt]).await;
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{prompt}: {}", ran.err);
        assert!(ran.err.contains(says), "{prompt}: {}", ran.err);
    }
    assert_eq!(stage.server.captured().len(), 0, "nothing was said to the model");
    // A path is something to say.
    assert_eq!(runs(&stage, &["-p", "/etc/hosts: what is it?"]).await.out, "Done.\n");
}
