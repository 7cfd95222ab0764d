//! `mica sessions prune`, and what the settings under `[sessions]` have done once a day.

use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal, Write};

use anyhow::{Context as _, Result, bail};
use jiff::{SignedDuration, Timestamp};
use mica_session::{Goes, Plan, Retention, Sessions, Spared, Why};

use super::list::{age, clip};
use crate::config::SessionValues;

/// What was asked for on the command line.
pub struct Asked<'a> {
    /// Sessions that did not change for so many days.
    pub older_than: Option<u32>,
    /// So many sessions of each project stay.
    pub keep: Option<usize>,
    /// So much of each project stays.
    pub max_size: Option<&'a str>,
    /// Only say what would go.
    pub dry_run: bool,
    /// Do not ask.
    pub yes: bool,
}

/// What the settings say. What is 0 limits nothing.
///
/// # Errors
/// A size that is none.
pub fn retention(values: &SessionValues) -> Result<Retention> {
    let bytes = values.max_size.as_deref().map(bytes).transpose().context("sessions.max_size is wrong")?;
    Ok(Retention {
        unchanged_for: values.keep_days.filter(|days| *days > 0).map(days),
        sessions: values.keep.filter(|count| *count > 0),
        bytes: bytes.filter(|bytes| *bytes > 0),
    })
}

fn days(days: u32) -> SignedDuration {
    SignedDuration::from_hours(i64::from(days) * 24)
}

/// Says what goes and why, asks, and deletes it.
///
/// # Errors
/// When nothing says what should go, or nobody can be asked.
#[allow(clippy::disallowed_methods, reason = "the binary knows the time")]
#[allow(clippy::print_stdout, reason = "a person reads what goes before they are asked")]
pub fn run(sessions: &Sessions, asked: &Asked<'_>, values: &SessionValues) -> Result<String> {
    let flags = Retention {
        unchanged_for: asked.older_than.map(days),
        sessions: asked.keep,
        bytes: asked.max_size.map(bytes).transpose().context("--max-size is wrong")?,
    };
    let retention = if flags == Retention::default() { retention(values)? } else { flags };
    if retention == Retention::default() {
        bail!(
            "nothing says what should go: give --older-than DAYS, --keep N or --max-size SIZE, or set [sessions] in the \
             settings"
        );
    }
    let now = Timestamp::now();
    let plan = sessions.plan(&retention, now);
    let told = told(&plan, now);
    if plan.goes.is_empty() || asked.dry_run {
        return Ok(told);
    }
    if !asked.yes {
        print!("{told}");
        if !std::io::stdin().is_terminal() {
            bail!("nothing was deleted, because nobody can be asked: say --yes, or --dry-run to only look");
        }
        print!("Delete {}? [y/N] ", count(plan.goes.len()));
        std::io::stdout().flush()?;
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
            return Ok("nothing was deleted\n".to_owned());
        }
    }
    let said = if asked.yes { told } else { String::new() };
    Ok(format!("{said}{}", carry_out(sessions, plan.goes)))
}

/// Deletes, and says what came of it.
pub fn carry_out(sessions: &Sessions, goes: Vec<Goes>) -> String {
    let all = goes.len();
    let left = sessions.carry_out(goes);
    let mut out = format!("{} deleted\n", count(all - left.len()));
    for (session, error) in left {
        let _ = writeln!(out, "{} stays: {error}", session.id.short());
    }
    out
}

fn told(plan: &Plan, now: Timestamp) -> String {
    let mut out = String::new();
    for Goes { session, why } in &plan.goes {
        let size = size(session.bytes + session.blob_bytes);
        let _ = writeln!(
            out,
            "{}  {:>6}  {size:>8}  {}: {}",
            session.id.short(),
            age(now, session.changed),
            reason(*why),
            clip(session.title(), 40),
        );
    }
    for (Goes { session, why }, spared) in &plan.spared {
        let because = match spared {
            Spared::Labelled => "it has a label",
            Spared::Open => "it is open",
            Spared::Unreadable => "it cannot be read",
        };
        let title = clip(session.title(), 40);
        let _ = writeln!(
            out,
            "{} stays although {}, because {because}: {title}",
            session.id.short(),
            reason(*why)
        );
    }
    let freed: u64 = plan.goes.iter().map(|goes| goes.session.bytes + goes.session.blob_bytes).sum();
    let _ = match plan.goes.len() {
        0 => writeln!(out, "nothing goes"),
        goes => writeln!(out, "{}, {}", count(goes), size(freed)),
    };
    out
}

fn reason(why: Why) -> &'static str {
    match why {
        Why::Old => "it is too old",
        Why::Many => "newer ones of its project are enough",
        Why::Large => "newer ones of its project take all the room",
    }
}

fn count(sessions: usize) -> String {
    if sessions == 1 { "1 session".to_owned() } else { format!("{sessions} sessions") }
}

/// A size as people read it.
pub fn size(bytes: u64) -> String {
    let units = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut amount = bytes as f64 / 1000.0;
    let mut unit = 0;
    while amount >= 999.95 && unit + 1 < units.len() {
        amount /= 1000.0;
        unit += 1;
    }
    format!("{amount:.1} {}", units.get(unit).unwrap_or(&"TB"))
}

/// A size as people write it: `500 MB`, `1.5G`, `2GiB`, `4096`.
///
/// # Errors
/// What is no size.
pub fn bytes(text: &str) -> Result<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale: f64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1_048_576.0,
        "gib" => 1_073_741_824.0,
        _ => bail!("{text:?} is no size: write for example 500MB or 2GiB"),
    };
    match number.parse::<f64>() {
        Ok(amount) if amount.is_finite() => Ok((amount * scale) as u64),
        _ => bail!("{text:?} is no size: write for example 500MB or 2GiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, expected) in [
            ("4096", Some(4096)),
            ("500 MB", Some(500_000_000)),
            ("1.5g", Some(1_500_000_000)),
            ("2GiB", Some(2 << 30)),
            ("0", Some(0)),
            ("MB", None),
            ("-1", None),
            ("5 apples", None),
            ("1.2.3k", None),
        ] {
            assert_eq!(bytes(text).ok(), expected, "{text}");
        }
        assert_eq!(
            [size(999), size(1_000), size(999_960), size(2_500_000)],
            ["999 B", "1.0 kB", "1.0 MB", "2.5 MB"]
        );
    }

    #[test]
    fn nothing_set_limits_nothing() {
        let off = SessionValues { keep_days: Some(0), keep: Some(0), max_size: Some("0".to_owned()) };
        assert_eq!(retention(&off).unwrap(), Retention::default());
        let on = SessionValues { keep_days: Some(30), ..off };
        assert_eq!(retention(&on).unwrap().unchanged_for, Some(SignedDuration::from_hours(720)));
    }
}
