//! Which tools and texts a page has.

use mica_agent::{ToolOutput, TypedTool};
use serde_json::{Value, json};

use super::*;

fn tool(name: &str) -> Arc<dyn Tool> {
    let tool = TypedTool::new(name, "A tool.", |_: Value, _| async { Ok(ToolOutput::text("done")) });
    Arc::new(tool.with(|spec| spec.schema = json!({ "type": "object", "properties": { "id": {} } })))
}

fn tools(names: &[&str]) -> Vec<Arc<dyn Tool>> {
    names.iter().map(|name| tool(name)).collect()
}

fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new(Page::Global, "records", tools(&["record_find", "record_write", "note"]))
            .with_prompt(|tools| tools.when("record_write", "Write with record_write.").map(str::to_owned)),
        Capability::new(Page::named("mail"), "mail", tools(&["mail_reply", "note"]))
            .with_prompt(|_| Some("Reply with mail_reply.".to_owned())),
        Capability::new(Page::named("builder"), "builder", tools(&["build"]))
            .excluding([Exclude::Prefix("record_".to_owned())]),
        Capability::new(Page::named("quiet"), "quiet", Vec::new()).excluding([
            Exclude::Name("note".to_owned()),
            Exclude::when(|spec| spec.name.ends_with("_write")),
        ]),
    ]
}

#[test]
fn tools_of_pages() {
    for (page, expected, summaries) in [
        (None, vec!["note", "record_find", "record_write"], vec!["records"]),
        (Some("unknown"), vec!["note", "record_find", "record_write"], vec!["records"]),
        (Some("mail"), vec!["mail_reply", "note", "record_find", "record_write"], vec!["records", "mail"]),
        (Some("builder"), vec!["build", "note"], vec!["records", "builder"]),
        (Some("quiet"), vec!["record_find"], vec!["records"]),
    ] {
        let resolved = resolve(&capabilities(), page, &|_| true).unwrap();
        assert_eq!(resolved.tools.names().collect::<Vec<_>>(), expected, "{page:?}");
        assert_eq!(resolved.names.iter().collect::<Vec<_>>(), expected, "{page:?}");
        assert_eq!(resolved.summaries, summaries, "{page:?}");
        let all = capabilities();
        for tool in all.iter().flat_map(|capability| &capability.tools) {
            let name = &tool.spec().name;
            assert_eq!(is_on(&all, page, tool.spec()), resolved.names.has(name), "{name} on {page:?}");
        }
    }
}

#[test]
fn the_tool_of_the_page_wins() {
    let all = capabilities();
    let resolved = resolve(&all, Some("mail"), &|_| true).unwrap();
    assert!(Arc::ptr_eq(resolved.tools.get("note").unwrap(), &all[1].tools[1]));
}

#[test]
fn texts_follow_the_tools() {
    let all = capabilities();
    let fragments = |page, keep: &dyn Fn(&ToolSpec) -> bool| resolve(&all, page, keep).unwrap().fragments;
    assert_eq!(fragments(None, &|_| true), ["Write with record_write."]);
    assert_eq!(fragments(None, &|spec| spec.name != "record_write"), [""; 0]);
    assert_eq!(fragments(Some("mail"), &|_| true), ["Write with record_write.", "Reply with mail_reply."]);
}

#[test]
fn a_text_that_names_a_missing_tool_fails() {
    let all = capabilities();
    let resolved = resolve(&all, Some("mail"), &|spec| spec.name != "mail_reply").unwrap();
    let untrue = |text: &str, tool: &str| {
        Err(DomainError::UntrueText { text: text.to_owned(), tool: tool.to_owned() })
    };
    assert_eq!(resolved.check([]), untrue("of a capability", "mail_reply"));
    assert_eq!(resolved.check([("style", "Use `build`.")]), untrue("style", "build"));
    let mut talking = all.clone();
    let described =
        TypedTool::new("talk", "Like mail_reply.", |_: Value, _| async { Ok(ToolOutput::text("done")) });
    talking[0].tools.push(Arc::new(described));
    let resolved = resolve(&talking, None, &|_| true).unwrap();
    assert_eq!(resolved.check([]), untrue("talk", "mail_reply"));
    let resolved = resolve(&all, None, &|_| true).unwrap();
    assert_eq!(resolved.check([("style", "Build with record_write and no_such_tool.")]), Ok(()));
}

