//! Repairs by name, all safe ones, and what is refused.

#![allow(clippy::disallowed_methods, reason = "tests prepare files themselves")]

use std::fs;

use mica_domain::Domain as _;

use super::*;
use crate::checking::tests::project;

const PATH: &str = "src/main/wso2mi/artifacts/sequences/A.xml";

fn planned(body: &str, args: &serde_json::Value) -> Result<String, String> {
    let text = format!("<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"A\">{body}</sequence>\n");
    let folder = project(&[("sequences/A.xml", &text)]);
    let workspace = Workspace::new(folder.path()).unwrap();
    let checker = Checker::new(workspace.root());
    let mut all = serde_json::json!({ "path": PATH });
    all.as_object_mut().unwrap().extend(args.as_object().unwrap().clone());
    let args: ApplyArgs = serde_json::from_value(all).unwrap();
    let answer = plan(&workspace, &checker, &args);
    assert_eq!(fs::read_to_string(folder.path().join(PATH)).unwrap(), text, "planning changes nothing");
    answer.map(|planned| planned.change.after).map_err(|error| error.message)
}

#[test]
fn by_code_and_by_line() {
    let body = "\n<property name=\"HTTP_SC\" value=\"404\"/>\n<property name=\"HTTP_SC\" value=\"500\"/>\n";
    let found = {
        let folder = project(&[(
            "sequences/A.xml",
            &format!("<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"A\">{body}</sequence>\n"),
        )]);
        let checker = Checker::new(folder.path());
        checker.files(&[folder.path().join(PATH)])[0].found.clone()
    };
    let scope = found.iter().find(|one| !one.fixes.is_empty()).expect("a missing scope has a repair");
    let code = scope.code.to_string();
    let both = planned(body, &serde_json::json!({ "code": code }));
    assert_eq!(both.unwrap_err(), format!("{code} is at lines 2, 3: say which line. Nothing was changed."));
    let second = planned(body, &serde_json::json!({ "code": code, "line": 3 })).unwrap();
    assert!(
        second.contains("value=\"404\"/>") && second.contains("value=\"500\" scope=\"axis2\""),
        "{second}"
    );
    let elsewhere = planned(body, &serde_json::json!({ "code": code, "line": 9 })).unwrap_err();
    assert_eq!(elsewhere, format!("{code} is at line 2, 3, not there. Nothing was changed."));
    let unknown =
        planned(body, &serde_json::json!({ "code": code, "line": 2, "title": "Make tea" })).unwrap_err();
    assert!(unknown.contains("offers no repair \"Make tea\", but "), "{unknown}");
    let all = planned(body, &serde_json::json!({})).unwrap();
    assert_eq!(all.matches("scope=\"axis2\"").count(), 2, "{all}");
}

#[test]
fn what_cannot_be_repaired_is_said() {
    assert_eq!(
        planned("<drop/>", &serde_json::json!({})).unwrap_err(),
        format!("{PATH} has no repair that is safe without a look. Nothing was changed.")
    );
    assert_eq!(
        planned("<drop/>", &serde_json::json!({ "code": "SYN0001" })).unwrap_err(),
        format!("{PATH} has no finding SYN0001. Nothing was changed.")
    );
    assert!(
        planned("<drop/>", &serde_json::json!({ "code": "nonsense" }))
            .unwrap_err()
            .contains("they look like SYN0123")
    );
    assert!(planned("<drop/>", &serde_json::json!({})).unwrap_err().contains("has no repair that is safe"));
}

#[tokio::test]
async fn a_write_is_followed_by_what_the_check_found() {
    let folder = project(&[(
        "sequences/A.xml",
        "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"A\"><nonsense/></sequence>",
    )]);
    let workspace = Workspace::new(folder.path()).unwrap();
    let pack = crate::MiPack::new(
        &workspace,
        mica_tools::Sight::Blind,
        mica_domain::Facts::default(),
        mica_domain::Instructions::default(),
        Checker::new(workspace.root()),
    );
    let changed =
        [workspace.root().join(PATH), workspace.root().join("pom.xml"), workspace.root().join("notes.txt")];
    let remark = pack.after_write(&changed, &mica_domain::State::default()).await.unwrap();
    assert!(
        remark.text.starts_with(&format!("Checked {PATH} (MI 4.4.0): 1 error.\n- error SYN")),
        "{}",
        remark.text
    );
    assert_eq!(remark.checks.unwrap()[0]["errors"], 1);
    assert_eq!(
        pack.after_write(&[workspace.root().join("notes.txt")], &mica_domain::State::default()).await,
        None
    );
}
