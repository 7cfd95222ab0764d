//! The parser alone: where it stops, and what it had read until then.

use super::*;

fn stops(source: &str) -> Option<(StopReason, usize, usize)> {
    let (sequence, stop) = parse(source);
    stop.map(|stop| (stop.reason, stop.at, sequence.items.len()))
}

#[test]
fn it_says_where_it_stopped_and_keeps_what_it_had() {
    assert_eq!(stops("ls; pwd"), None);
    assert_eq!(stops("ls; echo 'a"), Some((StopReason::Unclosed, 9, 1)));
    assert_eq!(stops("ls\npwd\n(cd"), Some((StopReason::Unclosed, 7, 2)));
    assert_eq!(stops("ls )"), Some((StopReason::Unexpected, 3, 1)));
    assert_eq!(stops("a\0b"), Some((StopReason::Nul, 1, 0)));
    assert_eq!(stops(&"$(".repeat(500)).map(|stop| stop.0), Some(StopReason::TooDeep));
}

#[test]
fn here_documents_belong_to_their_operators() {
    let (sequence, stop) = parse("cat <<A; cat <<'B'\na $x\nA\nb $x\nB\nls");
    assert!(stop.is_none());
    let bodies: Vec<usize> = sequence
        .items
        .iter()
        .flat_map(|item| &item.first.commands)
        .flat_map(|node| &node.redirects)
        .map(|redirect| redirect.target.parts.len())
        .collect();
    // Text, a parameter and the end of the row; and one text where the delimiter is quoted.
    assert_eq!(bodies, [3, 1]);
    assert_eq!(sequence.items.len(), 3);
}
