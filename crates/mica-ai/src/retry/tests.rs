//! Under the paused clock: waits are exact and take no time.

use super::*;
use crate::error::Reply;
use crate::scripted::{Script, Step, request, start, tell, text};

fn limited(after: Option<u64>) -> Step {
    Step::Fail(rate_limited(after))
}

fn rate_limited(after: Option<u64>) -> AiError {
    AiError::RateLimited { after: after.map(Duration::from_secs), reply: Reply::local("slow down") }
}

fn steady() -> RetryPolicy {
    RetryPolicy { jitter: 0.0, ..RetryPolicy::default() }
}

async fn played(streams: Vec<Vec<Step>>) -> (Vec<String>, Duration, usize) {
    let script = Script::new(streams);
    let began = tokio::time::Instant::now();
    let told =
        tell(Retrying::new(script.clone(), steady()).stream(request(), CancellationToken::new())).await;
    (told, began.elapsed(), script.left())
}

#[tokio::test(start_paused = true)]
async fn waits_as_long_as_the_provider_asks_and_longer_each_time_otherwise() {
    let (told, took, left) = played(vec![
        vec![limited(Some(7))],
        vec![limited(None)],
        vec![limited(None)],
        [vec![start()], text("hi")].concat(),
    ])
    .await;
    assert_eq!(
        told,
        [
            "retry 1/4 7000ms rate_limited",
            "retry 2/4 2000ms rate_limited",
            "retry 3/4 4000ms rate_limited",
            "start",
            "text",
            "+hi",
            "done Stop"
        ]
    );
    assert_eq!((took.as_secs(), left), (13, 0));
}

#[tokio::test(start_paused = true)]
async fn an_error_inside_the_stream_before_any_output_is_retried_and_start_is_told_once() {
    let (told, ..) =
        played(vec![vec![start(), limited(Some(1))], [vec![start()], text("hi")].concat()]).await;
    assert_eq!(told, ["retry 1/4 1000ms rate_limited", "start", "text", "+hi", "done Stop"]);
}

#[tokio::test(start_paused = true)]
async fn after_the_first_words_nothing_is_retried() {
    let (told, _, left) =
        played(vec![[vec![start()], text("hi"), vec![limited(Some(1))]].concat(), vec![start()]]).await;
    assert_eq!(told, ["start", "text", "+hi", "rate_limited Error"]);
    assert_eq!(left, 1);
}

#[tokio::test(start_paused = true)]
async fn attempts_run_out() {
    let (told, ..) = played(vec![vec![limited(None)]; 4]).await;
    assert_eq!(told.last().unwrap(), "rate_limited Error");
    assert_eq!(told.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_day_is_not_waited_for() {
    let (told, took, _) = played(vec![vec![limited(Some(86_400))]]).await;
    assert_eq!(told, ["wait_too_long Error"]);
    assert_eq!(took, Duration::ZERO);
    let error = steady().wait(1, rate_limited(Some(86_400)), 0.5).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the provider asks to wait 86400 s, more than the 60 s this run may wait: rate limited (retry after 86400.0 s): slow down"
    );
}

#[tokio::test(start_paused = true)]
async fn what_asking_again_cannot_help_is_not_asked_again() {
    let overflow = AiError::ContextOverflow { limit: None, sent: None, reply: Reply::local("too long") };
    let (told, _, left) = played(vec![vec![Step::Fail(overflow)], vec![start()]]).await;
    assert_eq!((told.as_slice(), left), (["context_overflow Error".to_owned()].as_slice(), 1));
}

#[tokio::test(start_paused = true)]
async fn a_wait_can_be_cancelled() {
    let cancel = CancellationToken::new();
    let stream =
        Retrying::new(Script::new(vec![vec![limited(Some(50))]]), steady()).stream(request(), cancel.clone());
    let began = tokio::time::Instant::now();
    let (told, ()) = tokio::join!(tell(stream), async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        cancel.cancel();
    });
    assert_eq!(told, ["retry 1/4 50000ms rate_limited", "cancelled Aborted"]);
    assert_eq!(began.elapsed().as_secs(), 3);
}

#[test]
fn jitter_stays_within_its_share_and_below_the_cap() {
    let policy = RetryPolicy::default();
    for attempt in 1..4 {
        for random in [0.0, 0.25, 0.5, 0.999] {
            let (wait, _) = policy.wait(attempt, rate_limited(None), random).unwrap();
            let middle = f64::from(1 << (attempt - 1));
            assert!(
                (wait.as_secs_f64() - middle).abs() <= middle * 0.2 + 1e-9,
                "{attempt} {random} {wait:?}"
            );
        }
    }
    let patient = RetryPolicy { attempts: 100, ..policy };
    assert!(patient.wait(60, rate_limited(None), 0.999).unwrap().0 <= patient.cap);
}
