//! The table of the management API, and what is made of it.

use super::*;

#[test]
fn the_table_can_be_read() {
    let tables: Tables = toml::from_str(include_str!("../management.toml")).unwrap();
    assert_eq!((tables.kind.len(), tables.order.len()), (19, 12));
    for order in &tables.order {
        for kind in &order.kinds {
            assert!(tables.kind.iter().any(|one| one.kind == *kind), "{} names {kind}", order.order);
        }
    }
}

#[test]
fn questions_have_a_path() {
    let path = |kind: &str, name: Option<&str>| {
        kind_of(kind).and_then(|kind| path_of(kind, name)).map_err(|error| error.message)
    };
    assert_eq!(path("apis", None), Ok("apis".to_owned()));
    assert_eq!(path("apis", Some("My API&x")), Ok("apis?apiName=My%20API%26x".to_owned()));
    assert_eq!(path("registry", Some("/_system/a")), Ok("registry-resources?path=/_system/a".to_owned()));
    assert_eq!(
        path("registry-content", None),
        Err("registry-content needs artifact_name (the path).".to_owned())
    );
    assert_eq!(
        path("connectors", Some("x")),
        Err("connectors are not asked for by name: leave artifact_name out.".to_owned())
    );
    assert!(
        path("api", None)
            .unwrap_err()
            .starts_with("There is no artifact_type \"api\". There are: apis, proxy-services,")
    );
}

#[test]
fn orders_have_a_body() {
    let body = |kind, name, action, level, class| {
        let order = Order { kind, name, action, level, class };
        body_of(&order)
            .map(|(found, body)| format!("{:?} {body}", found.method))
            .map_err(|error| error.message)
    };
    for (kind, name, action, level, class, expected) in [
        ("tasks", Some("T"), "trigger", None, None, Ok("Post {\"name\":\"T\",\"status\":\"trigger\"}")),
        (
            "proxy-services",
            Some("P"),
            "deactivate",
            None,
            None,
            Ok("Post {\"name\":\"P\",\"status\":\"inactive\"}"),
        ),
        ("apis", Some("A"), "enableTracing", None, None, Ok("Post {\"name\":\"A\",\"trace\":\"enable\"}")),
        (
            "logging",
            Some("org.apache.synapse"),
            "setLogLevel",
            Some("DEBUG"),
            None,
            Ok("Patch {\"loggerName\":\"org.apache.synapse\",\"loggingLevel\":\"DEBUG\"}"),
        ),
        ("server", None, "restart", None, None, Ok("Patch {\"status\":\"restart\"}")),
        ("logging", Some("x"), "setLogLevel", None, None, Err("setLogLevel needs level.")),
        ("apis", None, "enableTracing", None, None, Err("enableTracing needs artifact_name.")),
        (
            "apis",
            Some("A"),
            "activate",
            None,
            None,
            Err(
                "activate is for proxy-services, endpoints, inbound-endpoints, message-processors, tasks, and not for apis.",
            ),
        ),
    ] {
        let expected = expected.map(ToOwned::to_owned).map_err(ToOwned::to_owned);
        assert_eq!(body(kind, name, action, level, class), expected, "{kind} {action}");
    }
    assert!(
        body("apis", None, "explode", None, None)
            .unwrap_err()
            .starts_with("There is no control_action \"explode\"")
    );
}
