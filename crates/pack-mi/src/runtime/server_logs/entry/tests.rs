//! Lines of logs, and what they say.

use super::*;

fn shown(text: &str) -> Vec<String> {
    let entries = entries(text);
    let cause = |cause: &Cause| {
        let frames: Vec<String> = cause
            .frames
            .iter()
            .map(|frame| format!("{}.{}:{}", frame.class, frame.method, frame.line.unwrap_or_default()))
            .collect();
        format!(" | {} = {} [{}]", cause.class, cause.message, frames.join(" "))
    };
    entries
        .iter()
        .map(|one| {
            let artifact =
                one.artifact.as_ref().map(|it| format!("<{} {} {}> ", it.kind, it.name, it.detail));
            let mediator = one.mediator.as_ref().map(|it| format!("<<{it}>> "));
            let causes: String = one.causes.iter().map(cause).collect();
            format!(
                "{:?} {} {}{}{}{causes}",
                one.level,
                one.short_logger(),
                mediator.unwrap_or_default(),
                artifact.unwrap_or_default(),
                one.message
            )
        })
        .collect()
}

#[test]
fn lines_of_all_ages_are_read() {
    for (line, expected) in [
        (
            "[2026-05-12 10:20:30,456]  INFO {CappDeployer} - Successfully Deployed Carbon Application : orders_1.0.0",
            "Info CappDeployer Successfully Deployed Carbon Application : orders_1.0.0",
        ),
        ("TID: [-1234] [] [2026-05-12 10:20:30,456]  WARN {org.apache.synapse.core.X} - slow", "Warn X slow"),
        (
            "[2026-05-12 10:20:30,456]  INFO {LogMediator} - {api:Orders} status = 7",
            "Info LogMediator <api Orders > status = 7",
        ),
        (
            "[2026-05-12 10:20:30,456]  INFO {LogMediator} - {api:orders GET /orders/} a: 1",
            "Info LogMediator <api orders GET /orders/> a: 1",
        ),
        (
            "[2026-05-12 10:20:30,456] ERROR {SendMediator} {api:Orders/GET/in/3} - {proxy:P} no route",
            "Error SendMediator <<api:Orders/GET/in/3>> <proxy P > no route",
        ),
        (
            "[2026-05-12 10:20:30,456] ERROR {X} - {\"a\": 1} is no JSON: really",
            "Error X {\"a\": 1} is no JSON: really",
        ),
        (
            "[2026-05-12 10:20:30,456] ERROR {X} - Could not send java.net.ConnectException: Connection refused",
            "Error X Could not send | java.net.ConnectException = Connection refused []",
        ),
    ] {
        assert_eq!(shown(line), [expected], "{line}");
    }
}

#[test]
fn traces_belong_to_the_line_before() {
    let text = "\tat org.lost.Frame.run(Frame.java:1)\n\
        [2026-05-12 10:20:30,456] ERROR {org.apache.synapse.mediators.ext.ClassMediator} - {api:Orders} Error executing mediator org.apache.synapse.SynapseException: it failed\n\
        \tat com.acme.Pricing.mediate(Pricing.java:42) ~[pricing.jar:?]\n\
        \tat java.base/java.lang.Thread.run(Thread.java:840)\n\
        Caused by: java.lang.NumberFormatException: For input string: \"x\"\n\
        \tat java.base/java.lang.Integer.parseInt(Integer.java:652)\n\
        \tat com.acme.Pricing.price(Pricing.java:57)\n\
        \t... 23 more\n\
        [2026-05-12 10:20:31,000]  INFO {X} - two\nlines\n";
    assert_eq!(
        shown(text),
        [
            "Error ClassMediator <api Orders > Error executing mediator \
             | org.apache.synapse.SynapseException = it failed [com.acme.Pricing.mediate:42 java.lang.Thread.run:840] \
             | java.lang.NumberFormatException = For input string: \"x\" [java.lang.Integer.parseInt:652 com.acme.Pricing.price:57]",
            "Info X two lines",
        ]
    );
}

#[test]
fn what_is_no_log_makes_no_entry() {
    for text in [
        "",
        "hello",
        "[x] ERROR {A} - b",
        "[2026-05-12 10:20:30,456] ERROR",
        "[2026-05-12 10:20:30,456] {A} - b",
        "{",
        "[",
        "TID: x",
    ] {
        assert_eq!(shown(text), Vec::<String>::new(), "{text}");
    }
}
