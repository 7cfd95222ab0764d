//! Checking again gives what checking gives, for an API that has everything wrong that the pages know.

use super::*;
use crate::check::check;
use crate::pages::{self, Fence, Verdict};
use crate::project::Project;

const PATH: &str = "src/main/wso2mi/artifacts/apis/All.xml";

/// A resource for every example of steps, bad or good.
fn api() -> String {
    let mut text =
        String::from("<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"All\" context=\"/all\">\n");
    let examples = pages::all().iter().flat_map(pages::Page::examples);
    let steps = examples.filter(|one| {
        let plain = one.fence == Fence::Xml && !one.text.contains("xmlns") && one.option("raw").is_none();
        plain && matches!(one.verdict, Verdict::Bad | Verdict::Good) && one.option("case").is_none()
    });
    for (number, one) in steps.enumerate() {
        if Document::parse(format!("<a>{}</a>", one.text)).problems().is_empty() {
            let steps = &one.text;
            text.push_str(&format!(
                "<resource methods=\"GET\" uri-template=\"/{number}\">\n<inSequence>\n{steps}</inSequence>\n</resource>\n"
            ));
        }
    }
    // Two that concern each other.
    text.push_str("<resource methods=\"GET\" uri-template=\"/0\"/>\n<resource/>\n<resource/>\n</api>\n");
    text
}

#[track_caller]
fn same(text: &str, project: &mut Project, memo: &Memo) {
    project.set(PATH, text);
    let document = Document::parse(text);
    assert!(document.problems().is_empty());
    for project in [None, Some(&*project)] {
        let setting = Setting { path: Some(PATH), runtime: None, project };
        let expected = check(&document, setting);
        assert!(expected.len() > 100);
        let found = check_again(&document, setting, memo);
        let differs = found.iter().zip(&expected).find(|(one, two)| one != two);
        assert_eq!((differs, found.len()), (None, expected.len()));
    }
}

/// Resources do not see each other's variables.
#[test]
fn resources_are_looked_into_alone() {
    let resource = |path: &str, steps: &str| {
        format!(
            "<resource methods=\"GET\" uri-template=\"/{path}\"><inSequence>{steps}<respond/></inSequence></resource>"
        )
    };
    let sets = resource("a", "<variable name=\"total\" expression=\"${now()}\"/>");
    let reads = resource("b", "<variable name=\"other\" expression=\"${vars.total}\"/>");
    let text = format!(
        "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"A\" context=\"/a\">{sets}{reads}</api>"
    );
    let found = check(&Document::parse(text.as_str()), Setting::default());
    let codes: Vec<u16> = found.iter().map(|one| one.code.0).collect();
    assert_eq!(codes, [449]);
    assert_eq!(found[0].span.of(&text), "total");
}

#[test]
fn what_is_remembered_is_what_would_be_found() {
    let text = api();
    assert!(text.matches("<resource").count() > 100);
    let mut project = Project::default();
    project.set("pom.xml", "<project><artifactId>p</artifactId></project>");
    let memo = Memo::default();
    same(&text, &mut project, &memo);
    for (from, to) in [
        ("<inSequence>", "<inSequence><log level=\"FULL\"/>"),
        ("uri-template=\"/3\"", "uri-template=\"/2\""),
        ("name=\"All\"", "name=\"Others\""),
        ("</inSequence>", "<sequence key=\"Elsewhere\"/><log/></inSequence>"),
    ] {
        same(&text.replacen(from, to, 1), &mut project, &memo);
    }
    // Another file changes what a resource that did not change leads to.
    let answers =
        "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Elsewhere\"><respond/></sequence>";
    project.set("src/main/wso2mi/artifacts/sequences/Elsewhere.xml", answers);
    let text = text.replacen("</inSequence>", "<sequence key=\"Elsewhere\"/><log/></inSequence>", 1);
    same(&text, &mut project, &memo);
    project.set("src/main/wso2mi/artifacts/sequences/Elsewhere.xml", answers.replace("respond", "log"));
    same(&text, &mut project, &memo);
    project.remove("src/main/wso2mi/artifacts/sequences/Elsewhere.xml");
    same(&text, &mut project, &memo);
}
