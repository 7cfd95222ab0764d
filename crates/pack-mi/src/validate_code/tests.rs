//! What is told of several files, and of files that are not there.

use mica_ai::Content;

use super::*;
use crate::checking::tests::project;

const FOLDER: &str = "src/main/wso2mi/artifacts/apis";

fn api(name: &str, body: &str) -> String {
    format!(
        "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"{name}\" context=\"/{name}\"><resource methods=\"GET\">\
         <inSequence>{body}<respond/></inSequence></resource></api>\n"
    )
}

/// What is told of two good files, a bad one, and one that is not there, by their names.
fn told(names: &[&str]) -> Result<String, String> {
    let good = "<log category=\"INFO\"><message>hello</message></log>";
    let folder = project(&[
        ("apis/One.xml", &api("One", good)),
        ("apis/Two.xml", &api("Two", good)),
        ("apis/Bad.xml", &api("Bad", "<lag/>")),
    ]);
    let workspace = Workspace::new(folder.path()).unwrap();
    let names = names.iter().map(|name| format!("{FOLDER}/{name}.xml")).collect();
    let args = ValidateArgs { file_paths: Some(names) };
    match validate(&workspace, &Checker::new(folder.path()), args) {
        Ok(output) => match output.content.as_slice() {
            [Content::Text { text }] => Ok(text.clone()),
            other => panic!("{other:?}"),
        },
        Err(error) => Err(error.message),
    }
}

#[test]
fn what_is_in_order_is_said_once() {
    assert_eq!(told(&["One", "Two"]).as_deref(), Ok("Checked 2 files: nothing wrong."));
    let mixed = told(&["One", "Bad"]).unwrap();
    assert!(mixed.starts_with(&format!("Checked 2 files: 1 error.\nChecked {FOLDER}/Bad.xml")), "{mixed}");
    assert_eq!(mixed.matches("nothing wrong").count(), 1, "{mixed}");
}

#[test]
fn a_missing_file_does_not_keep_the_others_from_being_checked() {
    let some = told(&["One", "Gone", "Two"]).unwrap();
    let expect = format!("Checked 2 files: nothing wrong.\nNot checked: There is no {FOLDER}/Gone.xml.");
    assert!(some.starts_with(&expect), "{some}");
    let none = told(&["Gone"]).unwrap_err();
    assert!(none.starts_with(&format!("There is no {FOLDER}/Gone.xml.")), "{none}");
}
