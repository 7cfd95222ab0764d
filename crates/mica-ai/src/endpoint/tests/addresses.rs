//! Every form of address people paste, to the exact address requests go to.

use proptest::prelude::*;

use crate::endpoint::{Address, AddressError, HostKind};
use crate::message::Dialect::{self, Chat, Messages, Responses};

const DATED: &str = "2024-12-01-preview";

fn parse(kind: HostKind, text: &str, version: Option<&str>) -> Result<Address, AddressError> {
    Address::parse(kind, text, version).map(|(address, _)| address)
}

fn url(kind: HostKind, text: &str, version: Option<&str>, dialect: Dialect) -> String {
    parse(kind, text, version).unwrap().url(dialect, "dep")
}

#[test]
fn every_host_and_path_form_of_a_resource_is_v1() {
    let hosts = ["r.openai.azure.com", "r.services.ai.azure.com", "r.cognitiveservices.azure.com"];
    let paths = [
        "",
        "/",
        "/openai",
        "/openai/",
        "/openai/v1",
        "/openai/v1/",
        "//openai//v1//",
        "/openai/v1/responses",
        "/openai/v1/chat/completions",
        "/openai/v1/chat/completions/",
        "/openai/responses",
        "/api/projects/p",
        "/api/projects/p/",
        "/api/projects/p/openai/v1",
        "/models",
        "/models/chat/completions",
        "/anthropic",
        "/anthropic/v1/messages",
        "?foo=bar",
        "/openai/v1?api-version=preview",
        "/openai/v1/?api-version=2024-12-01-preview#top",
    ];
    for host in hosts {
        for path in paths {
            for front in ["https://", "HTTPS://", "", "  https://"] {
                let text = format!("{front}{host}{path}");
                for version in [None, Some("v1"), Some("preview"), Some("")] {
                    let at = |dialect| url(HostKind::Foundry, &text, version, dialect);
                    assert_eq!(at(Responses), format!("https://{host}/openai/v1/responses"), "{text}");
                    assert_eq!(at(Chat), format!("https://{host}/openai/v1/chat/completions"), "{text}");
                    let claude = "https://r.services.ai.azure.com/anthropic/v1/messages";
                    assert_eq!(at(Messages), claude, "{text}");
                }
            }
        }
    }
}

#[test]
fn a_dated_version_beside_a_v1_address_is_left_out_and_reported() {
    for text in ["https://your-resource.openai.azure.com/openai/v1", "https://your-resource.openai.azure.com"]
    {
        let (address, unused) = Address::parse(HostKind::Foundry, text, Some(DATED)).unwrap();
        assert_eq!(
            address.url(Responses, "dep"),
            "https://your-resource.openai.azure.com/openai/v1/responses"
        );
        assert_eq!(unused.as_deref(), Some(DATED));
    }
}

#[test]
fn the_deployments_path_keeps_its_version() {
    let pasted =
        "https://r.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-12-01-preview";
    let (address, unused) = Address::parse(HostKind::Foundry, pasted, Some("2024-06-01")).unwrap();
    assert_eq!(address.deployment(), Some("mine"));
    assert_eq!(unused, None);
    assert_eq!(
        address.url(Chat, "mine"),
        "https://r.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-12-01-preview"
    );
    assert_eq!(
        address.url(Responses, "mine"),
        "https://r.openai.azure.com/openai/responses?api-version=2024-12-01-preview"
    );
    assert_eq!(address.url(Messages, "mine"), "https://r.services.ai.azure.com/anthropic/v1/messages");
    assert_eq!(
        address.url(Chat, "a/../b c"),
        "https://r.openai.azure.com/openai/deployments/a%2F..%2Fb%20c/chat/completions?api-version=2024-12-01-preview"
    );
    assert_eq!(
        address.url(Chat, ".."),
        "https://r.openai.azure.com/openai/deployments/%2E%2E/chat/completions?api-version=2024-12-01-preview"
    );
    for (text, version) in [
        ("r.openai.azure.com/openai/deployments", Some("2024-10-21")),
        ("r.openai.azure.com/openai/responses?api-version=2024-10-21", None),
    ] {
        let address = parse(HostKind::Foundry, text, version).unwrap();
        assert_eq!(address.deployment(), None);
        assert_eq!(
            address.url(Chat, "dep"),
            "https://r.openai.azure.com/openai/deployments/dep/chat/completions?api-version=2024-10-21"
        );
    }
}

