use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::json;

use super::*;
use crate::side::Loose;

pub(crate) fn store(side: &Arc<dyn Side>, given: Given) -> Store {
    Store::open(Arc::clone(side), Arc::new(|| jiff::Timestamp::from_second(60).unwrap()), given).unwrap()
}

pub(crate) fn loose() -> Arc<dyn Side> {
    Arc::new(Loose::default())
}

fn about() -> Given {
    let subject = json!({ "contact": { "email": "ada@example.org" } });
    Given {
        user: json!({ "name": "Ada" }),
        org: json!("Blue"),
        subject: Some(Arc::new(subject.as_object().unwrap().clone())),
        ..Given::default()
    }
}

fn var(text: &str) -> Reference {
    Reference::parse(text).unwrap()
}

#[tokio::test]
async fn variables_survive_and_are_the_only_thing_written() {
    let side = loose();
    let first = store(&side, about());
    first.write(&var("var:a"), json!({ "b": [1, 2] })).await.unwrap();
    first.write(&var("var:a.b[-1]"), json!(3)).await.unwrap();
    first.write(&var("var:c.d"), json!(true)).await.unwrap();
    let second = store(&side, about());
    assert_eq!(second.look("var:a").unwrap(), json!({ "b": [1, 3] }));
    assert_eq!(second.look("var:c").unwrap(), json!({ "d": true }));
    for (reference, expected) in [
        ("tool:search", "tool:search cannot be written: only variables can, such as var:name"),
        ("sys:now", "sys:now cannot be written: only variables can, such as var:name"),
        ("contact.email", "contact.email cannot be written: only variables can, such as var:name"),
        (
            "var:a.b[7]",
            "var:a.b[7] stands for nothing: in var:a there is no .b[7]; it is a list of 2. There is: var:a, var:c, sys:user, sys:org, \
             sys:now, contact",
        ),
    ] {
        let error = second.write(&var(reference), json!(1)).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test]
async fn what_there_is() {
    let side = loose();
    let store = store(&side, about());
    store.write(&var("var:a"), json!({ "b": 1 })).await.unwrap();
    for (reference, expected) in [
        ("var:a.b", Ok(json!(1))),
        ("sys:user.name", Ok(json!("Ada"))),
        ("sys:org", Ok(json!("Blue"))),
        ("sys:now", Ok(json!("1970-01-01T00:01:00Z"))),
        ("contact.email", Ok(json!("ada@example.org"))),
        (
            "sys:agent",
            Err(
                "sys:agent stands for nothing: there is no sys:agent. There is: var:a, sys:user, sys:org, sys:now, contact",
            ),
        ),
        (
            "var:b",
            Err(
                "var:b stands for nothing: there is no var:b. There is: var:a, sys:user, sys:org, sys:now, contact",
            ),
        ),
        (
            "var:a.c",
            Err(
                "var:a.c stands for nothing: in var:a there is no .c; there is .b. There is: var:a, sys:user, sys:org, sys:now, contact",
            ),
        ),
        (
            "thread.id",
            Err(
                "thread.id stands for nothing: there is no thread. There is: var:a, sys:user, sys:org, sys:now, contact",
            ),
        ),
        (
            "var:",
            Err("\"var:\" is not understood at character 5: the name of a variable is expected, not the end"),
        ),
    ] {
        assert_eq!(
            store.look(reference).map_err(|error| error.to_string()),
            expected.map_err(str::to_owned),
            "{reference}"
        );
    }
}

#[tokio::test]
async fn variables_have_a_size() {
    let side = loose();
    let store = store(&side, Given::default());
    let value = json!("x".repeat(LIMIT / 2));
    store.write(&var("var:a"), value.clone()).await.unwrap();
    let error = store.write(&var("var:b"), value.clone()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("var:b would be 6 bytes too large: all variables together may have {LIMIT}")
    );
    assert_eq!(store.list(), ["var:a", "sys:now"]);
    store.write(&var("var:a"), json!(null)).await.unwrap();
    store.write(&var("var:b"), value).await.unwrap();
}

/// Variables of a workflow.
#[derive(Default)]
struct Workflow(Mutex<BTreeMap<String, Value>>);

#[async_trait]
impl Variables for Workflow {
    fn get(&self, name: &str) -> Option<Value> {
        self.0.lock().unwrap().get(name).cloned()
    }

    fn names(&self) -> Vec<String> {
        self.0.lock().unwrap().keys().cloned().collect()
    }

    async fn set(&self, name: &str, value: Value) -> Result<(), String> {
        if name == "locked" {
            return Err("the workflow does not let it change".to_owned());
        }
        self.0.lock().unwrap().insert(name.to_owned(), value);
        Ok(())
    }
}

#[tokio::test]
async fn variables_can_be_somebody_elses() {
    let side = loose();
    let workflow = Arc::new(Workflow::default());
    workflow.set("order", json!({ "id": 7 })).await.unwrap();
    let store = store(&side, Given { variables: Some(Arc::clone(&workflow) as _), ..Given::default() });
    assert_eq!(store.look("var:order.id").unwrap(), json!(7));
    store.write(&var("var:order.paid"), json!(true)).await.unwrap();
    assert_eq!(workflow.get("order"), Some(json!({ "id": 7, "paid": true })));
    let error = store.write(&var("var:locked"), json!(1)).await.unwrap_err();
    assert_eq!(error.to_string(), "the store could not be kept: the workflow does not let it change");
    assert_eq!(store.list(), ["var:order", "sys:now"]);
    assert_eq!(side.all("store").unwrap(), Vec::<Value>::new(), "nothing is kept twice");
}

#[tokio::test]
async fn nobody_is_here_outside_of_a_call() {
    assert!(Store::here().is_none());
}
