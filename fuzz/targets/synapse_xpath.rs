//! XPath: parsing never panics, and what parses is evaluated to one result, or to an error, and ends.

#![no_main]

use libfuzzer_sys::fuzz_target;
use synapse_lang::xpath::{self, Environment, EvaluateError, Forest, NodeRef, Value};

const DOCUMENT: &str = r#"<o:order xmlns:o="http://orders.example" id="7"><o:line n="1">10.5</o:line><o:line n="2">3<!-- c --></o:line><plain xmlns="">a &amp; b<?pi x?></plain></o:order>"#;

struct World {
    forest: Forest,
    start: NodeRef,
}

impl Environment for World {
    fn forest(&self) -> &Forest {
        &self.forest
    }

    fn start(&self) -> Option<NodeRef> {
        Some(self.start)
    }

    fn namespace(&self, prefix: &str) -> Option<&str> {
        (prefix == "o").then_some("http://orders.example")
    }

    fn variable(&self, prefix: Option<&str>, local: &str) -> Option<Value> {
        (prefix.is_none() || local == "x").then(|| Value::Text(local.to_owned()))
    }

    fn function(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, EvaluateError>> {
        (name == "get-property").then(|| arguments.first().cloned().ok_or(EvaluateError::NotNodes))
    }
}

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let Ok(parsed) = xpath::parse(&text) else { return };
    let mut forest = Forest::default();
    let start = forest.add(DOCUMENT).unwrap_or_else(|error| panic!("the document is none: {error}"));
    let world = World { forest, start };
    let first = format!("{:?}", xpath::evaluate(&parsed, &world));
    assert_eq!(first, format!("{:?}", xpath::evaluate(&parsed, &world)), "{text:?} has one result");
});
