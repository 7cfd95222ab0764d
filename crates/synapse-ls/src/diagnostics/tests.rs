//! What is sent with a finding.

use synapse_lang::diagnostic::Code as Number;
use synapse_lang::project::Project;
use synapse_lang::text::Span;

use super::*;
use crate::Options;
use crate::client::Client;

fn finding(code: u16, class: Class, span: Span) -> Diagnostic {
    let message = "A message.".to_owned();
    Diagnostic { code: Number(code), class, severity: Severity::Warning, span, message, fixes: Vec::new() }
}

/// What is sent about a span of the second of two files, in a project at `/p`.
fn sent_about(path: &str, code: u16, class: Class, text: &str) -> Value {
    let mut project = Project::default();
    project.set("a.xml", "<sequence name='Audit'/>");
    project.set("b.xml", "<sequence name='Audit'>\n<sequence key='Audit'/></sequence>");
    let (client, options) = (
        Client::read(&json!({ "textDocument": { "publishDiagnostics": { "relatedInformation": true } } })),
        Options::default(),
    );
    let uri = Uri(format!("file:///p/{path}"));
    let file = project.file(path).unwrap();
    let document = file.document();
    let at = u32::try_from(document.source().rfind(text).unwrap()).unwrap();
    let span = Span::new(at, at + u32::try_from(text.len()).unwrap());
    let root = Some(std::path::Path::new("/p"));
    let view = View {
        uri: &uri,
        document,
        file,
        project: &project,
        path,
        root,
        ready: true,
        client: &client,
        options: &options,
        memo: None,
    };
    json!(one_sent(&view, &finding(code, class, span)))
}

fn addresses(sent: &Value) -> Vec<&str> {
    let related = sent["relatedInformation"].as_array();
    related.into_iter().flatten().map(|one| one["location"]["uri"].as_str().unwrap()).collect()
}

#[test]
fn a_finding_about_a_name_shows_where_it_is_defined() {
    // A second definition points at the first, and a reference at both.
    let twice = sent_about("a.xml", 101, Class::Surprise, "Audit");
    assert_eq!(addresses(&twice), ["file:///p/b.xml"]);
    assert_eq!(twice["relatedInformation"][0]["message"], "Audit is defined here");
    let named = sent_about("b.xml", 101, Class::Surprise, "Audit");
    assert_eq!(addresses(&named), ["file:///p/a.xml", "file:///p/b.xml"]);
    assert_eq!(
        named["relatedInformation"][1]["location"]["range"]["start"],
        json!({ "line": 0, "character": 16 })
    );
    assert_eq!(addresses(&sent_about("b.xml", 101, Class::Surprise, "sequence")), [""; 0]);
}

#[test]
fn what_is_never_read_is_faded() {
    assert_eq!(sent_about("a.xml", 101, Class::Ignored, "name")["tags"], json!([1]));
    assert_eq!(sent_about("a.xml", 101, Class::Fault, "name").get("tags"), None);
}

#[test]
fn the_same_findings_have_the_same_name() {
    let report = |previous: Option<&str>| report(&[], previous);
    let id = report(None)["resultId"].as_str().unwrap().to_owned();
    assert_eq!(report(Some(&id)), json!({ "kind": "unchanged", "resultId": id }));
    assert_eq!(report(Some("other"))["kind"], "full");
}
