//! A case while it is played: one step after the other, and what must hold after each.

use std::path::Path;

use mica_ai::Usage;
use serde_json::Value;

use crate::case::{Action, Case, Expect, Holds, TurnPart};
use crate::checking::{Checks, Seen};
use crate::clock::CaseClock;
use crate::journal::Journal;
use crate::judge::Judge;
use crate::mocks::Mocks;
use crate::played::{Asked, Played, Watch};
use crate::product::{Came, Opening, Product, Stage, StageError};
use crate::report::CaseReport;
use crate::runner::Looked;
use crate::telling::Telling;

/// A case while it is played.
pub(crate) struct Playing<'a> {
    case: &'a Case,
    stage: Box<dyn Stage>,
    clock: CaseClock,
    mocks: Mocks,
    watch: Watch,
    judge: Option<Judge>,
    always: Vec<(String, Holds)>,
    /// What things were when the case began.
    at_first: Looked,
    telling: Telling,
    /// Requests that were looked at.
    asked: usize,
    usage: Usage,
}

impl<'a> Playing<'a> {
    pub(crate) async fn open(
        case: &'a Case,
        product: &dyn Product,
        folder: &Path,
        model: &Played,
        journal: Journal,
        judge: Option<Judge>,
    ) -> Result<Self, StageError> {
        let clock = CaseClock::at(case.begins());
        let mocks = Mocks::new(&case.file.mock, case.file.unmatched);
        let opening = Opening {
            case: case.name.clone(),
            folder: folder.to_path_buf(),
            beside: case.beside().to_path_buf(),
            setup: case.file.setup.clone(),
            clock: clock.clone(),
            model: model.clone(),
            mocks: mocks.clone(),
            journal,
        };
        let stage = product.open(opening).await?;
        let always = product.always();
        let mut playing = Self {
            case,
            stage,
            clock,
            mocks,
            watch: model.watch().clone(),
            judge,
            always,
            at_first: Looked::new(),
            telling: Telling::default(),
            asked: 0,
            usage: Usage::default(),
        };
        let looks = case.file.step.iter().flat_map(|step| &step.expect.look).chain(&case.file.after);
        let same: Vec<String> = looks.filter(|(_, holds)| holds.same).map(|(what, _)| what.clone()).collect();
        for what in same {
            let value = playing.stage.look(&what).await?;
            playing.at_first.insert(what, value);
        }
        Ok(playing)
    }

    pub(crate) async fn play(&mut self, report: &mut CaseReport) -> Result<(), StageError> {
        let case = self.case;
        for (index, step) in case.file.step.iter().enumerate() {
            let at = format!("step {}", step.name.clone().unwrap_or_else(|| (index + 1).to_string()));
            let action = step.action().map_err(StageError::new)?;
            let told = |error: StageError| StageError::new(format!("{at}: {error}"));
            let (came, happened) = self.act(&action).await.map_err(told)?;
            let requests = self.requests();
            let fresh = requests.get(self.asked..).unwrap_or_default();
            let words: Vec<String> = fresh.iter().map(|asked| self.telling.next(asked)).collect();
            let before = self.asked.checked_sub(1).and_then(|last| requests.get(last));
            let tools = requests.last().map(Asked::tools).unwrap_or_default();
            let looked = self.look(&step.expect).await.map_err(told)?;
            let mut checks = Checks::new(at.clone());
            checks.step(
                &step.expect,
                &Seen {
                    came: came.as_ref(),
                    is_said: matches!(action, Action::Say(_) | Action::Answer(_)),
                    happened: &happened,
                    requests: fresh,
                    before,
                    told: &words,
                    tools: &tools,
                    looked: &looked,
                    at_first: &self.at_first,
                },
            );
            let turns: Vec<&TurnPart> = step.turn.iter().collect();
            if !case.file.turn.is_empty() {
                let turns: Vec<&TurnPart> =
                    case.file.turn.iter().skip(self.asked).take(words.len()).collect();
                checks.turns(&turns, &words);
            } else if case.file.model.kind == crate::case::ModelKind::Scripted {
                checks.turns(&turns, &words);
            }
            self.asked = requests.len();
            if let Some(came) = &came {
                self.usage += came.usage;
            }
            // What was found so far is reported also when the judge fails.
            let judge = self.judge.clone();
            let judged = match &judge {
                Some(judge) => {
                    judged(judge, &step.expect, &action, came.as_ref(), &mut checks).await.map_err(told)
                }
                None => Ok(()),
            };
            report.checks.extend(checks.done());
            judged?;
        }
        self.end(report).await
    }

