//! The desk's clock: the true one, moved by whoever plays with it. All desks on the same data have the same one.
//!
//! Promise: it only goes forward, and never further ahead than [`FARTHEST`], so that every moment that is reckoned from it
//! exists. Two who move it at once move it by both.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::{Result, anyhow, bail};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};
use mica_domain::{Now, RecordError, Records as _};
use pack_desk::{Store, deadline};
use serde_json::json;

/// Where the clock's offset is kept.
const PLACE: (&str, &str) = ("clock", "offset");
/// Seconds that it may be ahead of the true one: ten years.
const FARTHEST: i64 = 10 * 366 * 24 * 3600;
/// Tries of a write that others get in before.
const TRIES: usize = 32;

/// The desk's clock. Clones are the same one.
#[derive(Clone)]
pub struct Clock {
    store: Store,
    offset: Arc<AtomicI64>,
}

impl Clock {
    /// As it was left.
    ///
    /// # Errors
    /// Data that cannot be read.
    pub async fn open(store: &Store) -> Result<Self> {
        let clock = Self { store: store.clone(), offset: Arc::default() };
        clock.look().await?;
        Ok(clock)
    }

    /// Looks whether another desk moved it.
    ///
    /// # Errors
    /// Data that cannot be read.
    pub async fn look(&self) -> Result<()> {
        let (offset, _) = self.kept().await?;
        self.offset.store(offset, Ordering::SeqCst);
        Ok(())
    }

    async fn kept(&self) -> Result<(i64, Option<u64>)> {
        let kept = self.store.get(PLACE.0, PLACE.1).await?;
        // What is no number of seconds is none, and what is too far is as far as it goes.
        let offset = kept.as_ref().and_then(|kept| kept.doc.as_i64()).unwrap_or_default();
        Ok((offset.clamp(0, FARTHEST), kept.map(|kept| kept.version)))
    }

    /// What time it is at the desk.
    pub fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        now.checked_add(SignedDuration::from_secs(self.offset.load(Ordering::SeqCst))).unwrap_or(now)
    }

    /// The same, to hand on.
    pub fn shared(&self) -> Now {
        let clock = self.clone();
        Arc::new(move || clock.now())
    }

    /// Lets time pass.
    ///
    /// # Errors
    /// Too much of it, and data that cannot be written.
    pub async fn advance(&self, by: SignedDuration) -> Result<()> {
        for _ in 0..TRIES {
            let (offset, version) = self.kept().await?;
            let after = offset.checked_add(by.as_secs()).filter(|after| *after <= FARTHEST);
            let after = after.ok_or_else(|| {
                anyhow!(
                    "that is too far: the desk's clock goes ten years ahead of the true one, and is {} days ahead already",
                    offset / 86_400
                )
            })?;
            match self.store.put(PLACE.0, PLACE.1, &json!(after), version).await {
                Ok(_) => {
                    self.offset.store(after, Ordering::SeqCst);
                    return Ok(());
                }
                Err(RecordError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bail!("others move the clock all the time; try again")
    }
}

/// How much time passes by what somebody wrote: `+2h`, `+1d`, `1 week`, `90m`, `tomorrow 9am`, `2026-11-20 17:00`.
///
/// # Errors
/// In words, with what can be written.
pub fn passing(text: &str, now: Timestamp, zone: &TimeZone) -> Result<SignedDuration> {
    let example = "write for example /clock +2h, /clock +1d 6h, /clock +1 week, /clock tomorrow 9am or /clock 2026-11-20 17:00";
    let signed = text.trim();
    let amount = signed.trim_start_matches('+').trim();
    let here = now.to_zoned(zone.clone());
    let until = match amount.parse::<Span>() {
        // Days and months are those of the desk's calendar.
        Ok(span) => {
            let far =
                |_| anyhow!("{text:?} is too far: the desk's clock goes ten years ahead of the true one");
            here.checked_add(span).map_err(far)?.timestamp()
        }
        Err(_) if signed.starts_with('+') => bail!("{text:?} is no time that could pass; {example}"),
        Err(_) => deadline::parse(amount, now, zone)
            .map_err(|_| anyhow!("{text:?} is no time that could pass; {example}"))?,
    };
    let by = until.duration_since(now);
    if by.is_negative() {
        bail!("time goes forward only; {example}");
    }
    // The clock goes by whole seconds: a part of one more, so that it never stops before the time that was named.
    let part = i64::from(by.subsec_nanos() > 0);
    let by = SignedDuration::from_secs(by.as_secs().saturating_add(part));
    if by.is_zero() {
        bail!("{text:?} is no time that could pass; {example}");
    }
    Ok(by)
}

#[cfg(test)]
mod tests;