#[test]
fn gateways_and_test_servers_keep_their_paths() {
    for (text, responses, messages) in [
        (
            "http://127.0.0.1:9",
            "http://127.0.0.1:9/openai/v1/responses",
            "http://127.0.0.1:9/anthropic/v1/messages",
        ),
        (
            "localhost:9/",
            "http://localhost:9/openai/v1/responses",
            "http://localhost:9/anthropic/v1/messages",
        ),
        (
            "http://[::1]:9/openai/v1",
            "http://[::1]:9/openai/v1/responses",
            "http://[::1]:9/anthropic/v1/messages",
        ),
        (
            "http://127.0.0.1:9/any/path",
            "http://127.0.0.1:9/any/path/responses",
            "http://127.0.0.1:9/any/path/anthropic/v1/messages",
        ),
        (
            "https://gw.example.com/team/openai",
            "https://gw.example.com/team/openai/v1/responses",
            "https://gw.example.com/team/anthropic/v1/messages",
        ),
        (
            "r.openai.azure.us",
            "https://r.openai.azure.us/openai/v1/responses",
            "https://r.services.ai.azure.us/anthropic/v1/messages",
        ),
        (
            "https://r.openai.azure.com:8443",
            "https://r.openai.azure.com:8443/openai/v1/responses",
            "https://r.services.ai.azure.com:8443/anthropic/v1/messages",
        ),
    ] {
        assert_eq!(url(HostKind::Foundry, text, None, Responses), responses, "{text}");
        assert_eq!(url(HostKind::Foundry, text, None, Messages), messages, "{text}");
    }
}

#[test]
fn claude_on_foundry() {
    for text in [
        "https://r.services.ai.azure.com/anthropic",
        "https://r.services.ai.azure.com/anthropic/",
        "https://r.services.ai.azure.com/anthropic/v1",
        "https://r.services.ai.azure.com/anthropic/v1/messages",
        "r.services.ai.azure.com",
        "https://r.openai.azure.com/openai/v1",
        "https://r.cognitiveservices.azure.com/",
        "https://r.services.ai.azure.com/api/projects/p",
    ] {
        let expect = "https://r.services.ai.azure.com/anthropic/v1/messages";
        assert_eq!(url(HostKind::FoundryClaude, text, None, Messages), expect, "{text}");
    }
    for (text, expect) in [
        ("http://127.0.0.1:9", "http://127.0.0.1:9/anthropic/v1/messages"),
        ("http://127.0.0.1:9/claude/v1", "http://127.0.0.1:9/claude/v1/messages"),
    ] {
        assert_eq!(url(HostKind::FoundryClaude, text, None, Messages), expect, "{text}");
    }
}

#[test]
fn openai_anthropic_and_local() {
    use HostKind::{Anthropic, Local, OpenAi};
    for (kind, text, dialect, expect) in [
        (OpenAi, "https://api.openai.com/v1", Responses, "https://api.openai.com/v1/responses"),
        (OpenAi, "https://api.openai.com", Chat, "https://api.openai.com/v1/chat/completions"),
        (OpenAi, "api.openai.com/v1/", Responses, "https://api.openai.com/v1/responses"),
        (
            OpenAi,
            "https://api.openai.com/v1/chat/completions",
            Responses,
            "https://api.openai.com/v1/responses",
        ),
        (OpenAi, "https://gw.example.com/proxy", Chat, "https://gw.example.com/proxy/v1/chat/completions"),
        (
            OpenAi,
            "https://g.example.com/v1beta/openai/",
            Chat,
            "https://g.example.com/v1beta/openai/chat/completions",
        ),
        (Anthropic, "https://api.anthropic.com", Messages, "https://api.anthropic.com/v1/messages"),
        (Anthropic, "https://api.anthropic.com/v1/", Messages, "https://api.anthropic.com/v1/messages"),
        (
            Anthropic,
            "https://api.anthropic.com/v1/messages",
            Messages,
            "https://api.anthropic.com/v1/messages",
        ),
        (Anthropic, "https://gw.example.com/a", Messages, "https://gw.example.com/a/v1/messages"),
        (Local, "http://127.0.0.1:11434/v1", Chat, "http://127.0.0.1:11434/v1/chat/completions"),
        (Local, "http://127.0.0.1:11434", Chat, "http://127.0.0.1:11434/v1/chat/completions"),
        (Local, "localhost:8080", Chat, "http://localhost:8080/v1/chat/completions"),
        (Local, "http://localhost:8000/v1/", Responses, "http://localhost:8000/v1/responses"),
        (Local, "http://localhost:8000/v1", Messages, "http://localhost:8000/v1/messages"),
    ] {
        assert_eq!(url(kind, text, None, dialect), expect, "{text}");
    }
}

