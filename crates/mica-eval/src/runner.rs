//! Plays cases: some at a time, each in a world of its own and with a deadline.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use mica_ai::id::Counted;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::case::{Case, ModelKind, digest};
use crate::cassette::FOLDER;
use crate::error::EvalError;
use crate::journal::Journal;
use crate::models::{Live, Making, Tape};
use crate::playing::Playing;
use crate::product::{Product, StageError};
use crate::report::{CaseReport, Check, Report, Status};

/// How cases are played.
pub struct Runner {
    /// What they are played in.
    pub products: Vec<Arc<dyn Product>>,
    /// Real models, when there are any.
    pub live: Option<Arc<dyn Live>>,
    /// Whether live cases are played.
    pub play_live: bool,
    /// Whether cassettes are recorded anew.
    pub record: bool,
    /// How many are played at a time.
    pub jobs: usize,
    /// How long one may take that says nothing else.
    pub deadline: Duration,
    /// Where their folders are made. Emptied by whoever gives it.
    pub scratch: PathBuf,
    /// Where journals are written; nowhere when absent.
    pub journals: Option<PathBuf>,
}

impl Runner {
    /// Plays cases in these products, in folders below one that is empty, a few at a time and without any model that would
    /// have to be asked.
    pub fn new(products: Vec<Arc<dyn Product>>, scratch: impl Into<PathBuf>) -> Self {
        Self {
            products,
            live: None,
            play_live: false,
            record: false,
            jobs: 4,
            deadline: Duration::from_secs(120),
            scratch: scratch.into(),
            journals: None,
        }
    }

    /// What is wrong with cases in the light of how they are to be played: products that nobody has, recordings that two of
    /// them would write, and recordings that could not be written when a model has been asked for them.
    pub fn wrong(&self, cases: &[Case]) -> Vec<EvalError> {
        let mut errors = Vec::new();
        let mut written: BTreeMap<PathBuf, &Path> = BTreeMap::new();
        let mut records = false;
        for case in cases {
            let mut invalid = |problem: String| {
                errors.push(EvalError::Invalid {
                    path: case.path.clone(),
                    line: None,
                    column: None,
                    problem,
                });
            };
            let name = case.file.product.as_str();
            if self.products.iter().all(|product| product.name() != name) {
                let known = self.products.iter().map(|product| product.name());
                invalid(StageError::unknown("product", name, known).to_string());
            }
            let model = case.file.model.file.as_ref().filter(|_| case.file.model.kind == ModelKind::Cassette);
            for file in model.into_iter().chain(&case.file.judge.cassette).filter(|_| self.record) {
                let Ok(path) = case.file(file) else { continue };
                if let Err(error) = crate::files::prepare(&path) {
                    invalid(format!("nothing can be recorded: {error}"));
                }
                records = true;
                if let Some(other) = written.insert(path, &case.path) {
                    let other = if *other == case.path {
                        "this case itself".to_owned()
                    } else {
                        other.display().to_string()
                    };
                    invalid(format!("{} is recorded by {other} as well: give each its own", file.display()));
                }
            }
        }
        if self.record && !records && errors.is_empty() {
            let problem = "there is nothing to record: no case has a cassette (`kind = \"cassette\"` in [model], or \
                           `cassette` in [judge])";
            errors.push(EvalError::Nothing { problem: problem.to_owned() });
        }
        errors
    }

    /// Plays cases. `heard` is told of each as it ends.
    pub async fn play(self: &Arc<Self>, cases: &[Case], heard: impl Fn(&CaseReport)) -> Report {
        self.play_until(cases, heard, &CancellationToken::new()).await
    }

    /// Plays cases until somebody has enough. Those that were not played to their end then are in the report as left out.
    pub async fn play_until(
        self: &Arc<Self>,
        cases: &[Case],
        heard: impl Fn(&CaseReport),
        enough: &CancellationToken,
    ) -> Report {
        let began = Instant::now();
        let mut playing = JoinSet::new();
        // They begin in their order: whoever stops it knows which were played.
        let mut waiting = cases.iter().cloned().enumerate();
        let mut begin = |playing: &mut JoinSet<CaseReport>| {
            let Some((number, case)) = waiting.next() else { return };
            let (runner, folder) = (Arc::clone(self), self.scratch.join(format!("{number}")));
            playing.spawn(async move { Box::pin(runner.one(&case, &folder)).await });
        };
        for _ in 0..self.jobs.max(1) {
            begin(&mut playing);
        }
        let mut reports: Vec<CaseReport> = Vec::new();
        loop {
            let ended = tokio::select! {
                biased;
                ended = playing.join_next() => ended,
                () = enough.cancelled() => break,
            };
            begin(&mut playing);
            match ended {
                None => break,
                // What panics is caught within a case; a task that was aborted has nothing to report.
                Some(Err(_)) => {}
                Some(Ok(report)) => {
                    heard(&report);
                    reports.push(report);
                }
            }
        }
        // What they began ends with them: each is awaited, so that nothing of a case outlives its folder.
        playing.shutdown().await;
        for case in cases {
            if !reports.iter().any(|report| report.name == case.name) {
                let mut report = CaseReport::of(case);
                report.status = Status::Skipped;
                report.problem = Some("it was not played to its end: playing was stopped".to_owned());
                heard(&report);
                reports.push(report);
            }
        }
        Report::new(reports).taking(began.elapsed().as_secs_f64())
    }

