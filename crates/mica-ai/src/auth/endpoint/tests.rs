//! The token endpoint: its refusals, its bad moments, and where it may be.

use super::*;
use crate::auth::fake::{Play, Script, answer, token};
use secrecy::ExposeSecret;

fn endpoint(script: &Arc<Script>, authority: Authority, tenant: &str) -> TokenEndpoint {
    TokenEndpoint {
        transport: script.clone(),
        authority,
        tenant: tenant.to_owned(),
        client: "app-1".to_owned(),
    }
}

async fn ask(script: &Arc<Script>) -> Result<AccessToken, TokenError> {
    let endpoint = endpoint(script, Authority::public(), "contoso.example");
    endpoint.ask(&Scope::foundry(), &[], &[], Patience::Full).await
}

#[tokio::test(start_paused = true)]
async fn numbered_refusals_say_what_to_do() {
    let check = async |number: u32, hint: &str| {
        let body = format!(r#"{{"error":"x","error_description":"AADSTS{number}: Words."}}"#);
        let script = Script::new([answer(400, body)]);
        let error = ask(&script).await.unwrap_err();
        assert_eq!(error.reply.code, Some(format!("AADSTS{number}")));
        assert!(error.hint.starts_with(hint), "{number}: {}", error.hint);
        assert_eq!(script.count(), 1, "a refusal is not asked again");
    };
    check(7_000_215, "The client secret is wrong.").await;
    check(7_000_222, "The client secret has expired.").await;
    check(700_016, "The application is not known in this tenant.").await;
    check(90_002, "The tenant does not exist.").await;
    check(65_001, "Nobody consented to this scope.").await;
    check(500_011, "The scope names a resource this tenant does not know.").await;
    check(70_021, "No federated credential of the application matches").await;
    check(1, "Check tenant contoso.example, client app-1 and the scope.").await;
}

#[tokio::test(start_paused = true)]
async fn bad_moments_are_ridden_out() {
    let script = Script::new([answer(503, ""), Play::Break("reset".to_owned()), token("t", 60)]);
    assert_eq!(ask(&script).await.unwrap().secret.expose_secret(), "t");
    assert_eq!(script.times(), [0.0, 1.0, 4.0]);
}

#[tokio::test(start_paused = true)]
async fn the_endpoint_may_ask_for_a_wait() {
    let busy = |seconds| Play::Answer {
        status: 429,
        headers: vec![("retry-after", seconds)],
        body: r#"{"error":"throttled"}"#.to_owned(),
    };
    let script = Script::new([busy("7"), token("t", 60)]);
    ask(&script).await.unwrap();
    assert_eq!(script.times(), [0.0, 7.0]);

    let script = Script::new([busy("3600")]);
    let error = ask(&script).await.unwrap_err();
    assert_eq!(script.times(), [0.0], "an hour is not waited for");
    assert_eq!(error.hint, "https://login.microsoftonline.com is busy or failing. Try again in a while.");
}

#[tokio::test(start_paused = true)]
async fn after_three_attempts_the_last_failure_is_told() {
    let script = Script::new([answer(500, ""), answer(500, ""), answer(502, "down")]);
    let error = ask(&script).await.unwrap_err();
    assert_eq!((error.to_string(), script.count()), ("HTTP 502: down".to_owned(), 3));
}

#[tokio::test(start_paused = true)]
async fn no_answer_is_told_with_what_to_check() {
    let script = Script::new([]);
    let error = ask(&script).await.unwrap_err();
    assert_eq!(error.to_string(), "network: asking: the script is over");
    assert_eq!(
        error.hint,
        "Check that https://login.microsoftonline.com can be reached: network, proxy, authority host."
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_token_is_told_without_its_contents() {
    let script = Script::new([answer(200, r#"{"access_token":["sesame"]}"#)]);
    let error = ask(&script).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "https://login.microsoftonline.com did not answer with a token: its answer holds no access token"
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_to_a_place_that_could_not_keep_it() {
    let refuse = async |authority: &str, tenant: &str, why: &str| {
        let script = Script::new([]);
        let endpoint = endpoint(&script, Authority::at(authority), tenant);
        let error = endpoint.ask(&Scope::foundry(), &[], &[], Patience::Full).await.unwrap_err();
        assert_eq!((error.to_string().as_str(), script.count()), (why, 0));
    };
    refuse("http://login.example", "t", "the authority http://login.example is not an https address").await;
    refuse("https://login.example", "../x", "\"../x\" is not a tenant id").await;
    refuse("https://login.example", "", "\"\" is not a tenant id").await;
}

#[tokio::test(start_paused = true)]
async fn each_cloud_has_its_authority() {
    for (authority, url) in [
        (Authority::public(), "https://login.microsoftonline.com/t/oauth2/v2.0/token"),
        (Authority::us_government(), "https://login.microsoftonline.us/t/oauth2/v2.0/token"),
        (Authority::china(), "https://login.chinacloudapi.cn/t/oauth2/v2.0/token"),
        (Authority::at("https://login.example/"), "https://login.example/t/oauth2/v2.0/token"),
    ] {
        let script = Script::new([token("t", 60)]);
        endpoint(&script, authority, "t").ask(&Scope::foundry(), &[], &[], Patience::Full).await.unwrap();
        assert_eq!(script.requests()[0].url, url);
    }
}
