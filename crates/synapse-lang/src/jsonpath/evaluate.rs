//! Walks a document along the tokens of a path.

use std::borrow::Cow;

use super::compile::Token;
use super::filter::Filter;
use super::trail::{Step, Trail, kind};
use super::{Found, Holder, Path, ReadError, WORK_LIMIT, function};
use crate::json::{Json, Object};

/// How many calls of the walk may lie in each other: documents and paths are bounded, but filters can start
/// over at the root of the document.
const MAX_CALLS: usize = 1_100;

/// Why a walk stops. The kinds differ in who catches them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fail {
    /// The path leads nowhere. A filter takes it for an undefined value.
    NotFound(String),
    /// The library calls the path invalid here. A filter then does not match.
    Invalid(String),
    /// An index lies outside. The step that took an array element before it goes on without a result.
    OutOfRange(String),
    /// Nobody catches it.
    Crash(String),
    /// Too many steps.
    TooMuchWork,
}

/// A value on the way.
#[derive(Debug, Clone)]
pub(super) struct Model<'doc> {
    pub(super) value: Cow<'doc, Json>,
    holder: Holder,
}

impl<'doc> Model<'doc> {
    fn element(&self, at: usize) -> Option<Model<'doc>> {
        let value = match &self.value {
            Cow::Borrowed(Json::Array(elements)) => Cow::Borrowed(elements.get(at)?),
            Cow::Owned(Json::Array(elements)) => Cow::Owned(elements.get(at)?.clone()),
            _ => return None,
        };
        Some(Model { value, holder: Holder::Element })
    }

    /// A member, its number normalised as the library does for members only.
    fn member(&self, name: &str) -> Option<Model<'doc>> {
        let value = match &self.value {
            Cow::Borrowed(Json::Object(object)) => Cow::Borrowed(object.get(name)?),
            Cow::Owned(Json::Object(object)) => Cow::Owned(object.get(name)?.clone()),
            _ => return None,
        };
        Some(Model { value: normalised(value), holder: Holder::Member })
    }

    fn elements(&self) -> usize {
        self.value.as_array().map_or(0, <[Json]>::len)
    }
}

fn normalised(value: Cow<'_, Json>) -> Cow<'_, Json> {
    match value.as_ref() {
        Json::Number(number) => Cow::Owned(Json::Number(number.normalised())),
        _ => value,
    }
}

/// Reads a path from a document.
pub(super) fn read<'doc>(path: &Path, document: &'doc Json) -> Result<Found<'doc>, ReadError> {
    let mut walk = Walk { root: document, work: 0, calls: 0 };
    let model = Model { value: Cow::Borrowed(document), holder: Holder::Root };
    walk.value(path, &model, false).map_err(|fail| match fail {
        Fail::NotFound(message) => ReadError::NotFound(message),
        Fail::Invalid(message) | Fail::OutOfRange(message) | Fail::Crash(message) => {
            ReadError::Crash(message)
        }
        Fail::TooMuchWork => ReadError::TooMuchWork,
    })
}

/// One reading: the root that `$` means, and what it has cost.
pub(super) struct Walk<'doc> {
    root: &'doc Json,
    work: u64,
    calls: usize,
}

/// One path on one document.
struct Course<'path, 'doc> {
    path: &'path Path,
    /// Whether a missing member is an error even where the path is indefinite: so for exists checks.
    require: bool,
    results: Vec<Model<'doc>>,
}

impl<'doc> Walk<'doc> {
    pub(super) fn charge(&mut self, steps: usize) -> Result<(), Fail> {
        self.work = self.work.saturating_add(u64::try_from(steps).unwrap_or(u64::MAX));
        if self.work > WORK_LIMIT { Err(Fail::TooMuchWork) } else { Ok(()) }
    }

