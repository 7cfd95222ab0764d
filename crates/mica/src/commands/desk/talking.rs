//! Works at the desk with a person until they leave. Works from a pipe as well.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use anyhow::Result;

use super::lines::From;
use super::room::{Did, Room};
use super::stopping::{Ended, HELD, Scope, Stop};
use crate::exit::Exit;
use crate::render::question::plain;
use crate::terminal::Input;

/// How often it is looked whether something happened while nobody types.
const GLANCE: Duration = Duration::from_secs(1);

/// How a question is answered without being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// The person is asked.
    Person,
    /// Everything is a yes: `--yes`.
    Nobody,
}

/// Talks with a person until they leave.
///
/// # Errors
/// Data that cannot be used.
pub async fn talk(room: &mut Room, from: &mut From, asking: Asking) -> Result<Exit> {
    let stop = Stop::of(room);
    // What a pipe ends with, for whoever runs it: a person saw what went wrong.
    let mut ends = Exit::Done;
    loop {
        if let Ended::Left = stop.attend(from, Scope::Glance, glance(room)).await {
            return Ok(Exit::Aborted);
        }
        if asking == Asking::Nobody && !room.open_questions()?.is_empty() {
            match stop.attend(from, Scope::Conversation, room.approve_all()).await {
                Ended::Left => return hurry(room, &stop).await,
                Ended::Done(Ok(spoke)) | Ended::Stopped(Ok(spoke)) => {
                    room.tell(&spoke.outcome);
                    continue;
                }
                // Who may not say yes is asked.
                Ended::Done(Err(error)) | Ended::Stopped(Err(error)) => {
                    room.screen.fail(&format!("{error:#}"));
                }
            }
        }
        room.look_again().await?;
        let question = room.question()?;
        if let Some(question) = &question {
            room.screen.painted(question);
            room.is_shown().await?;
            if from.hold() {
                room.screen.note("…", HELD);
            }
        }
        let asked = question.is_some();
        let line = match line(room, from, &stop, asked).await? {
            Input::Line(line) => line,
            Input::Cleared | Input::Key(_) => {
                if let Some(problem) = from.problem() {
                    room.screen.fail(&problem);
                    ends = Exit::Error;
                }
                continue;
            }
            Input::Interrupt => return Ok(Exit::Aborted),
            Input::End => {
                if asked {
                    room.screen.tell("left waiting; it is asked again next time");
                }
                return Ok(match (from.is_keyboard(), ends) {
                    (true, _) => Exit::Done,
                    (false, Exit::Done) if !room.open_questions()?.is_empty() => Exit::NeedsApproval,
                    (false, ends) => ends,
                });
            }
        };
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if !from.is_keyboard() {
            room.screen.tell(&format!("> {}", plain(line)));
        }
        let is_command = line.starts_with('/');
        if !asked && !is_command && room.is_asked()? {
            room.screen.tell("… a question came up meanwhile: answer it first, or put it off with l");
            from.draft(line);
            continue;
        }
        let scope = if is_command { Scope::Agents } else { Scope::Conversation };
        let doing =
            async { if asked && !is_command { room.answer(line).await } else { room.take(line).await } };
        let did = match stop.attend(from, scope, doing).await {
            Ended::Left => return hurry(room, &stop).await,
            Ended::Done(did) | Ended::Stopped(did) => did,
        };
        match did {
            Ok(Did::Said(text) | Did::Asks(text)) => room.screen.tell(&text),
            Ok(Did::Short { text, .. }) => {
                room.screen.tell(&text);
                ends = Exit::Error;
            }
            Ok(Did::Ran(spoke)) => {
                room.tell(&spoke.outcome);
                let ended = if spoke.missing.is_empty() { Exit::from(&spoke.outcome) } else { Exit::Error };
                if !matches!(ended, Exit::Done | Exit::NeedsApproval) {
                    ends = ended;
                }
            }
            Ok(Did::Quit) => return Ok(if from.is_keyboard() { Exit::Done } else { ends }),
            // A mistake of a person, or of the moment: they are told, and go on.
            Err(error) => {
                room.screen.fail(&format!("{error:#}"));
                ends = Exit::Error;
            }
        }
    }
}

/// Leaves at once, and says what is left in the middle.
///
/// # Errors
/// None.
pub async fn hurry(room: &mut Room, stop: &Stop) -> Result<Exit> {
    room.hurries = true;
    stop.tell_left().await;
    Ok(Exit::Aborted)
}

/// Does what is due. What fails is told, and tried again with the next look.
async fn glance(room: &mut Room) {
    if let Err(error) = room.settle().await {
        room.screen.fail(&format!("{error:#}"));
    }
}

/// Waits for a line, and tells what happens meanwhile.
async fn line(room: &mut Room, from: &mut From, stop: &Stop, asked: bool) -> Result<Input> {
    let screen = Arc::clone(&room.screen);
    let prompt = if asked { "answer> ".to_owned() } else { room.prompt() };
    let keyboard = from.is_keyboard();
    if !keyboard && asked {
        screen.painted(&prompt);
    }
    screen.prompting(keyboard);
    // Whether it is looked right now. A look is not cut off in the middle.
    let busy = AtomicBool::new(false);
    let mut looking = Box::pin(async {
        loop {
            tokio::time::sleep(GLANCE).await;
            busy.store(true, Ordering::SeqCst);
            glance(room).await;
            busy.store(false, Ordering::SeqCst);
        }
    });
    let input = {
        let reading = from.next(&prompt);
        tokio::pin!(reading);
        tokio::select! {
            input = &mut reading => input,
            () = &mut looking, if keyboard => Input::End,
        }
    };
    screen.prompting(false);
    let is_stopped = input == Input::Interrupt && stop.is_busy().await;
    if is_stopped {
        stop.stop(Scope::Conversation).await;
    }
    let looked = std::future::poll_fn(|cx| {
        if busy.load(Ordering::SeqCst) {
            let _: Poll<()> = looking.as_mut().poll(cx);
        }
        if busy.load(Ordering::SeqCst) { Poll::Pending } else { Poll::Ready(()) }
    });
    // Who does not want to wait for it leaves.
    tokio::select! {
        () = looked => {}
        _ = tokio::signal::ctrl_c() => return Ok(Input::Interrupt),
    }
    // What goes on in the background is stopped before anybody leaves.
    if is_stopped {
        screen.tell("… stopped; Ctrl-C again leaves");
        return Ok(Input::Cleared);
    }
    Ok(input)
}