    /// What must hold at the end.
    async fn end(&mut self, report: &mut CaseReport) -> Result<(), StageError> {
        let mut checks = Checks::new("the end");
        let after = &self.case.file.after;
        let usual = self.always.iter().filter(|(what, _)| !after.contains_key(what));
        let all: Vec<(String, Holds)> =
            usual.cloned().chain(after.iter().map(|(what, holds)| (what.clone(), holds.clone()))).collect();
        for (what, holds) in all {
            let value = self.stage.look(&what).await?;
            checks.holds(&what, &holds, &value, self.at_first.get(&what));
        }
        let said = self.case.file.turn.len();
        if said > 0 {
            checks.add(
                "turn",
                said == self.asked,
                format!("{said} requests, as there are turns"),
                format!("{} requests", self.asked),
            );
        }
        let missed = self.mocks.missed();
        if !missed.is_empty() {
            checks.add("mock", false, "a stand-in for every call", missed.join("\n"));
        }
        report.checks.extend(checks.done());
        // Only now: pages that were not gone to have tools that were not there.
        self.mocks.unknown().map_or(Ok(()), |problem| Err(StageError::new(problem)))
    }

    pub(crate) async fn close(&mut self, report: &mut CaseReport) {
        report.requests = self.requests().len();
        report.usage = self.usage;
        self.stage.close().await;
    }

    fn requests(&self) -> Vec<Asked> {
        self.stage.requests().unwrap_or_else(|| self.watch.requests())
    }

    async fn act(&mut self, action: &Action) -> Result<(Option<Came>, Value), StageError> {
        Ok(match action {
            Action::Say(said) => (Some(self.stage.say(said.clone()).await?), Value::Null),
            Action::Answer(answers) => (Some(self.stage.answer(answers.clone()).await?), Value::Null),
            Action::Advance(time) => {
                self.clock.advance(*time);
                (self.stage.advanced().await?, Value::Null)
            }
            Action::Event(name, args) => {
                let happened = self.stage.event(name, args).await?;
                (happened.came, happened.value)
            }
            Action::Restart => {
                self.stage.restart().await?;
                (None, Value::Null)
            }
            Action::Look => (None, Value::Null),
        })
    }

    async fn look(&mut self, expect: &Expect) -> Result<Looked, StageError> {
        let variables = expect.variables.keys().map(|name| format!("variable:{name}"));
        let mut looked = Looked::new();
        for what in variables.chain(expect.look.keys().cloned()) {
            let value = self.stage.look(&what).await?;
            looked.insert(what, value);
        }
        Ok(looked)
    }
}

/// Asks the judge about everything that is put in words.
async fn judged(
    judge: &Judge,
    expect: &Expect,
    action: &Action,
    came: Option<&Came>,
    checks: &mut Checks,
) -> Result<(), StageError> {
    if expect.judge.is_empty() {
        return Ok(());
    }
    let evidence = evidence(action, came);
    for statement in &expect.judge {
        let verdict = judge.ask(statement, &evidence).await.map_err(StageError::new)?;
        checks.judged(statement, verdict.holds, &verdict.reason);
    }
    Ok(())
}

/// What the judge is shown.
fn evidence(action: &Action, came: Option<&Came>) -> String {
    let mut text = match action {
        Action::Say(said) => format!("The person said:\n{}\n", said.text),
        Action::Answer(_) => "The person answered what the assistant asked.\n".to_owned(),
        Action::Event(name, args) => {
            format!("This happened: {name} {}\n", Value::Object(args.clone()))
        }
        Action::Advance(_) | Action::Restart | Action::Look => String::new(),
    };
    if let Some(came) = came {
        for call in &came.ran {
            text.push_str(&format!("The assistant called {} with {}\n", call.tool, call.args));
        }
        for ask in &came.asks {
            text.push_str(&format!(
                "The assistant asked whether it may call {} with {}\n",
                ask.tool, ask.args
            ));
        }
        text.push_str(&format!("The assistant answered ({}):\n{}\n", came.ended.outcome, came.text));
    }
    text
}