    /// The value that `$` stands for, as a function argument sees it.
    pub(super) const fn root(&self) -> Model<'doc> {
        Model { value: Cow::Borrowed(self.root), holder: Holder::Root }
    }

    /// Evaluates a path on a model.
    pub(super) fn value(
        &mut self,
        path: &Path,
        model: &Model<'doc>,
        require: bool,
    ) -> Result<Found<'doc>, Fail> {
        let mut course = Course { path, require, results: Vec::new() };
        let trail = Trail { parent: None, step: Step::Root(path.from_root) };
        if path.tokens.is_empty() {
            course.results.push(model.clone());
        } else {
            self.step(&mut course, 0, model, &trail)?;
        }
        let mut results = course.results;
        if path.all_definite() {
            let Some(last) = results.pop() else {
                return Err(Fail::NotFound(format!("No results for path: {path}")));
            };
            return Ok(Found { value: last.value, holder: last.holder });
        }
        let mut matches = Vec::with_capacity(results.len());
        for result in results {
            if matches!(result.value, Cow::Borrowed(_)) {
                self.charge(weight(&result.value))?;
            }
            matches.push(result.value.into_owned());
        }
        Ok(Found { value: Cow::Owned(Json::Array(matches)), holder: Holder::Matches })
    }

    /// Lets the token at a place work on a model.
    fn step(
        &mut self,
        course: &mut Course<'_, 'doc>,
        at: usize,
        model: &Model<'doc>,
        trail: &Trail<'_>,
    ) -> Result<(), Fail> {
        self.deeper(|evaluator| evaluator.token(course, at, model, trail))
    }

    /// Does work that may come back here: so deep and no deeper, because the stack is finite.
    fn deeper(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Fail>) -> Result<(), Fail> {
        self.charge(1)?;
        self.calls += 1;
        let done = if self.calls > MAX_CALLS { Err(Fail::TooMuchWork) } else { work(self) };
        self.calls -= 1;
        done
    }

    fn token(
        &mut self,
        course: &mut Course<'_, 'doc>,
        at: usize,
        model: &Model<'doc>,
        trail: &Trail<'_>,
    ) -> Result<(), Fail> {
        let path = course.path;
        let Some(token) = path.tokens.get(at) else {
            course.results.push(model.clone());
            return Ok(());
        };
        match token {
            Token::Property { names, .. } => self.property(course, at, names, model, trail),
            Token::Index(indices) => {
                if check_array(path, at, model, trail)? {
                    for index in indices {
                        self.index(course, at, i64::from(*index), model, trail)?;
                    }
                }
                Ok(())
            }
            Token::Slice { from, to } => {
                if check_array(path, at, model, trail)? {
                    for index in slice(*from, *to, model.elements()) {
                        self.index(course, at, index, model, trail)?;
                    }
                }
                Ok(())
            }
            Token::Wildcard => self.wildcard(course, at, model, trail),
            Token::Scan => {
                if at + 1 >= path.tokens.len() {
                    return Err(Fail::Crash("a deep scan needs something to look for".to_owned()));
                }
                self.scan(course, at + 1, model, trail)
            }
            Token::Filter(filter) => self.filter(course, at, filter, model, trail),
            Token::Function { name, parameters } => {
                let result = function::call(self, name, parameters, model)?;
                let result = Model { value: result, holder: Holder::Computed };
                course.results.push(result.clone());
                if at + 1 < path.tokens.len() {
                    self.step(course, at + 1, &result, trail)?;
                }
                Ok(())
            }
        }
    }

    fn property(
        &mut self,
        course: &mut Course<'_, 'doc>,
        at: usize,
        names: &[String],
        model: &Model<'doc>,
        trail: &Trail<'_>,
    ) -> Result<(), Fail> {
        let path = course.path;
        let Json::Object(object) = model.value.as_ref() else {
            if !path.is_definite_before(at) {
                return Ok(());
            }
            let fragment = path.tokens.get(at).map(ToString::to_string).unwrap_or_default();
            return Err(Fail::NotFound(format!(
                "Expected to find an object with property {fragment} in path {trail} but found '{}'",
                kind(&model.value)
            )));
        };
        let is_leaf = at + 1 == path.tokens.len();
        if names.len() == 1 || !is_leaf {
            return names.iter().try_for_each(|name| self.member(course, at, name, model, trail));
        }
        let mut merged = Object::new();
        for name in names {
            match object.get(name) {
                Some(value) => merged.insert(name.clone(), normalised(Cow::Borrowed(value)).into_owned()),
                None if course.require => {
                    return Err(Fail::NotFound(format!("Missing property in path {trail}")));
                }
                None => {}
            }
        }
        self.charge(merged.len())?;
        course.results.push(Model { value: Cow::Owned(Json::Object(merged)), holder: Holder::Member });
        Ok(())
    }

    fn member(
        &mut self,
        course: &mut Course<'_, 'doc>,
        at: usize,
        name: &str,
        model: &Model<'doc>,
        trail: &Trail<'_>,
    ) -> Result<(), Fail> {
        let path = course.path;
        let trail = trail.then(Step::Name(name));
        match model.member(name) {
            Some(member) => self.step(course, at + 1, &member, &trail),
            None if at + 1 == path.tokens.len() => {
                if course.require {
                    Err(Fail::NotFound(format!("No results for path: {trail}")))
                } else {
                    Ok(())
                }
            }
            None if !course.require && !path.is_definite_before(at + 1) => Ok(()),
            None => Err(Fail::NotFound(format!("Missing property in path {trail}"))),
        }
    }

    /// Takes an element. An index outside gives nothing, and so does one that a later step runs into.
    fn index(
        &mut self,
        course: &mut Course<'_, 'doc>,
        at: usize,
        index: i64,
        model: &Model<'doc>,
        trail: &Trail<'_>,
    ) -> Result<(), Fail> {
        self.charge(1)?;
        let length = i64::try_from(model.elements()).unwrap_or(i64::MAX);
        let effective = if index < 0 { length + index } else { index };
        let Some(element) = usize::try_from(effective).ok().and_then(|at| model.element(at)) else {
            return Ok(());
        };
        match self.step(course, at + 1, &element, &trail.then(Step::Index(index))) {
            Err(Fail::OutOfRange(_)) => Ok(()),
            done => done,
        }
    }

    fn wildcard(
        &mut self,
        course: &mut Course<'_, 'doc>,
        at: usize,
        model: &Model<'doc>,
        trail: &Trail<'_>,
    ) -> Result<(), Fail> {
        match model.value.as_ref() {
            Json::Object(object) => {
                let names: Vec<String> = object.iter().map(|(name, _)| name.to_owned()).collect();
                names.iter().try_for_each(|name| self.member(course, at, name, model, trail))
            }
            Json::Array(elements) => {
                for index in 0..i64::try_from(elements.len()).unwrap_or(i64::MAX) {
                    match self.index(course, at, index, model, trail) {
                        Err(Fail::NotFound(_)) if !course.require => {}
                        done => done?,
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Looks for the token at a place in a model and everything below it, the model itself first.
    fn scan(
        &mut self,
        course: &mut Course<'_, 'doc>,
        at: usize,
        model: &Model<'doc>,
        trail: &Trail<'_>,
    ) -> Result<(), Fail> {
        if model.value.is_scalar() {
            return Ok(());
        }
        self.deeper(|evaluator| {
            evaluator.scan_here(course, at, model, trail)?;
            evaluator.scan_below(course, at, model, trail)
        })
    }

    fn scan_here(
        &mut self,
        course: &mut Course<'_, 'doc>,
        at: usize,
        model: &Model<'doc>,
        trail: &Trail<'_>,
    ) -> Result<(), Fail> {
        let path = course.path;
        let is_array = matches!(model.value.as_ref(), Json::Array(_));
        let is_match = match path.tokens.get(at) {
            Some(token @ Token::Property { names, .. }) => match model.value.as_ref() {
                Json::Object(object) => {
                    let is_leaf = at + 1 == path.tokens.len();
                    course.require
                        || token.iterates_names(is_leaf)
                        || names.iter().all(|name| object.contains(name))
                }
                _ => false,
            },
            Some(Token::Index(_) | Token::Slice { .. }) => is_array,
            Some(Token::Wildcard) => true,
            Some(Token::Filter(filter)) => self.accepts(filter, model)?,
            _ => false,
        };
        if !is_match {
            return Ok(());
        }
        if is_array && at + 1 < path.tokens.len() {
            // The library steps over the token it looked for: the next one sees every element.
            for index in 0..model.elements() {
                if let Some(element) = model.element(index) {
                    let index = i64::try_from(index).unwrap_or(i64::MAX);
                    self.step(course, at + 1, &unwrapped(element), &trail.then(Step::Index(index)))?;
                }
            }
            return Ok(());
        }
        self.step(course, at, model, trail)
    }

    fn scan_below(
        &mut self,
        course: &mut Course<'_, 'doc>,
        at: usize,
        model: &Model<'doc>,
        trail: &Trail<'_>,
    ) -> Result<(), Fail> {
        match &model.value {
            Cow::Borrowed(Json::Object(object)) => {
                for (name, value) in object.iter().filter(|(_, value)| !value.is_scalar()) {
                    let member = Model { value: Cow::Borrowed(value), holder: Holder::Member };
                    self.scan(course, at, &member, &trail.then(Step::Name(name)))?;
                }
                self.charge(object.len())
            }
            Cow::Owned(Json::Object(object)) => {
                for (name, value) in object.iter().filter(|(_, value)| !value.is_scalar()) {
                    let member = Model { value: Cow::Owned(value.clone()), holder: Holder::Member };
                    self.scan(course, at, &member, &trail.then(Step::Name(name)))?;
                }
                self.charge(object.len())
            }
            _ => {
                for index in 0..model.elements() {
                    if let Some(element) = model.element(index) {
                        let index = i64::try_from(index).unwrap_or(i64::MAX);
                        self.scan(course, at, &element, &trail.then(Step::Index(index)))?;
                    }
                }
                self.charge(model.elements())
            }
        }
    }

    fn filter(
        &mut self,
        course: &mut Course<'_, 'doc>,
        at: usize,
        filter: &Filter,
        model: &Model<'doc>,
        trail: &Trail<'_>,
    ) -> Result<(), Fail> {
        match model.value.as_ref() {
            Json::Object(_) => {
                if self.accepts(filter, model)? {
                    self.step(course, at + 1, model, trail)?;
                }
                Ok(())
            }
            Json::Array(_) => {
                for index in 0..model.elements() {
                    let Some(element) = model.element(index) else { continue };
                    if self.accepts(filter, &unwrapped(element))? {
                        self.index(course, at, i64::try_from(index).unwrap_or(i64::MAX), model, trail)?;
                    }
                }
                Ok(())
            }
            _ if course.path.is_definite_before(at) => Err(Fail::Invalid(format!(
                "Filter: [?] can not be applied to primitives. Current context is: {}",
                model.value
            ))),
            _ => Ok(()),
        }
    }
}

/// An element as the library's iteration hands it out, its number normalised.
fn unwrapped(element: Model<'_>) -> Model<'_> {
    Model { value: normalised(element.value), holder: element.holder }
}

/// Whether a model is an array. It must be one if all steps before were definite.
fn check_array(path: &Path, at: usize, model: &Model<'_>, trail: &Trail<'_>) -> Result<bool, Fail> {
    if matches!(model.value.as_ref(), Json::Array(_)) {
        return Ok(true);
    }
    if !path.is_definite_before(at) {
        return Ok(false);
    }
    if matches!(model.value.as_ref(), Json::Null) && model.holder == Holder::Member {
        return Err(Fail::NotFound(format!("The path {trail} is null")));
    }
    let fragment: String = path.tokens.iter().skip(at).map(ToString::to_string).collect();
    Err(Fail::NotFound(format!(
        "Filter: {fragment} can only be applied to arrays. Current context is: {}",
        model.value
    )))
}

/// The indices of a slice; those still negative count from the end.
fn slice(from: Option<i32>, to: Option<i32>, length: usize) -> std::ops::Range<i64> {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let (from, to) = (from.map(i64::from), to.map(i64::from));
    match (from, to) {
        (Some(from), Some(to)) if length > 0 => from.max(-length)..to.min(length),
        (Some(from), None) => (if from < 0 { length + from } else { from }).max(0)..length,
        (None, Some(to)) => 0..(if to < 0 { length + to } else { to }).min(length),
        _ => 0..0,
    }
}

/// How many values there are in a value, itself included.
pub(super) fn weight(json: &Json) -> usize {
    match json {
        Json::Array(elements) => 1 + elements.iter().map(weight).sum::<usize>(),
        Json::Object(object) => 1 + object.iter().map(|(_, value)| weight(value)).sum::<usize>(),
        Json::String(text) => 1 + text.len() / 64,
        _ => 1,
    }
}
