//! One value, many callers, under a virtual clock.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::error::Reply;

/// A cache of numbers. Each fetch takes a second and yields how many there were before it.
struct Bench {
    cache: Cache<usize>,
    fetches: Arc<AtomicUsize>,
    lifetime: Duration,
    refresh_in: Option<Duration>,
}

fn failure() -> AiError {
    AiError::BadRequest { reply: Reply::local("no value") }
}

fn late() -> AiError {
    AiError::BadRequest { reply: Reply::local("too late") }
}

const SECOND: Duration = Duration::from_secs(1);

impl Bench {
    fn new(lifetime: u64) -> Self {
        Self {
            cache: Cache::new(),
            fetches: Arc::default(),
            lifetime: SECOND * u32::try_from(lifetime).unwrap(),
            refresh_in: None,
        }
    }

    async fn get_when(&self, takes: Duration, works: bool) -> Result<usize, String> {
        let (fetches, lifetime, refresh_in) = (self.fetches.clone(), self.lifetime, self.refresh_in);
        let fetch = async move {
            let value = fetches.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(takes).await;
            if works { Ok(Fresh { value, lifetime, refresh_in }) } else { Err(failure()) }
        };
        let result = self.cache.get(SECOND * 60, fetch, late).await;
        result.map(|value| *value).map_err(|error| error.to_string())
    }

    async fn get(&self) -> usize {
        self.get_when(SECOND, true).await.unwrap()
    }

    fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }
}

async fn pass(seconds: u64) {
    tokio::time::advance(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn many_callers_share_one_fetch() {
    let bench = Bench::new(3600);
    let all = futures::future::join_all((0..100).map(|_| bench.get())).await;
    assert_eq!((all, bench.fetches()), (vec![0; 100], 1));
}

#[tokio::test(start_paused = true)]
async fn many_callers_share_one_failure_and_the_next_one_tries_again() {
    let bench = Bench::new(3600);
    let all = futures::future::join_all((0..100).map(|_| bench.get_when(SECOND, false))).await;
    assert_eq!((all, bench.fetches()), (vec![Err("bad request: no value".to_owned()); 100], 1));
    assert_eq!(bench.get().await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_value_is_replaced_five_minutes_before_its_end() {
    let bench = Bench::new(3600);
    assert_eq!(bench.get().await, 0);
    pass(3600 - 300 - 2).await;
    assert_eq!(bench.get().await, 0);
    pass(1).await;
    assert_eq!(bench.get().await, 1);
}

#[tokio::test(start_paused = true)]
async fn the_issuer_may_ask_for_an_earlier_replacement() {
    let mut bench = Bench::new(3600);
    bench.refresh_in = Some(SECOND * 600);
    assert_eq!(bench.get().await, 0);
    pass(598).await;
    assert_eq!(bench.get().await, 0);
    pass(1).await;
    assert_eq!(bench.get().await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_short_value_is_replaced_at_half_time() {
    let bench = Bench::new(100);
    assert_eq!(bench.get().await, 0);
    pass(48).await;
    assert_eq!(bench.get().await, 0);
    pass(1).await;
    assert_eq!(bench.get().await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_value_without_life_is_used_once() {
    let bench = Bench::new(0);
    assert_eq!((bench.get().await, bench.get().await), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn an_endless_value_is_taken_without_an_overflow() {
    let mut bench = Bench::new(0);
    bench.lifetime = Duration::MAX;
    bench.refresh_in = Some(Duration::MAX);
    assert_eq!((bench.get().await, bench.get().await), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn callers_on_many_threads_share_one_fetch() {
    let bench = Arc::new(Bench::new(3600));
    let callers = (0..64).map(|_| {
        let bench = bench.clone();
        tokio::spawn(async move { bench.get_when(Duration::from_millis(50), true).await })
    });
    let all = futures::future::join_all(callers.collect::<Vec<_>>()).await;
    assert!(all.into_iter().all(|one| one.unwrap() == Ok(0)));
    assert_eq!(bench.fetches(), 1);
}

#[tokio::test(start_paused = true)]
async fn while_one_replaces_the_value_the_others_go_on_with_the_old_one() {
    let bench = Bench::new(3600);
    bench.get().await;
    pass(3400).await;
    let before = Instant::now();
    let first = async { (bench.get().await, before.elapsed()) };
    let second = async { (bench.get().await, before.elapsed()) };
    assert_eq!(tokio::join!(first, second), ((1, SECOND), (0, Duration::ZERO)));
}

#[tokio::test(start_paused = true)]
async fn a_failed_early_replacement_keeps_the_old_value_until_its_end() {
    let bench = Bench::new(3600);
    bench.get().await;
    pass(3400).await;
    assert_eq!(bench.get_when(SECOND, false).await, Ok(0));
    assert_eq!(bench.get_when(SECOND, false).await, Ok(0));
    assert_eq!(bench.fetches(), 2, "after a failure there is a pause");
    pass(31).await;
    assert_eq!(bench.get_when(SECOND, false).await, Ok(0));
    assert_eq!(bench.fetches(), 3);
    pass(200).await;
    assert_eq!(bench.get_when(SECOND, false).await, Err("bad request: no value".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_slow_early_replacement_costs_one_caller_five_seconds() {
    let bench = Bench::new(3600);
    bench.get().await;
    pass(3400).await;
    let before = Instant::now();
    assert_eq!(bench.get_when(SECOND * 50, true).await, Ok(0));
    assert_eq!(before.elapsed(), EARLY_WAIT);
    assert_eq!(bench.get_when(SECOND * 50, true).await, Ok(0));
    assert_eq!(before.elapsed(), EARLY_WAIT);
}

#[tokio::test(start_paused = true)]
async fn every_wait_has_a_deadline() {
    let bench = Bench::new(3600);
    let before = Instant::now();
    assert_eq!(bench.get_when(SECOND * 3600, true).await, Err("bad request: too late".to_owned()));
    assert_eq!(before.elapsed(), SECOND * 60);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_leaves_the_fetch_to_the_others() {
    let bench = Bench::new(3600);
    let hasty = tokio::time::timeout(SECOND / 2, bench.get());
    let (hasty, patient) = tokio::join!(hasty, bench.get());
    assert_eq!((hasty.ok(), patient, bench.fetches()), (None, 0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_fetch_that_nobody_waits_for_is_dropped_and_begun_anew() {
    let bench = Bench::new(3600);
    assert!(tokio::time::timeout(SECOND / 2, bench.get()).await.is_err());
    pass(1000).await;
    assert_eq!(bench.get().await, 1, "a fetch from long ago is not resumed: its deadline is over");
}

#[tokio::test(start_paused = true)]
async fn what_is_forgotten_is_fetched_again() {
    let bench = Bench::new(3600);
    bench.get().await;
    bench.cache.forget();
    assert_eq!(bench.get().await, 1);
}