#[test]
fn what_is_refused() {
    let refused = |text: &str, version, expect: &str| {
        let error = parse(HostKind::Foundry, text, version).unwrap_err();
        assert_eq!(error.to_string(), expect, "{text}");
    };
    refused("", None, "the address is empty: give one like https://NAME.openai.azure.com");
    refused("   ", None, "the address is empty: give one like https://NAME.openai.azure.com");
    refused(
        "https://my resource.openai.azure.com?k=secret",
        None,
        "the address \"https://my resource.openai.azure.com\" contains a space or a control character: remove it",
    );
    refused(
        "https://",
        None,
        "\"https://\" is not an address (empty host): give one like https://NAME.openai.azure.com",
    );
    refused(
        "https://user:secret@:bad?key=secret",
        None,
        "\":bad\" is not an address (empty host): give one like https://NAME.openai.azure.com",
    );
    refused("ftp://r.openai.azure.com", None, "the address begins with ftp: use https");
    refused(
        "http://r.openai.azure.com",
        None,
        "r.openai.azure.com may be reached over https only: http is for this machine (localhost, 127.0.0.1, [::1])",
    );
    refused(
        "http://127.0.0.1.example.com",
        None,
        "127.0.0.1.example.com may be reached over https only: http is for this machine (localhost, 127.0.0.1, [::1])",
    );
    refused(
        "https://me:secret@r.openai.azure.com",
        None,
        "the address of r.openai.azure.com contains a user name or password: remove it, and give the key on its own",
    );
    refused(
        "https://openai.azure.com/openai/v1",
        None,
        "openai.azure.com lacks the name of the resource: use https://NAME.openai.azure.com",
    );
    refused(
        "https://r.openai.azure.com/openai/v2/x",
        None,
        "r.openai.azure.com has no path /openai/v2/x: give the address without it",
    );
    refused(
        "https://r.openai.azure.com/openai/deployments/d",
        None,
        "the /openai/deployments path needs a dated api-version such as 2024-10-21: set one, or use the /openai/v1 path, \
         which needs none",
    );
    refused(
        "https://r.openai.azure.com/openai/deployments/d",
        Some("preview"),
        "the /openai/deployments path needs a dated api-version such as 2024-10-21, not \"preview\": set one, or use the \
         /openai/v1 path, which needs none",
    );
    refused(
        "https://r.openai.azure.com",
        Some("newest"),
        "\"newest\" is not an api-version: use a dated one such as 2024-10-21, or leave it out",
    );
}

#[test]
fn resource_names() {
    let of = |name| Address::of_resource(HostKind::Foundry, name);
    assert_eq!(of(" My-Res1 ").unwrap(), "https://my-res1.openai.azure.com/openai/v1");
    assert_eq!(
        Address::of_resource(HostKind::FoundryClaude, "r1").unwrap(),
        "https://r1.services.ai.azure.com/anthropic"
    );
    for name in ["", " ", "a", "a b", "a.b", "https://r.openai.azure.com", "-a1", "a1-", "a/b", "ä1"] {
        assert_eq!(of(name), Err(AddressError::Resource { given: name.trim().to_owned() }), "{name:?}");
    }
}

fn kinds() -> impl Strategy<Value = HostKind> {
    prop::sample::select(vec![
        HostKind::Foundry,
        HostKind::FoundryClaude,
        HostKind::OpenAi,
        HostKind::Anthropic,
        HostKind::Local,
    ])
}

fn addresses() -> impl Strategy<Value = String> {
    let scheme = prop::sample::select(vec!["", "https://", "http://"]);
    let host = prop::sample::select(vec![
        "r.openai.azure.com",
        "r.services.ai.azure.com",
        "localhost:1",
        "127.0.0.1",
        "[::1]:8",
        "gw.example.com",
    ]);
    let segment = prop::sample::select(vec![
        "openai",
        "v1",
        "responses",
        "chat",
        "completions",
        "messages",
        "anthropic",
        "deployments",
        "api",
        "projects",
        "models",
        "d",
        "",
        "..",
        "%2e",
    ]);
    let query = prop::sample::select(vec!["", "?api-version=2024-10-21", "?api-version=preview", "?x=1"]);
    (scheme, host, prop::collection::vec(segment, 0..6), query)
        .prop_map(|(scheme, host, path, query)| format!("{scheme}{host}/{}{query}", path.join("/")))
}

proptest! {
    #[test]
    fn normalising_twice_is_normalising_once(kind in kinds(), text in addresses()) {
        if let Ok(once) = parse(kind, &text, None) {
            prop_assert_eq!(parse(kind, &once.to_string(), None), Ok(once));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(kind in kinds(), text in "\\PC{0,40}") {
        if let Ok(once) = parse(kind, &text, None) {
            prop_assert_eq!(parse(kind, &once.to_string(), None), Ok(once));
        }
    }
}
