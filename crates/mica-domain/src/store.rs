//! The context store: what tools, bindings and texts of a session can refer to by name.
//!
//! Variables are kept with the session, across runs and processes. What tools gave is there until the next message begins a
//! run, also while that run waits for a person. What there is besides belongs to the product: who is served, what the
//! session is about. Only variables can be written.
//!
//! Promises: what is missing is said together with what there is; a value is never read for references again; the store
//! has a size, and what tools gave goes first, the oldest before the newest.

pub mod binding;
pub mod equip;
pub mod error;
pub mod hooks;
pub mod interpolate;
pub mod path;
pub mod reference;
mod slice;
pub mod tools;
pub mod variables;

pub use binding::{Binding, Bindings, Bound};
pub use equip::equipped;
pub use error::StoreError;
pub use path::{Misread, Nowhere, Path, Step};
pub use reference::{Reference, Source, Sys, Which};
pub use slice::LIMIT;
pub use variables::{Subject, Variables};

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::copilot::Now;
use crate::side::Side;
use slice::{Change, Slice};

/// Whose changes they are, in what is kept beside a conversation.
const KIND: &str = "store";

/// Names of what there is that are listed when something is missing.
const LISTED: usize = 20;

/// What the product gives to the store of a session. All of it may be left out.
#[derive(Clone, Default)]
pub struct Given {
    /// `sys:user`.
    pub user: Value,
    /// `sys:org`.
    pub org: Value,
    /// `sys:agent`.
    pub agent: Value,
    /// What the session is about: the fields that can be referred to without a prefix.
    pub subject: Option<Arc<dyn Subject>>,
    /// Where variables are, when they are not the session's own.
    pub variables: Option<Arc<dyn Variables>>,
    /// What arguments of tools are bound to.
    pub bindings: Bindings,
}

/// The context store of a session. Clones are the same.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    side: Arc<dyn Side>,
    now: Now,
    given: Given,
    slice: Mutex<Slice>,
    /// Whoever holds this writes: what is read, changed and written must not be written by another in between.
    writing: tokio::sync::Mutex<()>,
}

tokio::task_local! {
    /// The store of the session that a call belongs to, while the call runs.
    static HERE: Store;
}

impl Store {
    /// The store of a session, with what was kept of it.
    ///
    /// # Errors
    /// [`StoreError::Kept`].
    pub fn open(side: Arc<dyn Side>, now: Now, given: Given) -> Result<Self, StoreError> {
        let mut slice = Slice::default();
        for change in side.all(KIND).map_err(StoreError::Kept)? {
            match serde_json::from_value(change) {
                Ok(change) => slice.apply(change),
                // What cannot be read costs a variable, never the session.
                Err(error) => tracing::warn!(%error, "a variable that was kept is left out"),
            }
        }
        let writing = tokio::sync::Mutex::default();
        Ok(Self { inner: Arc::new(Inner { side, now, given, slice: Mutex::new(slice), writing }) })
    }

    /// The store of the session that the running call belongs to, when its tool is [`equipped`].
    pub fn here() -> Option<Self> {
        HERE.try_with(Clone::clone).ok()
    }

    /// What is given by the product.
    pub fn given(&self) -> &Given {
        &self.inner.given
    }

    /// What a reference stands for now.
    ///
    /// # Errors
    /// [`StoreError::Missing`], with what there is.
    pub fn read(&self, reference: &Reference) -> Result<Value, StoreError> {
        let missing = |problem: String| StoreError::Missing {
            reference: reference.to_string(),
            problem,
            there: self.listed(),
        };
        let root = self
            .root(&reference.source)
            .ok_or_else(|| missing(format!("there is no {}", reference.source)))?;
        match reference.path.read(&root) {
            Ok(value) => Ok(value.into_owned()),
            Err(nowhere) => Err(missing(format!("in {} {nowhere}", reference.source))),
        }
    }

    /// The same, of a reference that is written.
    ///
    /// # Errors
    /// [`StoreError::Misread`] and [`StoreError::Missing`].
    pub fn look(&self, reference: &str) -> Result<Value, StoreError> {
        self.read(&Reference::parse(reference)?)
    }

    /// Sets a variable, or a place in one. It is safe when this returns.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was changed then.
    pub async fn write(&self, reference: &Reference, value: Value) -> Result<(), StoreError> {
        let Source::Var(name) = &reference.source else {
            return Err(StoreError::ReadOnly { reference: reference.to_string() });
        };
        let _turn = self.inner.writing.lock().await;
        let mut whole = self.variable(name).unwrap_or(Value::Null);
        reference.path.write(&mut whole, value).map_err(|nowhere| StoreError::Missing {
            reference: reference.to_string(),
            problem: format!("in {} {nowhere}", reference.source),
            there: self.listed(),
        })?;
        if let Some(variables) = &self.inner.given.variables {
            return variables.set(name, whole).await.map_err(StoreError::Kept);
        }
        self.slice().fits(name, &whole)?;
        self.keep(Change::Set { name: name.clone(), value: whole }).await
    }

    /// References to all there is, in order.
    pub fn list(&self) -> Vec<String> {
        // The product's own are asked without holding anything.
        let own = self.inner.given.variables.as_ref().map(|variables| variables.names());
        let mut all: Vec<String> = {
            let slice = self.slice();
            let names = own.unwrap_or_else(|| slice.names().map(str::to_owned).collect());
            let tools = slice.tools().into_iter().map(|(tool, count)| match count {
                1 => format!("tool:{tool}"),
                count => format!("tool:{tool}[] ({count})"),
            });
            names.into_iter().map(|name| format!("var:{name}")).chain(tools).collect()
        };
        let known = Sys::ALL.into_iter().filter(|sys| self.sys(*sys).is_some());
        all.extend(known.map(|sys| format!("sys:{}", sys.name())));
        all.extend(self.inner.given.subject.iter().flat_map(|subject| subject.fields()));
        all
    }

    fn listed(&self) -> Vec<String> {
        let mut all = self.list();
        let more = all.len().saturating_sub(LISTED);
        all.truncate(LISTED);
        if more > 0 {
            all.push(format!("{more} more"));
        }
        all
    }

    fn root(&self, source: &Source) -> Option<Value> {
        match source {
            Source::Var(name) => self.variable(name),
            Source::Tool(tool, which) => self.slice().of_tool(tool, *which),
            Source::Call(id) => self.slice().of_call(id),
            Source::Sys(sys) => self.sys(*sys),
            Source::Field(name) => self.inner.given.subject.as_ref()?.field(name),
        }
    }

    fn variable(&self, name: &str) -> Option<Value> {
        match &self.inner.given.variables {
            Some(variables) => variables.get(name),
            None => self.slice().variable(name),
        }
    }

    fn sys(&self, sys: Sys) -> Option<Value> {
        let given = &self.inner.given;
        let value = match sys {
            Sys::User => &given.user,
            Sys::Org => &given.org,
            Sys::Agent => &given.agent,
            Sys::Now => {
                let began = self.slice().began;
                return Some(began.unwrap_or_else(|| (self.inner.now)()).to_string().into());
            }
        };
        (!value.is_null()).then(|| value.clone())
    }

    /// Keeps a change, then makes it.
    async fn keep(&self, change: Change) -> Result<(), StoreError> {
        let written = serde_json::to_value(&change).map_err(|error| StoreError::Kept(error.to_string()))?;
        self.inner.side.append(KIND, written).await.map_err(StoreError::Kept)?;
        self.slice().apply(change);
        Ok(())
    }

    fn slice(&self) -> MutexGuard<'_, Slice> {
        self.inner.slice.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
