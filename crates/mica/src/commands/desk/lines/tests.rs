//! What is typed ahead, and what a pipe gives.

use super::*;

/// What prompts get, one after the other.
fn prompts(typed: &mut Typed) -> Vec<Next> {
    let mut all = Vec::new();
    while *typed != Typed::default() {
        all.push(typed.next());
    }
    all
}

fn line(text: &str) -> Next {
    Next::Line(text.to_owned())
}

fn begins(text: &str) -> Next {
    Next::Begins(text.to_owned())
}

#[test]
fn what_is_typed_ahead_keeps_its_order() {
    // Sent while the desk looked around: taken, and what was begun stands in the prompt behind it.
    let mut typed = Typed::default();
    typed.came("one");
    typed.came("two");
    typed.rest.push_str("thr");
    assert_eq!(prompts(&mut typed), [line("one"), line("two"), begins("thr")]);
    // Sent while something ran: each is in a prompt of its own, and what was begun comes last.
    typed.came("one");
    typed.came("  ");
    typed.came("two");
    typed.rest.push_str("thr");
    assert!(typed.hold());
    assert!(!typed.hold());
    assert_eq!(prompts(&mut typed), [begins("one"), begins("two"), begins("thr")]);
    // What is sent behind something that waits in a prompt waits behind it.
    typed.held.push_front("asked".to_owned());
    typed.came("one");
    assert_eq!(prompts(&mut typed), [begins("asked"), begins("one")]);
    // A line that was begun in one run and sent in the next is one line.
    typed.rest.push_str("hel");
    typed.came("lo");
    assert_eq!(prompts(&mut typed), [line("hello")]);
}

#[tokio::test]
async fn a_pipe_gives_lines_or_says_why_not() {
    let long = "x".repeat(LONGEST + 1);
    let text = [b"one\r\n\xff\xfe Gr\xfc\xdfe\n", long.as_bytes(), b"\n\nlast"].concat();
    let mut lines = BufReader::with_capacity(7, text.as_slice());
    let mut all = Vec::new();
    while let Some(line) = read(&mut lines).await {
        all.push(line);
    }
    let too_long =
        format!("a line of {} bytes is too long, and was not taken; {LONGEST} is the most", long.len());
    let no_text = "a line is no text in UTF-8, and was not taken: \u{fffd}\u{fffd} Gr\u{fffd}\u{fffd}e";
    assert_eq!(
        all,
        [
            Ok("one".to_owned()),
            Err(no_text.to_owned()),
            Err(too_long),
            Ok(String::new()),
            Ok("last".to_owned())
        ]
    );
}
