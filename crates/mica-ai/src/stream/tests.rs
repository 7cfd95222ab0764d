//! The stream always ends once.

use futures::FutureExt;

use super::*;
use crate::message::TextKind;

fn message() -> Assistant {
    let origin = Origin { dialect: Dialect::Chat, provider: "p".into(), model: "m".into() };
    let mut message = Assistant::empty(MessageId::from("m"), origin);
    message.stop = StopReason::Stop;
    message
}

fn text(block: usize) -> StreamEvent {
    StreamEvent::TextStart { block, kind: TextKind::Answer }
}

async fn drained(mut stream: ModelStream) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    assert!(stream.next().await.is_none(), "a stream that ended stays ended");
    events
}

#[tokio::test]
async fn deltas_come_before_the_one_terminal_event() {
    let stream = ModelStream::new(|sink| async move {
        sink.send(text(0));
        sink.flush().await;
        sink.send(text(1));
        Outcome::Done(message())
    });
    let events = drained(stream).await;
    assert!(matches!(
        events.as_slice(),
        [
            StreamEvent::TextStart { block: 0, .. },
            StreamEvent::TextStart { block: 1, .. },
            StreamEvent::Done { .. }
        ]
    ));
}

#[tokio::test]
async fn a_failed_message_says_how_it_ended() {
    for (error, stop) in [
        (AiError::Cancelled, StopReason::Aborted),
        (AiError::Protocol { detail: String::new() }, StopReason::Error),
    ] {
        let events = drained(ModelStream::failed(message(), error)).await;
        assert!(matches!(events.as_slice(), [StreamEvent::Error { partial, .. }] if partial.stop == stop));
    }
}

#[tokio::test]
async fn a_batch_is_taken_before_the_producer_goes_on() {
    let stream = ModelStream::new(|sink| async move {
        for block in 0..1000 {
            sink.send(text(block));
            sink.flush().await;
            assert!(sink.queue.lock().is_empty(), "the queue never holds more than a batch");
        }
        Outcome::Done(message())
    });
    assert_eq!(drained(stream).await.len(), 1001);
}

#[tokio::test]
async fn the_outcome_can_be_awaited_alone() {
    let outcome = ModelStream::new(|sink| async move {
        sink.send(text(0));
        Outcome::Done(message())
    })
    .outcome()
    .await;
    assert_eq!(outcome.into_result().unwrap().stop, StopReason::Stop);
}

#[tokio::test]
async fn asking_a_stream_that_was_read_for_its_outcome_ends_too() {
    let mut stream = ModelStream::failed(message(), AiError::Cancelled);
    while stream.next().await.is_some() {}
    assert_eq!(stream.outcome().await.into_result().unwrap_err().kind(), "protocol");
}

#[tokio::test]
async fn nothing_runs_before_the_stream_is_read() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let mut stream = ModelStream::new(|_| async move {
        let _ = sender.send(());
        Outcome::Done(message())
    });
    let mut receiver = receiver;
    assert!((&mut receiver).now_or_never().is_none());
    assert!(stream.next().await.is_some());
    assert_eq!(receiver.await, Ok(()));
}

#[test]
#[should_panic(expected = "a producer ends its stream by returning an outcome")]
fn a_producer_that_sends_a_terminal_event_is_told_in_debug_builds() {
    let stream = ModelStream::new(|sink| async move {
        sink.send(StreamEvent::Done { message: Box::new(message()) });
        Outcome::Done(message())
    });
    let _ = stream.outcome().now_or_never();
}
