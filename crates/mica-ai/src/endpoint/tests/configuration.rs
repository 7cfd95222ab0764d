//! Endpoints from variables and from settings.

use crate::auth::HeaderStyle;
use crate::catalogue::Catalogue;
use crate::endpoint::{Auth, DeploymentMap, EndpointError, Endpoints, HostKind, Settings};
use crate::message::Dialect;

fn from(variables: &[(&str, &str)]) -> Result<Endpoints, EndpointError> {
    Endpoints::from_env(&|name| {
        variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    })
}

fn summary(endpoints: &Endpoints) -> Vec<String> {
    endpoints
        .iter()
        .map(|endpoint| {
            let auth = match &endpoint.auth {
                Auth::ApiKey { variable, .. } => variable.as_str(),
                Auth::Entra { scope } => scope.as_str(),
                Auth::KeyVault { vault, .. } => vault.as_str(),
                Auth::None => "none",
            };
            format!("{} {} {auth}", endpoint.name, endpoint.address)
        })
        .collect()
}

#[test]
fn the_pair_that_guides_print_works_and_is_explained() {
    let found = from(&[
        ("AZURE_OPENAI_API_KEY", "your-api-key"),
        ("AZURE_OPENAI_BASE_URL", "https://your-resource.openai.azure.com/openai/v1"),
        ("AZURE_OPENAI_API_VERSION", "2024-12-01-preview"),
        ("AZURE_OPENAI_DEPLOYMENT_NAME_MAP", "gpt-4o=my-gpt4o,gpt-4o-mini=my-mini"),
    ])
    .unwrap();
    assert_eq!(
        summary(&found),
        ["foundry https://your-resource.openai.azure.com/openai/v1 AZURE_OPENAI_API_KEY"]
    );
    assert_eq!(
        found.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "endpoint foundry: api-version 2024-12-01-preview is not sent, because the v1 path needs none; for the older path \
          give an address that ends in /openai/deployments"
        ]
    );
    let endpoint = found.get("foundry").unwrap();
    assert_eq!(endpoint.deployments.deployment("GPT-4o"), Some("my-gpt4o"));
    assert_eq!(endpoint.deployments.model("my-mini"), Some("gpt-4o-mini"));
}

#[test]
fn all_endpoints_in_their_order() {
    let found = from(&[
        ("MICA_LOCAL_BASE_URL", "http://127.0.0.1:11434"),
        ("ANTHROPIC_API_KEY", "k"),
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", ""),
        ("ANTHROPIC_FOUNDRY_API_KEY", "k"),
        ("AZURE_OPENAI_RESOURCE_NAME", "res"),
    ])
    .unwrap();
    assert_eq!(
        summary(&found),
        [
            "foundry https://res.openai.azure.com/openai/v1 https://ai.azure.com/.default",
            "foundry_claude https://res.services.ai.azure.com/anthropic ANTHROPIC_FOUNDRY_API_KEY",
            "openai https://api.openai.com/v1 OPENAI_API_KEY",
            "anthropic https://api.anthropic.com ANTHROPIC_API_KEY",
            "local http://127.0.0.1:11434/v1 none",
        ]
    );
}

#[test]
fn claude_on_foundry_alone() {
    let found = from(&[("ANTHROPIC_FOUNDRY_RESOURCE", "res")]).unwrap();
    assert_eq!(
        summary(&found),
        ["foundry_claude https://res.services.ai.azure.com/anthropic https://ai.azure.com/.default"]
    );
}

#[test]
fn a_key_for_claude_uses_the_foundry_address() {
    let found = from(&[
        ("AZURE_OPENAI_BASE_URL", "http://127.0.0.1:9/openai/v1"),
        ("ANTHROPIC_FOUNDRY_API_KEY", "k"),
    ])
    .unwrap();
    assert_eq!(
        summary(&found),
        [
            "foundry http://127.0.0.1:9/openai/v1 https://ai.azure.com/.default",
            "foundry_claude http://127.0.0.1:9/anthropic ANTHROPIC_FOUNDRY_API_KEY",
        ]
    );
}