#[test]
fn mistakes_in_a_domain() {
    let twice = [
        Capability::new(Page::Global, "one", tools(&["note"])),
        Capability::new(Page::Global, "other", tools(&["note"])),
    ];
    assert_eq!(
        resolve(&twice, None, &|_| true).err(),
        Some(DomainError::DuplicateTool { name: "note".to_owned(), page: Page::Global })
    );
    let unknown = [Capability::new(Page::Global, "one", tools(&["note"])).filling("note", "name")];
    assert_eq!(
        resolve(&unknown, None, &|_| true).err(),
        Some(DomainError::UnknownInput { tool: "note".to_owned(), argument: "name".to_owned() })
    );
}

#[test]
fn deferred_tools_stand_behind_two_others() {
    let mut all = capabilities();
    all.push(
        Capability::new(Page::Global, "stamps", tools(&["stamp_list", "stamp_buy"])).deferred().with_prompt(
            |tools| tools.when("stamp_buy", "Stamps are bought with stamp_buy.").map(str::to_owned),
        ),
    );
    let shown = |page, keep: &dyn Fn(&ToolSpec) -> bool| {
        let resolved = resolve(&all, page, keep).unwrap();
        let sent = resolved.tools.names().collect::<Vec<_>>().join(" ");
        let behind: Vec<String> = resolved.tools.behind().map(|tool| tool.spec().name.clone()).collect();
        let names = resolved.names.iter().collect::<Vec<_>>().join(" ");
        (sent, behind.join(" "), names, resolved.fragments.last().cloned().unwrap_or_default())
    };
    let listed = "More tools can be called with call_tool. Load those you need with load_tools first, several at once: it \
                  tells what they take.";
    assert_eq!(
        shown(None, &|_| true),
        (
            "call_tool load_tools note record_find record_write".to_owned(),
            "stamp_buy stamp_list".to_owned(),
            "call_tool load_tools note record_find record_write stamp_buy stamp_list".to_owned(),
            format!("{listed}\n- stamp_buy: A tool\n- stamp_list: A tool"),
        )
    );
    // Who may not have one of them does not read of it, and who may have none has nothing more to call.
    assert_eq!(
        shown(None, &|spec| spec.name != "stamp_buy" && !spec.name.starts_with("record_")),
        (
            "call_tool load_tools note".to_owned(),
            "stamp_list".to_owned(),
            "call_tool load_tools note stamp_list".to_owned(),
            format!("{listed}\n- stamp_list: A tool"),
        )
    );
    let without = |spec: &ToolSpec| !spec.name.starts_with("stamp_");
    let (sent, behind, names, last) = shown(None, &without);
    assert_eq!((sent.as_str(), behind.as_str()), ("note record_find record_write", ""));
    assert_eq!(
        (names.as_str(), last.as_str()),
        ("note record_find record_write", "Write with record_write.")
    );

    let resolved = resolve(&all, None, &|_| true).unwrap();
    assert_eq!(resolved.check([("style", "List with stamp_list, through call_tool.")]), Ok(()));
    assert_eq!(resolved.summaries, ["records", "stamps"]);
    let resolved = resolve(&capabilities(), None, &|_| true).unwrap();
    assert_eq!(
        resolved.check([("style", "Use call_tool.")]),
        Err(DomainError::UntrueText { text: "style".to_owned(), tool: "call_tool".to_owned() }),
        "nothing is deferred here"
    );
}

