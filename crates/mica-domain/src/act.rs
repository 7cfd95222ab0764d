//! What a product says of one of its tools, besides what the engine must know to run it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use mica_agent::Base;
use mica_agent::tool::Args;
use serde_json::Value;

/// Whether a person is asked, from the arguments.
pub type Predicate = Arc<dyn Fn(&Args) -> Result<bool, String> + Send + Sync>;

/// A call in one line, for people.
pub type Digesting = Arc<dyn Fn(&Args) -> String + Send + Sync>;

/// What comes later of something that a product says of a call.
pub type Later<T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send>>;

/// What the question about a call rests on, from the arguments.
pub type Basing = Arc<dyn Fn(Args) -> Later<Base> + Send + Sync>;

/// Arguments as they are meant from here and now.
pub type Settling = Arc<dyn Fn(Args) -> Later<Args> + Send + Sync>;

/// Whether a person is asked about a call.
#[derive(Clone, Default)]
pub enum Asks {
    /// As the tool's specification says.
    #[default]
    AsSpecified,
    /// It depends on the arguments: sending asks, a draft does not. An error means that a person is asked.
    When(Predicate),
}

/// What a call would come to, as far as that can be said without doing it. A pure function of the arguments.
pub type Mint = Arc<dyn Fn(&Args, &Minting) -> Minted + Send + Sync>;

/// What minting is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Minting {
    /// The id for what the call would make: whoever uses it in a later call means that.
    pub id: String,
}

/// A result that was not earned yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Minted {
    /// What the model reads.
    pub text: String,
    /// The same as data, like the details of a true result.
    pub details: Value,
}

/// What a product says of one of its tools.
#[derive(Clone)]
pub struct Act {
    /// The tool.
    pub tool: String,
    /// Whether a person is asked.
    pub asks: Asks,
    /// What a call would come to. Without it a call cannot be captured, and is refused where it would have to be.
    pub mint: Option<Mint>,
    /// The right that a call needs.
    pub needs: Option<String>,
    /// A call in one line, for people.
    pub digest: Option<Digesting>,
    /// The kind of card that shows the question about a call, when the general one does not do.
    pub card: Option<String>,
    /// The argument that names what a call changes, and its kind of reference: while that is being edited and not saved, the
    /// call is refused.
    pub saved: Option<(String, String)>,
    /// It asks a person something. Where nobody is there, it is not there either.
    pub questions: bool,
    /// Arguments that whoever approves may change. Others are shown, and stay as they are.
    pub amendable: Vec<String>,
    /// What the question about a call rests on: how that stands now.
    pub base: Option<Basing>,
    /// Puts arguments that mean something else elsewhere or later into words that do not.
    pub settle: Option<Settling>,
}

impl Act {
    /// What is said of a tool.
    pub fn of(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            asks: Asks::default(),
            mint: None,
            needs: None,
            digest: None,
            card: None,
            saved: None,
            questions: false,
            amendable: Vec::new(),
            base: None,
            settle: None,
        }
    }

    /// The question about a call rests on this: what the call would change, with its version or digest. It is looked at when
    /// the question is asked and shown, and again before a yes counts; when it differs, the call is not run, and the
    /// question is asked again with what has changed. The product may say why it cannot be looked at.
    #[must_use]
    pub fn based_on<F>(mut self, base: impl Fn(Args) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Base, String>> + Send + 'static,
    {
        self.base = Some(Arc::new(move |args| Box::pin(base(args))));
        self
    }

    /// Arguments are settled before anybody judges, shows, captures or keeps a call: `tomorrow` becomes a date, `me` a name.
    /// What is settled stays so, whenever and by whomever the call is made. It must leave what is settled as it is, and says
    /// in words for the model what it cannot read; the call is refused then.
    #[must_use]
    pub fn settling<F>(mut self, settle: impl Fn(Args) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Args, String>> + Send + 'static,
    {
        self.settle = Some(Arc::new(move |args| Box::pin(settle(args))));
        self
    }

    /// A person is asked when this says so, or fails.
    #[must_use]
    pub fn asking_when(
        mut self,
        asks: impl Fn(&Args) -> Result<bool, String> + Send + Sync + 'static,
    ) -> Self {
        self.asks = Asks::When(Arc::new(asks));
        self
    }

    /// A call can be captured: this says what it would come to.
    #[must_use]
    pub fn minting(mut self, mint: impl Fn(&Args, &Minting) -> Minted + Send + Sync + 'static) -> Self {
        self.mint = Some(Arc::new(mint));
        self
    }

    /// A call needs a right.
    #[must_use]
    pub fn needing(mut self, right: impl Into<String>) -> Self {
        self.needs = Some(right.into());
        self
    }

    /// A call in one line, for people.
    #[must_use]
    pub fn digesting(mut self, digest: impl Fn(&Args) -> String + Send + Sync + 'static) -> Self {
        self.digest = Some(Arc::new(digest));
        self
    }

    /// The question about a call is shown as this kind of card.
    #[must_use]
    pub fn shown_as(mut self, card: impl Into<String>) -> Self {
        self.card = Some(card.into());
        self
    }

    /// A call changes what an argument names, a reference of this kind: it is refused while that is being edited and not
    /// saved, because one of the two would be lost.
    #[must_use]
    pub fn saving_first(mut self, argument: impl Into<String>, kind: impl Into<String>) -> Self {
        self.saved = Some((argument.into(), kind.into()));
        self
    }

    /// The tool asks a person something: it is left out of runs that nobody watches.
    #[must_use]
    pub fn questioning(mut self) -> Self {
        self.questions = true;
        self
    }

    /// Whoever approves may change an argument.
    #[must_use]
    pub fn amending(mut self, argument: impl Into<String>) -> Self {
        self.amendable.push(argument.into());
        self
    }
}

impl fmt::Debug for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Act").field("tool", &self.tool).field("needs", &self.needs).finish_non_exhaustive()
    }
}
