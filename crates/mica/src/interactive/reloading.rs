//! Extensions that changed on disk are loaded anew before the next input counts, and the person is told what changed.

use anyhow::Result;

use super::{Wants, attend, slash};
use crate::render::text::TextPrinter;
use crate::saying::Said;
use crate::surroundings::Surroundings;
use crate::terminal::{Input, Terminal};
use crate::trusting::{ANSWERS, Answered, Matter};
use crate::work::Work;

/// Looks whether a file of an extension changed, which takes no reading, and loads them anew if one did.
///
/// # Errors
/// An answer that cannot be kept.
pub async fn look(
    work: &Work,
    surroundings: &Surroundings,
    printer: &TextPrinter,
    terminal: &mut Terminal,
    wants: &mut Wants,
) -> Result<()> {
    if work.loading.is_outdated() {
        for told in anew(work, surroundings, printer, terminal, wants).await? {
            printer.say("…", &told);
        }
    }
    Ok(())
}

/// Asks about what is new, and loads all extensions anew. Answers what changed.
///
/// # Errors
/// An answer that cannot be kept.
pub async fn anew(
    work: &Work,
    surroundings: &Surroundings,
    printer: &TextPrinter,
    terminal: &mut Terminal,
    wants: &mut Wants,
) -> Result<Vec<String>> {
    let (matter, problems) = Matter::of_project(surroundings);
    for problem in problems {
        printer.say("…", &problem);
    }
    let mut matters: Vec<Matter> = matter.into_iter().collect();
    matters.extend(Matter::of_user(surroundings, work.loading.values()));
    for matter in matters {
        if !settled(&matter, surroundings, printer, terminal).await? {
            break;
        }
    }
    let mut told = Vec::new();
    // Those that go and those that come may ask something.
    let reloading = async {
        told = work.reload().await?;
        Ok(Said::Handled(None))
    };
    Box::pin(attend(work, reloading, printer, terminal, wants)).await?;
    told.extend(slash::clashes(work));
    Ok(told)
}

/// Asks until there is an answer. `false`: the person leaves it open.
async fn settled(
    matter: &Matter,
    surroundings: &Surroundings,
    printer: &TextPrinter,
    terminal: &mut Terminal,
) -> Result<bool> {
    printer.tell(&format!("? {}", matter.question(surroundings)));
    loop {
        let Input::Line(line) = terminal.line(ANSWERS).await else { return Ok(false) };
        match matter.answered(surroundings, &line)? {
            Answered::Again(shown) if shown.is_empty() => {}
            Answered::Again(shown) => printer.tell(&shown),
            Answered::Settled(said) => {
                if let Some(said) = said {
                    printer.say("…", &said);
                }
                return Ok(true);
            }
        }
    }
}
