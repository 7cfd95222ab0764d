//! What is listed, what is told when it is loaded, and what a call through another tool stands for.

use mica_agent::{Args, RunId, ToolCx, ToolOutput, TypedTool};
use mica_ai::id::CallId;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;

fn tool(name: &str, description: &str) -> Arc<dyn Tool> {
    let tool = TypedTool::new(name, description, |_: Value, _| async { Ok(ToolOutput::text("done")) });
    Arc::new(tool.with(|spec| {
        spec.schema = json!({ "type": "object", "properties": { "to": { "type": "string" } } });
    }))
}

fn deferred() -> Deferred {
    let long = format!("Stores {}", "many things ".repeat(20));
    Deferred::new(vec![
        tool("store", &long),
        tool("ship", "replaced"),
        tool("ship", "Ships it.\nTo  anywhere. Takes a day."),
        tool("e_mail", "Sends e.g. letters"),
    ])
}

#[test]
fn each_has_a_line() {
    assert_eq!(
        deferred().listing().unwrap(),
        "More tools can be called with call_tool. Load those you need with load_tools first, several at once: it tells what \
         they take.\n\
         - e_mail: Sends e.g. letters\n\
         - ship: Ships it\n\
         - store: Stores many things many things many things many things many things many things many things many things \
         many things many …"
    );
    assert_eq!(Deferred::default().listing(), None);
    assert!(Deferred::default().tools().is_empty());
    let names: Vec<String> = deferred().tools().iter().map(|tool| tool.spec().name.clone()).collect();
    assert_eq!(names, [LOAD, CALL]);
}

#[tokio::test]
async fn a_shelf_grows_without_a_change_of_what_is_sent() {
    let shelf = Shelf::default();
    let deferred = Deferred::new(vec![tool("ship", "Ships it.")]).growing(vec![shelf.clone()]);
    let sent: Vec<_> = deferred.tools().iter().map(|tool| tool.spec().definition()).collect();
    let listing = deferred.listing();
    let call = CallTool::new(&deferred);
    let behind = || call.behind().iter().map(|tool| tool.spec().description.clone()).collect::<Vec<_>>();
    assert_eq!(behind(), ["Ships it."]);
    // Sorted; one that was there from the start is not replaced.
    shelf.put(vec![tool("weigh", "Weighs."), tool("ship", "Sinks it."), tool("count", "Counts.")]);
    assert_eq!(behind(), ["Ships it.", "Counts.", "Weighs."]);
    assert_eq!(deferred.get("weigh").map(|tool| tool.spec().name.clone()).as_deref(), Some("weigh"));
    shelf.put(vec![tool("count", "Counts twice.")]);
    assert_eq!(behind(), ["Ships it.", "Counts twice."]);
    assert!(
        Arc::ptr_eq(&call.behind(), &call.behind()),
        "they are joined once for as long as the shelf stays so"
    );
    let now: Vec<_> = deferred.tools().iter().map(|tool| tool.spec().definition()).collect();
    assert_eq!((now, deferred.listing()), (sent, listing));
    // A shelf that is empty is no reason to leave the two out: something may come.
    let empty = Deferred::default().growing(vec![Shelf::default()]);
    assert_eq!((empty.is_empty(), empty.tools().len()), (false, 2));
}

async fn loaded(names: Value) -> Result<(String, Value), String> {
    let cx = ToolCx::new(RunId::fresh(), CallId::from("c"), CancellationToken::new(), |_| {});
    let args = Args::from_iter([("names".to_owned(), names)]);
    let output = LoadTools::new(&deferred()).call(args, &cx).await.map_err(|error| error.message)?;
    let [mica_ai::Content::Text { text }] = output.content.as_slice() else {
        return Err("no text".to_owned());
    };
    Ok((text.clone(), output.details.unwrap_or_default()))
}

#[tokio::test]
async fn several_are_loaded_at_once() {
    let schema = r#"{"type":"object","properties":{"to":{"type":"string"}}}"#;
    let (text, details) = loaded(json!(["ship", "e_mail", "ship"])).await.unwrap();
    assert_eq!(
        text,
        format!(
            "<tool name=\"ship\">\nShips it.\nTo  anywhere. Takes a day.\nArguments (JSON Schema): {schema}\n</tool>\n\
             <tool name=\"e_mail\">\nSends e.g. letters\nArguments (JSON Schema): {schema}\n</tool>\n\
             Call them with call_tool: {{\"name\": …, \"arguments\": {{…}}}}."
        )
    );
    assert_eq!(details, json!({ "loaded": ["ship", "e_mail"] }));
    // What is there is told all the same.
    let (text, _) = loaded(json!(["ship", "Stor"])).await.unwrap();
    assert!(text.contains("\nThere is no tool \"Stor\" to load. Did you mean \"store\"?\n"), "{text}");
    assert_eq!(
        loaded(json!(["shp", "zebra"])).await,
        Err("There is no tool \"shp\" to load. Did you mean \"ship\"?\n\
             There is no tool \"zebra\" to load. There are: e_mail, ship, store."
            .to_owned())
    );
    assert_eq!(loaded(json!([])).await, Err("Say which tools to load.".to_owned()));
}