#[test]
fn nothing_found_says_what_to_set_and_what_was_half_set() {
    let error =
        from(&[("AZURE_OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "https://x.example.com")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no model endpoint is configured (AZURE_OPENAI_API_KEY is set but not used: set AZURE_OPENAI_BASE_URL or \
         AZURE_OPENAI_RESOURCE_NAME as well) (OPENAI_BASE_URL is set but not used: set OPENAI_API_KEY as well). Set one of: \
         AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME (with AZURE_OPENAI_API_KEY, or sign in with Entra); \
         ANTHROPIC_FOUNDRY_RESOURCE or ANTHROPIC_FOUNDRY_BASE_URL (with ANTHROPIC_FOUNDRY_API_KEY); OPENAI_API_KEY; \
         ANTHROPIC_API_KEY; MICA_LOCAL_BASE_URL, for example http://127.0.0.1:11434/v1"
    );
    assert!(matches!(from(&[]), Err(EndpointError::Nothing { notes }) if notes.is_empty()));
}

#[test]
fn complaints_name_the_variable() {
    let refused = |variables: &[(&str, &str)], expect: &str| {
        assert_eq!(from(variables).unwrap_err().to_string(), expect);
    };
    refused(
        &[("AZURE_OPENAI_BASE_URL", "http://r.openai.azure.com")],
        "AZURE_OPENAI_BASE_URL: r.openai.azure.com may be reached over https only: http is for this machine (localhost, \
         127.0.0.1, [::1])",
    );
    refused(
        &[("AZURE_OPENAI_RESOURCE_NAME", "my res")],
        "AZURE_OPENAI_RESOURCE_NAME: \"my res\" is not the name of a resource: 2 to 64 letters, digits and hyphens; for an \
         address set the base URL",
    );
    refused(
        &[("AZURE_OPENAI_RESOURCE_NAME", "res"), ("AZURE_OPENAI_API_VERSION", "newest")],
        "AZURE_OPENAI_API_VERSION: \"newest\" is not an api-version: use a dated one such as 2024-10-21, or leave it out",
    );
    refused(
        &[("AZURE_OPENAI_RESOURCE_NAME", "res"), ("AZURE_OPENAI_DEPLOYMENT_NAME_MAP", "gpt-4o=a, gpt-5")],
        "AZURE_OPENAI_DEPLOYMENT_NAME_MAP: \"gpt-5\" is not MODEL=DEPLOYMENT: there is no =",
    );
    refused(
        &[("MICA_LOCAL_BASE_URL", "http://192.168.1.5:11434")],
        "MICA_LOCAL_BASE_URL: 192.168.1.5 may be reached over https only: http is for this machine (localhost, 127.0.0.1, \
         [::1])",
    );
}

#[test]
fn deployment_lists() {
    let read = |text: &str| DeploymentMap::parse("MAP", text);
    let map = read(" gpt-4o = my-gpt4o , gpt-5.5=prod_55, ").unwrap();
    assert_eq!(map.deployment("gpt-4o"), Some("my-gpt4o"));
    assert_eq!(map.deployment("gpt-5-5"), Some("prod_55"));
    assert_eq!(map.deployment("gpt-5"), None);
    assert!(read("").unwrap().is_empty());
    for (item, problem) in [
        ("gpt-5", "there is no ="),
        ("=x", "the model is missing"),
        ("gpt-5=", "the deployment is missing"),
        ("a=b=c", "there is more than one ="),
        ("gpt 5=x", "names have no spaces"),
        ("GPT-4O=other", "GPT-4O has another deployment already"),
    ] {
        let error = read(&format!("gpt-4o=mine,{item}")).unwrap_err();
        let expect =
            EndpointError::Deployment { setting: "MAP".into(), item: item.into(), problem: problem.into() };
        assert_eq!(error, expect);
    }
}

const SETTINGS: &str = r#"
[[endpoints]]
name = "work"
kind = "foundry"
resource = "contoso"
deployments = { "gpt-5.5" = "prod-55" }
auth = { kind = "entra", scope = "https://cognitiveservices.azure.com/.default" }

[[endpoints]]
name = "gateway"
kind = "openai"
base_url = "https://gw.example.com/v1"
dialect = "chat"
auth = { kind = "api_key", env = "GATEWAY_KEY" }
headers = { x-team = "hidden-value" }

[[endpoints]]
name = "vaulted"
kind = "foundry"
resource = "contoso"
auth = { kind = "key_vault", vault = "https://keys.vault.azure.net", secret = "foundry-key" }

[[endpoints]]
kind = "local"
base_url = "http://127.0.0.1:11434"
"#;

fn gateway_key(name: &str) -> Option<String> {
    (name == "GATEWAY_KEY").then(|| "hidden-key".to_owned())
}

#[test]
fn settings_make_endpoints() {
    let endpoints = Settings::parse(SETTINGS).unwrap().resolve(&gateway_key).unwrap();
    assert_eq!(
        summary(&endpoints),
        [
            "work https://contoso.openai.azure.com/openai/v1 https://cognitiveservices.azure.com/.default",
            "gateway https://gw.example.com/v1 GATEWAY_KEY",
            "vaulted https://contoso.openai.azure.com/openai/v1 https://keys.vault.azure.net",
            "local http://127.0.0.1:11434/v1 none",
        ]
    );
    assert_eq!(endpoints.get("gateway").unwrap().dialect, Some(Dialect::Chat));
}

#[test]
fn nothing_secret_is_printed() {
    let endpoints = Settings::parse(SETTINGS).unwrap().resolve(&gateway_key).unwrap();
    assert!(!format!("{endpoints:?}").contains("hidden"));
}

#[test]
fn keys_go_into_the_header_the_wire_wants() {
    let found =
        from(&[("AZURE_OPENAI_RESOURCE_NAME", "res"), ("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")])
            .unwrap();
    let header = |name: &str, dialect| found.get(name).unwrap().key_header(dialect);
    assert_eq!(header("foundry", Dialect::Responses), HeaderStyle::ApiKey);
    assert_eq!(header("foundry", Dialect::Messages), HeaderStyle::XApiKeyAndApiKey);
    assert_eq!(header("openai", Dialect::Chat), HeaderStyle::Bearer);
    assert_eq!(header("anthropic", Dialect::Messages), HeaderStyle::XApiKey);
}

#[test]
fn settings_that_are_refused() {
    let refused = |text: &str, expect: &str| {
        let error = Settings::parse(text).and_then(|settings| settings.resolve(&|_| None)).unwrap_err();
        assert_eq!(error.to_string(), expect, "{text}");
    };
    refused("[[endpoints]]\nkind = \"foundry\"", "endpoint foundry: set resource or base_url");
    refused("[[endpoints]]\nkind = \"local\"", "endpoint local: set base_url");
    refused("[[endpoints]]\nkind = \"openai\"", "endpoint openai: set OPENAI_API_KEY to its key");
    refused(
        "[[endpoints]]\nkind = \"openai\"\nauth = { kind = \"api_key\", env = \"K\" }",
        "endpoint openai: set K to its key",
    );
    refused(
        "[[endpoints]]\nkind = \"openai\"\nresource = \"x\"",
        "endpoint openai: resource is not for endpoints of kind openai: remove it",
    );
    refused(
        "[[endpoints]]\nname = \"a/b\"\nkind = \"local\"",
        "\"a/b\" is not a name for an endpoint: use letters, digits, - and _",
    );
    let local = "[[endpoints]]\nkind = \"local\"\nbase_url = \"localhost:1\"\n";
    refused(
        &format!("{local}{local}"),
        "endpoint \"local\" is there twice: names are what models are asked for by, so make them different",
    );
    refused(
        &format!("{local}headers = {{ Authorization = \"x\" }}"),
        "endpoint local: header \"Authorization\": keys are configured under auth",
    );
    refused(
        &format!("{local}headers = {{ \"a b\" = \"x\" }}"),
        "endpoint local: header \"a b\": this is not a header's name",
    );
    refused(
        &format!("{local}api_key = \"x\""),
        "endpoints: TOML parse error at line 4, column 1\n  |\n4 | api_key = \"x\"\n  | ^^^^^^^\nunknown field `api_key`, expected \
         one of `name`, `kind`, `base_url`, `resource`, `api_version`, `dialect`, `deployments`, `auth`, `headers`",
    );
    refused(
        "[[endpoints]]\nkind = \"foundry\"\nresource = \"re s\"",
        "endpoint foundry: resource: \"re s\" is not the name of a resource: 2 to 64 letters, digits and hyphens; for an \
         address set the base URL",
    );
}

#[test]
fn kinds_are_called_the_same_everywhere() {
    for kind in
        [HostKind::Foundry, HostKind::FoundryClaude, HostKind::OpenAi, HostKind::Anthropic, HostKind::Local]
    {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
    }
}

/// The examples in a document, by their fence.
fn examples(document: &str) -> impl Iterator<Item = &str> {
    document.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next())
}

#[test]
fn documented_endpoints_work() {
    let variables = |name: &str| Some(format!("value of {name}"));
    let mut seen = 0;
    for example in examples(include_str!("../../../../../docs/endpoints.md")) {
        Settings::parse(example).unwrap().resolve(&variables).unwrap();
        seen += 1;
    }
    assert_eq!(seen, 1);
}

#[test]
fn documented_corrections_work() {
    let mut seen = 0;
    for example in examples(include_str!("../../../../../docs/models.md")) {
        Catalogue::builtin().with_overrides(example).unwrap();
        seen += 1;
    }
    assert_eq!(seen, 1);
}
