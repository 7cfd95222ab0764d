//! `mica new` as people run it: the real binary, and its own check of what it made.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

/// What a run of the program came to.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

/// Runs the program in a folder, without a home and without any variable.
fn mica(folder: &Path, arguments: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_mica"))
        .env_clear()
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

const ORDERS: &str = r#"{"openapi":"3.0.0","info":{"title":"Orders"},"servers":[{"url":"/shop"}],"paths":{
"/orders/{order-id}":{"get":{"summary":"One order","responses":{"200":{"content":{"application/json":{"example":{"id":7}}}}}},
"delete":{"responses":{"204":{"description":"gone"}}},"trace":{"responses":{}}}}}"#;

#[test]
fn what_is_made_passes_the_check_for_every_runtime() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("orders.json"), ORDERS).unwrap();
    for runtime in ["4.1.0", "4.2.0", "4.3.0", "4.4.0", "4.5.0", "4.6.0"] {
        let name = format!("shop-{}", runtime.replace('.', "-"));
        let made = mica(folder.path(), &["new", &name, "--runtime", runtime, "--openapi", "orders.json"]);
        assert_eq!(
            (made.code, made.err.as_str()),
            (Some(0), "mica: left out: TRACE /orders/{order-id}: resources have no such method\n")
        );
        let checked = mica(&folder.path().join(&name), &["check", "--format", "json"]);
        assert_eq!(checked.code, Some(0), "{runtime}: {}{}", checked.out, checked.err);
        let report: serde_json::Value = serde_json::from_str(&checked.out).unwrap();
        assert_eq!(report["summary"]["errors"], 0, "{report}");
        assert!(!checked.out.contains("SYN"), "{runtime}: {}", checked.out);
    }
}

#[test]
fn a_project_of_the_newest_runtime_is_made_when_nothing_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let made = mica(folder.path(), &["new", "orders"]);
    assert_eq!(
        made,
        Ran {
            code: Some(0),
            out: "Made orders for runtime 4.6.0: 7 files.\nThe pom.xml names no Maven repository: the one with WSO2's plugins \
                  and connectors belongs into Maven's settings, or is given with --repository. Builds by the agent read those \
                  settings only with maven_settings = true, and reach only the hosts in network, both below [mi] in your own \
                  settings (docs/runtime.md).\nNext: cd orders && mica check, \
                  then mica to work on it.\n"
                .to_owned(),
            err: String::new(),
        }
    );
    let pom = fs::read_to_string(folder.path().join("orders/pom.xml")).unwrap();
    for part in [
        "<groupId>com.example</groupId>",
        "<project.runtime.version>4.6.0</project.runtime.version>",
        "<artifactId>mi-connector-http</artifactId>",
    ] {
        assert!(pom.contains(part), "{part}");
    }
    let ids: Vec<&str> =
        pom.split("<uuid>").nth(1).unwrap().split("</uuid>").next().unwrap().split('-').collect();
    assert_eq!(ids.iter().map(|part| part.len()).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
    let again = mica(folder.path(), &["new", "orders"]);
    assert_eq!(again.code, Some(2));
    assert_eq!(again.err, "mica: orders is there already, and is not empty: nothing was written\n");
}

#[test]
fn an_api_answers_the_examples_of_its_definition() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("orders.json"), ORDERS).unwrap();
    fs::create_dir(folder.path().join("inside")).unwrap();
    let made = mica(
        folder.path(),
        &[
            "-C",
            "inside",
            "new",
            "shop",
            "--openapi",
            "../orders.json",
            "--repository",
            "https://maven.example.org/all",
        ],
    );
    assert_eq!(
        made.out,
        "Made shop for runtime 4.6.0: 9 files.\nThe API Orders has 2 resources under /shop; each answers an example until \
         you write its flow.\nNext: cd shop && mica check, then mica to work on it.\n"
    );
    let root = folder.path().join("inside/shop/src/main/wso2mi");
    let api = fs::read_to_string(root.join("artifacts/apis/Orders.xml")).unwrap();
    assert_eq!(
        api,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Orders\" context=\"/shop\">
    <resource methods=\"GET\" uri-template=\"/orders/{order_id}\">
        <inSequence>
            <!-- One order -->
            <payloadFactory media-type=\"json\">
                <format>{
                  \"id\": 7
                }</format>
                <args/>
            </payloadFactory>
            <respond/>
        </inSequence>
    </resource>
    <resource methods=\"DELETE\" uri-template=\"/orders/{order_id}\">
        <inSequence>
            <property name=\"HTTP_SC\" value=\"204\" scope=\"axis2\"/>
            <property name=\"NO_ENTITY_BODY\" value=\"true\" scope=\"axis2\" type=\"BOOLEAN\"/>
            <respond/>
        </inSequence>
    </resource>
</api>
"
    );
    let kept = fs::read_to_string(root.join("resources/api-definitions/Orders.yaml")).unwrap();
    assert_eq!(kept, format!("{ORDERS}\n"));
}

