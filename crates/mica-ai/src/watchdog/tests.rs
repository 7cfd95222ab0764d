//! Under the paused clock: every limit is met exactly.

use super::*;
use crate::scripted::{Script, Step, request, start, tell, text};

const SECOND: Duration = Duration::from_secs(1);

fn wait(seconds: u32) -> Step {
    Step::Wait(SECOND * seconds)
}

async fn watched(clock: &ModelClock, steps: Vec<Step>) -> (Vec<String>, u64) {
    let began = Instant::now();
    let provider = Watched::new(Script::new(vec![steps]), clock.clone());
    let told = tell(provider.stream(request(), CancellationToken::new())).await;
    (told, began.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn silence_is_ended_and_what_arrived_is_kept() {
    let clock = ModelClock::new(SECOND * 10, None);
    let (told, took) = watched(&clock, [vec![start()], text("hi"), vec![wait(60)]].concat()).await;
    assert_eq!(
        (told.as_slice(), took),
        (["start", "text", "+hi", "idle Error"].map(String::from).as_slice(), 10)
    );
}

#[tokio::test(start_paused = true)]
async fn silence_before_the_first_event_counts_too() {
    let clock = ModelClock::new(SECOND * 10, None);
    assert_eq!(watched(&clock, vec![wait(60)]).await, (vec!["idle Error".to_owned()], 10));
}

#[tokio::test(start_paused = true)]
async fn a_slow_but_steady_answer_is_not_idle() {
    let clock = ModelClock::new(SECOND * 10, None);
    let steps: Vec<Step> = (0..20).flat_map(|_| [wait(9), start()]).collect();
    let (told, took) = watched(&clock, steps).await;
    assert_eq!((told.last().map(String::as_str), took), (Some("done Stop"), 180));
}

#[tokio::test(start_paused = true)]
async fn all_calls_of_a_run_share_one_time() {
    let clock = ModelClock::new(SECOND * 100, Some(SECOND * 30));
    assert_eq!(watched(&clock, vec![wait(20)]).await.0, ["done Stop"]);
    assert_eq!(clock.spent(), SECOND * 20);
    assert_eq!(watched(&clock, vec![wait(20)]).await, (vec!["deadline Error".to_owned()], 10));
    assert_eq!(watched(&clock, vec![wait(1)]).await, (vec!["deadline Error".to_owned()], 0));
}

#[tokio::test(start_paused = true)]
async fn a_pause_stops_both_clocks() {
    let clock = ModelClock::new(SECOND * 10, Some(SECOND * 15));
    let pause = async {
        tokio::time::sleep(SECOND * 5).await;
        let pause = clock.pause();
        let second = clock.pause();
        tokio::time::sleep(SECOND * 100).await;
        drop(pause);
        tokio::time::sleep(SECOND * 100).await;
        drop(second);
    };
    let ((told, took), ()) = tokio::join!(watched(&clock, vec![wait(208), start(), wait(60)]), pause);
    // 5 before the pause, 3 after it until the event, 7 more until the 15 in all are used.
    assert_eq!((told.as_slice(), took), (["start", "deadline Error"].map(String::from).as_slice(), 215));
    assert_eq!(clock.spent(), SECOND * 15);
}

#[tokio::test(start_paused = true)]
async fn the_readers_time_is_not_the_models() {
    let clock = ModelClock::new(SECOND * 10, Some(SECOND * 10));
    let provider = Watched::new(Script::new(vec![vec![start(), wait(4), start(), wait(4)]]), clock.clone());
    let mut stream = provider.stream(request(), CancellationToken::new());
    assert!(matches!(stream.next().await, Some(StreamEvent::Start { .. })));
    tokio::time::sleep(SECOND * 500).await;
    assert!(matches!(stream.next().await, Some(StreamEvent::Start { .. })));
    tokio::time::sleep(SECOND * 500).await;
    assert!(matches!(stream.next().await, Some(StreamEvent::Done { .. })));
    assert_eq!(clock.spent(), SECOND * 8);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_does_not_obey_is_dropped() {
    struct Deaf;
    impl Provider for Deaf {
        fn stream(&self, _: Arc<Request>, _: CancellationToken) -> ModelStream {
            ModelStream::new(|_| pending())
        }
    }
    let provider = Watched::new(Deaf, ModelClock::new(SECOND, None));
    assert_eq!(tell(provider.stream(request(), CancellationToken::new())).await, ["idle Error"]);
}