/// Puts a tool on a shelf when it is asked for one.
struct Later(Shelf);

#[async_trait::async_trait]
impl Supplier for Later {
    async fn fetch(&self, name: &str) {
        tokio::task::yield_now().await;
        if name.starts_with("far_") {
            let many = (0..18).map(|number| tool(&format!("far_{number:02}"), "Comes late."));
            self.0.put(many.collect());
        }
    }
}

#[tokio::test]
async fn what_is_on_its_way_is_waited_for_and_one_name_may_be_for_many() {
    let shelf = Shelf::default();
    shelf.supplied_by(Arc::new(Later(shelf.clone())));
    let deferred = Deferred::new(vec![tool("ship", "Ships it.")]).growing(vec![shelf]);
    let load = LoadTools::new(&deferred);
    let cx = ToolCx::new(RunId::fresh(), CallId::from("c"), CancellationToken::new(), |_| {});
    let load = async |names: Value| {
        let args = Args::from_iter([("names".to_owned(), names)]);
        let output = load.call(args, &cx).await.map_err(|error| error.message)?;
        let details = output.details.clone().unwrap_or_default();
        let [mica_ai::Content::Text { text }] = output.content.as_slice() else {
            return Err("no text".to_owned());
        };
        Ok((text.clone(), details["loaded"].as_array().map_or(0, Vec::len)))
    };
    assert_eq!(
        load(json!(["near_*"])).await,
        Err("There is no tool \"near_*\" to load. There are: ship.".to_owned())
    );
    let (text, count) = load(json!(["far_*"])).await.unwrap();
    assert_eq!(count, 16);
    assert!(
        text.contains("\nfar_* is also for these, to be loaded by their names: far_16, far_17.\n"),
        "{text}"
    );
    let (_, count) = load(json!(["far_17", "ship"])).await.unwrap();
    assert_eq!(count, 2);
}

#[test]
fn what_a_call_stands_for() {
    let check = |args: Value, expect: Result<(&str, Value), &str>| {
        let Value::Object(members) = &args else { panic!("{args}") };
        let stands = CallTool::new(&deferred()).stands_for(members).unwrap();
        let found = stands.map(|(name, inner)| (name, Value::Object(inner))).map_err(|error| error.message);
        let expect = expect.map(|(name, inner)| (name.to_owned(), inner)).map_err(str::to_owned);
        assert_eq!(found, expect, "{args}");
        let call = ToolCall {
            id: CallId::from("c"),
            name: CALL.to_owned(),
            arguments: Arguments::from_value(&args),
        };
        let plain = unwrapped(&call);
        match &found {
            Ok((name, inner)) => {
                let unwrapped = Value::Object(plain.arguments.parse().unwrap());
                assert_eq!((&plain.name, &unwrapped), (name, inner), "{args}");
            }
            Err(_) => assert_eq!(*plain, call, "{args}"),
        }
    };
    check(json!({ "name": "ship", "arguments": { "to": "x" } }), Ok(("ship", json!({ "to": "x" }))));
    check(json!({ "name": " ship ", "arguments": "{\"to\": \"x\"}" }), Ok(("ship", json!({ "to": "x" }))));
    check(json!({ "name": "ship", "arguments": null }), Ok(("ship", json!({}))));
    check(json!({ "name": "ship", "arguments": "" }), Ok(("ship", json!({}))));
    check(json!({ "name": "ship" }), Ok(("ship", json!({}))));
    check(json!({ "name": "ship", "to": "x" }), Ok(("ship", json!({ "to": "x" }))));
    check(
        json!({ "name": "ship", "arguments": {}, "to": "x" }),
        Err("call_tool takes `name` and `arguments`; put to into the arguments. Nothing was done."),
    );
    check(
        json!({ "name": "ship", "arguments": [1] }),
        Err("The `arguments` of ship are no object. Nothing was done."),
    );
    check(
        json!({ "name": "ship", "arguments": "to x" }),
        Err("The `arguments` of ship are a text that is no JSON object. Nothing was done."),
    );
    check(
        json!({ "arguments": {} }),
        Err("call_tool needs the `name` of a tool and its `arguments`. Nothing was done."),
    );
}