#[test]
fn how_many_resources_answer_an_example_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, paths: &str, expect: &str| {
        let text = format!(
            r#"{{"openapi":"3.0.0","info":{{"title":"Pet Störe"}},"servers":[{{"url":"/{{base}}"}}],"paths":{paths}}}"#
        );
        fs::write(folder.path().join("api.json"), text).unwrap();
        let made = mica(folder.path(), &["new", name, "--openapi", "api.json"]);
        let row = made.out.lines().nth(1).unwrap();
        assert_eq!(row, format!("The API PetStoere has {expect}"));
        assert_eq!(
            made.err,
            "mica: left out: the path of /{base}: it has a variable without a default; the API lies under /petstoere\n"
        );
        let checked = mica(&folder.path().join(name), &["check"]);
        assert_eq!(checked.code, Some(0), "{}{}", checked.out, checked.err);
    };
    let schema = r#"{"responses":{"200":{"content":{"application/json":{"schema":{"type":"string"}}}}}}"#;
    check(
        "mixed",
        &format!(r#"{{"/a/{{x}}":{{"get":{schema},"put":{{}}}},"/a/{{y}}":{{"post":{{}}}}}}"#),
        "3 resources under /petstoere; 1 of 3 answer an example of the definition; the others say that they are not implemented.",
    );
    check(
        "none",
        r#"{"/a b":{"get":{},"put":{}}}"#,
        "2 resources under /petstoere; they say that they are not implemented until you write their flows.",
    );
    check(
        "all",
        &format!(r#"{{"/a":{{"get":{schema}}}}}"#),
        "1 resource under /petstoere; each answers an example until you write its flow.",
    );
}

#[test]
fn wrong_wishes_write_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("api.yaml"), "openapi: 3.0.0\n").unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    for (arguments, expect) in [
        (&["new", "1a"][..], "mica: \"1a\" cannot be the name of a project: it begins with a letter"),
        (&["new", "../a"], "mica: \"../a\" cannot be the name of a project"),
        (
            &["new", "a", "--group", "a..b"],
            "mica: \"a..b\" cannot be a group: groups look like com.example.shop",
        ),
        (
            &["new", "a", "--runtime", "3.2"],
            "mica: --runtime: the language of 3.2.0 is not described; known are 4.1",
        ),
        (
            &["new", "a", "--openapi", "api.yaml"],
            "mica: api.yaml: the definition has no path with a method that a resource can have",
        ),
        (&["new", "a", "--openapi", "gone.json"], "mica: gone.json: No such file or directory"),
        (&["new", "file"], "mica: file is there already, and is no folder\n"),
        (&["new", "a", "--repository", "maven"], "mica: \"maven\" is no address of a repository"),
        (&["new", "a", "--layout", "old"], "error: invalid value 'old'"),
        (&["new"], "error: the following required arguments were not provided:"),
    ] {
        let ran = mica(folder.path(), arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ran.err.starts_with(expect), "{arguments:?}: {}", ran.err);
    }
    let dry = mica(folder.path(), &["new", "a", "--dry-run"]);
    assert_eq!(dry.code, Some(0));
    assert!(dry.out.starts_with("a/.gitignore\na/README.md\na/deployment/deployment.toml\n"), "{}", dry.out);
    let left: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|one| one.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(left.iter().filter(|name| *name != "api.yaml" && *name != "file").count(), 0, "{left:?}");
}

#[test]
fn an_empty_folder_will_do() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    assert_eq!(mica(folder.path(), &["new", "empty"]).code, Some(0));
    assert!(folder.path().join("empty/pom.xml").is_file());
    assert_eq!(
        fs::read_dir(folder.path().join("empty/src/main/wso2mi/artifacts/sequences")).unwrap().count(),
        0
    );
    let help = mica(folder.path(), &["new", "--help"]);
    assert_eq!(help.code, Some(0));
    assert!(
        help.out.contains("Exit codes: 0 made, 1 it could not be written, 2 wrong usage."),
        "{}",
        help.out
    );
}
