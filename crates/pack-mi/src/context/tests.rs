//! What the model is told of the project, and how much of it.

use std::path::Path;

use mica_domain::{Domain, StaticView, Surroundings};
use serde_json::json;

use super::*;
use crate::checking::tests::{project, put};

fn told(checker: &Checker, id: &str) -> String {
    said(&sections(checker, &State::default()).into_iter().find(|section| section.id() == id).unwrap())
}

/// What a section says; nothing when it says nothing.
fn said(section: &Section<Turn>) -> String {
    let (tools, profile) = (Default::default(), Default::default());
    section.said(&StaticView { tools: &tools, profile }).map(|said| said.text).unwrap_or_default()
}

#[test]
fn the_project_by_folder() {
    let folder =
        project(&[("apis/A.xml", "<api/>"), ("apis/B.xml", "<api/>"), ("sequences/S.xml", "<sequence/>")]);
    put(folder.path(), "README.md", "");
    put(folder.path(), "target/built.xml", "");
    put(folder.path(), "src/main/wso2mi/resources/connectors/my-connector-1.0.0.zip", "");
    let checker = Checker::new(folder.path());
    assert_eq!(
        told(&checker, "project"),
        "Files of the project:\nsrc/main/wso2mi/artifacts/apis/: A.xml, B.xml\nsrc/main/wso2mi/artifacts/sequences/: \
         S.xml\nsrc/main/wso2mi/resources/connectors/: my-connector-1.0.0.zip\n./: pom.xml, README.md"
    );
    assert_eq!(told(&checker, "runtime"), "The project is built for Micro Integrator 4.4.0.");
    assert_eq!(told(&checker, "connectors"), "Connectors of this project: my-connector-1.0.0.zip.");
}

#[test]
fn many_files_are_counted() {
    let names: Vec<String> = (0..300).map(|number| format!("apis/Api{number:03}.xml")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "<api/>")).collect();
    files.push(("sequences/S.xml", "<sequence/>"));
    let folder = project(&files);
    let text = told(&Checker::new(folder.path()), "project");
    assert!(text.contains("S.xml") && text.contains("pom.xml"), "small folders keep theirs: {text}");
    assert!(text.contains("… 300 in all") && text.ends_with("… and 252 more files"), "{text}");
    assert!(text.chars().count() <= CHARACTERS);
}

#[test]
fn no_project_is_said() {
    let checker = Checker::new(Path::new("/nonexistent"));
    assert_eq!(told(&checker, "runtime"), "No Micro Integrator project was found in this folder.");
    assert_eq!(told(&checker, "project"), "");
}

#[test]
fn what_the_editor_shows_comes_and_goes() {
    let folder = project(&[]);
    let workspace = mica_tools::Workspace::new(folder.path()).unwrap();
    let checker = Checker::new(folder.path());
    let pack = crate::MiPack::new(
        &workspace,
        mica_tools::Sight::Blind,
        mica_domain::Facts::default(),
        mica_domain::Instructions::default(),
        checker.clone(),
    );
    let mut state = State::default();
    let facts = json!({ "open_file": "apis/A.xml", "selection": "<call/>" });
    let here = Surroundings { facts: facts.as_object().unwrap().clone(), ..Surroundings::default() };
    let editor = |state: &State| said(&sections(&checker, state).pop().unwrap());
    pack.apply_context(&mut state, &here);
    assert_eq!(editor(&state), "The user has apis/A.xml open.\nSelected there:\n<call/>");
    pack.apply_context(&mut state, &Surroundings::default());
    assert_eq!(editor(&state), "");
}