#[test]
fn a_page_can_send_what_is_deferred_elsewhere() {
    let mut all = capabilities();
    all.push(Capability::new(Page::Global, "stamps", tools(&["stamp_list"])).deferred());
    all.push(Capability::new(Page::named("stamps"), "stamps", tools(&["stamp_list"])));
    let resolved = resolve(&all, Some("stamps"), &|_| true).unwrap();
    assert_eq!(
        resolved.tools.names().collect::<Vec<_>>(),
        ["note", "record_find", "record_write", "stamp_list"]
    );
    // Settings may defer more than a domain does.
    let resolved = resolve_deferring(&all, Some("stamps"), &|_| true, &|spec| spec.name == "note").unwrap();
    assert_eq!(
        resolved.tools.names().collect::<Vec<_>>(),
        ["call_tool", "load_tools", "record_find", "record_write", "stamp_list"]
    );
    // The two names are taken as soon as something is deferred.
    all.push(Capability::new(Page::Global, "calls", tools(&["call_tool"])));
    assert!(resolve(&all, Some("stamps"), &|_| true).is_ok());
    assert_eq!(
        resolve(&all, None, &|_| true).err(),
        Some(DomainError::DuplicateTool { name: "call_tool".to_owned(), page: Page::Global })
    );
}

#[test]
fn what_is_deferred_tells_no_lies_either() {
    let mut all = capabilities();
    let talk: Arc<dyn Tool> = Arc::new(TypedTool::new("talk", "Like mail_reply.", |_: Value, _| async {
        Ok(ToolOutput::text("done"))
    }));
    all.push(Capability::new(Page::Global, "talk", vec![talk]).deferred());
    let resolved = resolve(&all, None, &|_| true).unwrap();
    let untrue =
        DomainError::UntrueText { text: "of a capability".to_owned(), tool: "mail_reply".to_owned() };
    assert_eq!(resolved.check([]), Err(untrue), "its line is in the prompt");
}

#[test]
fn lines_that_name_a_missing_tool_are_left_out() {
    let resolved = resolve(&capabilities(), None, &|_| true).unwrap();
    let text = "Find it with [[record_find]].\n- Reply with mail_reply.\n- Load it with [[load_reference]] or [[note]].\n\n\
                Write with record_write, and `note` it.\nA list: a[[0]]\n";
    assert_eq!(
        resolved.truthful(text),
        "Find it with `record_find`.\n\nWrite with record_write, and `note` it."
    );
}

#[test]
fn what_sums_up_a_capability_is_true_as_well() {
    let capability = |summary: fn(&ToolNames) -> Option<String>| {
        let mail =
            Capability::new(Page::Global, "", tools(&["mail_find", "mail_reply"])).summarising(summary);
        resolve(&[mail], None, &|spec| spec.name != "mail_reply").unwrap()
    };
    let honest =
        capability(|tools| Some(if tools.has("mail_reply") { "mail_reply" } else { "reads mail" }.into()));
    assert_eq!(
        (honest.check([]), honest.summaries.as_slice()),
        (Ok(()), ["reads mail".to_owned()].as_slice())
    );
    let boasting = capability(|_| Some("finds and answers with mail_reply".to_owned()));
    let untrue = DomainError::UntrueText {
        text: "that sums up a capability".to_owned(),
        tool: "mail_reply".to_owned(),
    };
    assert_eq!(boasting.check([]), Err(untrue));
    assert_eq!(capability(|_| None).summaries, [""; 0]);
}

#[test]
fn what_a_page_says_of_a_tool_goes_before_what_is_said_everywhere() {
    let all = [
        Capability::new(Page::Global, "", tools(&["note"])).acting(Act::of("note").needing("notes")),
        Capability::new(Page::named("mail"), "", tools(&["note"])).acting(Act::of("note").needing("mail")),
        Capability::new(Page::named("quiet"), "", Vec::new()),
    ];
    for (page, right) in [(None, "notes"), (Some("quiet"), "notes"), (Some("mail"), "mail")] {
        assert_eq!(act_of(&all, page, "note").unwrap().needs.as_deref(), Some(right), "{page:?}");
        let needs: Vec<_> = acts_on(&all, page).into_iter().map(|act| act.needs).collect();
        assert_eq!(needs, [Some(right.to_owned())], "{page:?}");
    }
}
