//! Which places are known, and what is told from them.

use super::*;

fn event(seq: u64, kind: EventKind) -> Event {
    Event { seq, run: RunId::fresh(), kind }
}

fn kept(seqs: std::ops::Range<u64>) -> VecDeque<Event> {
    seqs.map(|seq| event(seq, EventKind::RunStart)).collect()
}

fn seqs(events: &VecDeque<Event>) -> Vec<u64> {
    events.iter().map(|event| event.seq).collect()
}

#[test]
fn a_place_is_known_while_nothing_behind_it_is_gone() {
    let check = |seq: u64, expect: Option<&[u64]>| {
        let since = Feed::since(&kept(5..8), seq);
        assert_eq!(since.as_ref().map(seqs).as_deref(), expect, "{seq}");
    };
    check(3, None);
    check(4, Some(&[5, 6, 7]));
    check(6, Some(&[7]));
    check(7, Some(&[]));
    // Of a session that was opened again and has not come so far.
    check(8, None);
    assert!(Feed::since(&VecDeque::new(), 0).is_none());
}

#[test]
fn who_comes_anew_is_told_the_turn_that_goes_on() {
    let check = |kinds: &[EventKind], expect: &[u64]| {
        let kept = kinds.iter().zip(0..).map(|(kind, seq)| event(seq, kind.clone())).collect();
        assert_eq!(seqs(&going_on(&kept)), expect, "{kinds:?}");
    };
    let (start, end) = (|turn| EventKind::TurnStart { turn }, |turn| EventKind::TurnEnd { turn });
    check(&[], &[]);
    check(&[EventKind::RunStart], &[]);
    check(&[EventKind::RunStart, start(1)], &[1]);
    check(&[EventKind::RunStart, start(1), end(1)], &[]);
    check(&[EventKind::RunStart, start(1), end(1), start(2), EventKind::RunStart], &[3, 4]);
}

#[tokio::test]
async fn the_oldest_go_and_a_slow_client_goes_on_from_what_is_kept() {
    let feed = Feed::new();
    let slow = feed.more.subscribe();
    for seq in 0..KEPT as u64 + 10 {
        feed.event(event(seq, EventKind::RunStart)).await;
    }
    let (len, oldest) = {
        let kept = feed.kept();
        (kept.len(), kept.front().map(|event| event.seq))
    };
    assert_eq!((len, oldest), (KEPT, Some(10)));
    // It had the tenth: nothing it has not is gone.
    let mut following =
        Following { anew: None, feed: Arc::clone(&feed), missed: VecDeque::new(), more: slow, last: Some(9) };
    let mut heard = Vec::new();
    for _ in 0..KEPT {
        heard.extend(following.next().await.map(|event| event.seq));
    }
    assert_eq!(heard, (10..KEPT as u64 + 10).collect::<Vec<_>>());
    assert_eq!(following.place(), Some(Place { feed: feed.name.clone(), seq: KEPT as u64 + 9 }));
    // It had less: it has to follow again.
    let more = feed.more.subscribe();
    let mut far =
        Following { anew: None, feed: Arc::clone(&feed), missed: VecDeque::new(), more, last: Some(3) };
    for seq in 0..2 * KEPT as u64 {
        feed.event(event(KEPT as u64 + 10 + seq, EventKind::RunStart)).await;
    }
    assert!(far.next().await.is_none());
}