    async fn one(&self, case: &Case, folder: &Path) -> CaseReport {
        let began = Instant::now();
        let mut report = CaseReport::of(case);
        if let Some(why) = case.asks_live().filter(|_| !self.play_live) {
            report.status = Status::Skipped;
            report.problem = Some(why.to_owned());
            return report;
        }
        let limit = case.file.deadline.map_or(self.deadline, Duration::from_secs);
        let journal = Journal::default();
        let played = {
            let ids = Counted::default();
            let playing = ids.within(self.played(case, folder, &journal, &mut report));
            // A product that panics must not take the other cases with it.
            let playing = AssertUnwindSafe(playing).catch_unwind();
            tokio::time::timeout(limit, playing).await
        };
        let problem = match played {
            Ok(Ok(Ok(()))) => None,
            Ok(Ok(Err(problem))) => Some(problem.to_string()),
            Ok(Err(panic)) => Some(format!("it panicked: {}", panicked(panic.as_ref()))),
            Err(_) => Some(format!("it took longer than {} s", limit.as_secs())),
        };
        report.seconds = began.elapsed().as_secs_f64();
        // The one thing left that another run would have otherwise.
        let told = String::from_utf8_lossy(&journal.bytes()).replace(&folder.display().to_string(), FOLDER);
        let bytes = told.into_bytes();
        report.journal = Some(digest(&bytes)).filter(|_| !bytes.is_empty());
        if let Some(expected) = &case.file.journal {
            let found = report.journal.clone().unwrap_or_else(|| "nothing was told".to_owned());
            report.checks.push(Check {
                at: "the end".to_owned(),
                what: "journal".to_owned(),
                passed: found == *expected,
                judged: false,
                expected: expected.clone(),
                found,
            });
        }
        let problem = problem.or_else(|| self.keep(case, &bytes).err());
        report.status = match &problem {
            Some(_) => Status::Error,
            None if report.checks.iter().all(|check| check.passed) => Status::Passed,
            None => Status::Failed,
        };
        report.problem = problem;
        report
    }

    async fn played(
        &self,
        case: &Case,
        folder: &Path,
        journal: &Journal,
        report: &mut CaseReport,
    ) -> Result<(), StageError> {
        let name = case.file.product.as_str();
        let Some(product) = self.products.iter().find(|product| product.name() == name) else {
            return Err(StageError::unknown(
                "product",
                name,
                self.products.iter().map(|product| product.name()),
            ));
        };
        std::fs::create_dir_all(folder).map_err(|error| StageError::new(error.to_string()))?;
        let making = Making { live: self.live.as_ref(), record: self.record, folder };
        let made = making.model(case).map_err(StageError::new)?;
        let judge = match case.file.step.iter().any(|step| !step.expect.judge.is_empty()) {
            true => Some(making.judge(case).map_err(StageError::new)?),
            false => None,
        };
        let (judge, judge_tape) = judge.map_or((None, None), |(judge, tape)| (Some(judge), Some(tape)));
        let mut playing =
            Playing::open(case, product.as_ref(), folder, &made.played, journal.clone(), judge).await?;
        let played = playing.play(report).await;
        playing.close(report).await;
        let tapes = || std::iter::once(&made.tape).chain(&judge_tape);
        // What did not fit is the reason for whatever came of it.
        if let Some(problem) = tapes().find_map(Tape::problem) {
            return Err(StageError::new(problem));
        }
        played.map_err(|problem| match tapes().any(Tape::is_recording) {
            true => StageError::new(format!("{problem}; nothing was recorded")),
            false => problem,
        })?;
        for tape in tapes() {
            tape.save().map_err(|error| StageError::new(error.to_string()))?;
        }
        report.notes.extend(tapes().filter_map(Tape::note));
        Ok(())
    }

    /// Writes a journal.
    fn keep(&self, case: &Case, bytes: &[u8]) -> Result<(), String> {
        let Some(folder) = self.journals.as_ref().filter(|_| !bytes.is_empty()) else { return Ok(()) };
        // A case may be called by a path that leads anywhere.
        let parts = Path::new(&case.name).components();
        let parts = parts.filter(|part| matches!(part, Component::Normal(_)));
        let name: PathBuf = parts.collect();
        let path = folder.join(format!("{}.jsonl", name.display()));
        crate::files::write(&path, bytes).map_err(|error| error.to_string())
    }
}

/// What somebody said who panicked.
fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without words").to_owned()
}

/// Things that were looked at, by name.
pub(crate) type Looked = BTreeMap<String, Value>;
