//! Makes the model of a case, and its judge.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use mica_ai::{Model, Provider};
use mica_testkit::{Scenario, ScriptedModel};

use crate::case::{Case, ModelKind, TurnPart};
use crate::cassette::{Cassette, Covers, Recorder, Secrets};
use crate::error::EvalError;
use crate::judge::Judge;
use crate::obeys::Obeys;
use crate::played::{Played, facts};

/// Real models.
pub trait Live: Send + Sync {
    /// The model of a name; the one that the settings name when there is none.
    ///
    /// # Errors
    /// In words, with what to do.
    fn model(&self, name: Option<&str>) -> Result<LiveModel, String>;

    /// Values that must not be written anywhere, as far as they are known without asking anybody: what was recorded
    /// without them is compared without them.
    fn secrets(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A real model.
pub struct LiveModel {
    /// Who answers.
    pub provider: Arc<dyn Provider>,
    /// What is known of it.
    pub model: Arc<Model>,
    /// Keys that must not be written anywhere.
    pub secrets: Vec<String>,
}

/// A model that is made, and what must be done with it at the end.
pub(crate) struct Made {
    pub(crate) played: Played,
    pub(crate) tape: Tape,
}

/// What is recorded or played.
#[derive(Default)]
pub(crate) struct Tape {
    recording: Option<(Arc<Recorder>, PathBuf, Arc<Model>)>,
    playing: Option<(Arc<Cassette>, PathBuf)>,
}

impl Tape {
    /// Writes what was recorded.
    pub(crate) fn save(&self) -> Result<(), EvalError> {
        match &self.recording {
            None => Ok(()),
            Some((recorder, path, model)) => recorder.save(path, &model.id, model.dialect.name()),
        }
    }

    /// What did not fit, and what to do about it.
    pub(crate) fn problem(&self) -> Option<String> {
        let (cassette, path) = self.playing.as_ref()?;
        let problems = cassette.problems();
        let problems = problems.lock().unwrap_or_else(PoisonError::into_inner);
        problems.first().map(|problem| format!("the cassette {} does not fit: {problem}", named(path)))
    }

    /// What people should know about a recording that was played.
    pub(crate) fn note(&self) -> Option<String> {
        let (cassette, path) = self.playing.as_ref()?;
        let requests = match cassette.left() {
            0 => return None,
            1 => "a request that was".to_owned(),
            more => format!("{more} requests that were"),
        };
        Some(format!("{} has {requests} not made: record it again with --record", named(path)))
    }

    /// Whether something would be written.
    pub(crate) fn is_recording(&self) -> bool {
        self.recording.is_some()
    }
}

/// Who answers, what is known of them, and what is recorded or played.
type Taped = (Arc<dyn Provider>, Arc<Model>, Tape);

/// How models are made.
pub(crate) struct Making<'a> {
    pub(crate) live: Option<&'a Arc<dyn Live>>,
    pub(crate) record: bool,
    pub(crate) folder: &'a Path,
}

impl Making<'_> {
    /// The model of a case.
    pub(crate) fn model(&self, case: &Case) -> Result<Made, String> {
        let part = &case.file.model;
        let file = || case.file(part.file.as_deref().unwrap_or(Path::new("")));
        let model = facts(part.name.as_deref(), part.dialect);
        let fresh = |played| Ok(Made { played, tape: Tape::default() });
        match part.kind {
            ModelKind::Scripted => {
                let scenario = TurnPart::scenario(&case.name, case.turns());
                fresh(scripted(scenario, model))
            }
            ModelKind::Scenario => {
                let path = file()?;
                let text = read(&path)?;
                let scenario = if path.extension().is_some_and(|ending| ending == "json") {
                    Scenario::from_json(&text)
                } else {
                    Scenario::from_toml(&text)
                };
                fresh(scripted(scenario.map_err(|error| format!("{}: {error}", path.display()))?, model))
            }
            ModelKind::Obeys => {
                let marker = part.marker.as_deref().unwrap_or("CALL");
                let says = part.says.as_deref().unwrap_or("Done.");
                fresh(Played::new(Arc::new(Obeys::new(marker, says)), model, None))
            }
            ModelKind::Live => {
                let LiveModel { provider, model, .. } = self.live(part.name.as_deref())?;
                fresh(Played::new(provider, model, None))
            }
            ModelKind::Cassette => {
                let (provider, model, tape) = self.tape(&file()?, part.name.as_deref(), part.timings)?;
                Ok(Made { played: Played::new(provider, model, None), tape })
            }
        }
    }

    /// The judge of a case.
    pub(crate) fn judge(&self, case: &Case) -> Result<(Judge, Tape), String> {
        let part = &case.file.judge;
        let (provider, model, tape): Taped = match &part.cassette {
            Some(file) => self.tape(&case.file(file)?, part.model.as_deref(), false)?,
            None if !part.turn.is_empty() => {
                let scenario = TurnPart::scenario(&format!("{} judge", case.name), part.turn.iter());
                (Arc::new(ScriptedModel::new(scenario)), facts(None, None), Tape::default())
            }
            None => {
                let LiveModel { provider, model, .. } = self.live(part.model.as_deref())?;
                (provider, model, Tape::default())
            }
        };
        Ok((Judge { provider, model }, tape))
    }

    fn live(&self, name: Option<&str>) -> Result<LiveModel, String> {
        match self.live {
            Some(live) => live.model(name),
            None => Err("no model can be asked here: a case like this needs one".to_owned()),
        }
    }

    fn tape(&self, path: &Path, name: Option<&str>, timings: bool) -> Result<Taped, String> {
        let folder = self.folder.display().to_string();
        if self.record {
            let LiveModel { provider, model, secrets } = self.live(name)?;
            let covers = Covers { secrets: Secrets::known(secrets), folder };
            let recorder = Arc::new(Recorder::new(provider, covers, timings));
            let tape = Tape {
                recording: Some((Arc::clone(&recorder), path.to_path_buf(), Arc::clone(&model))),
                ..Tape::default()
            };
            return Ok((recorder, model, tape));
        }
        let secrets = self.live.map_or_else(Vec::new, |live| live.secrets());
        let covers = Covers { secrets: Secrets::default(), folder };
        let cassette = Cassette::read(path, covers).map_err(|error| match error {
            EvalError::File { source, .. } if source.kind() == ErrorKind::NotFound => {
                format!("there is no cassette {} yet: record it with --record", path.display())
            }
            other => other.to_string(),
        })?;
        let cassette = Arc::new(cassette.knowing(Secrets::known(secrets)));
        let dialect = cassette.dialect.parse().ok();
        let model = facts(Some(name.unwrap_or(&cassette.model)), dialect);
        let playing = Some((Arc::clone(&cassette), path.to_path_buf()));
        Ok((cassette, model, Tape { playing, ..Tape::default() }))
    }
}

fn scripted(scenario: Scenario, model: Arc<Model>) -> Played {
    Played::new(Arc::new(ScriptedModel::new(scenario.clone())), model, Some(scenario))
}

/// The name of a file, without where it lies.
fn named(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
