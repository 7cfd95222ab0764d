//! Long texts in pages, and a small memory of them so that the next page is not fetched again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use mica_ai::id::CallId;

use super::limits::WebLimits;

/// Calls that were let through because their text is here. More are forgotten, oldest first.
const PROMISES: usize = 32;

/// Tells the time. Only programs have a clock; they hand it over.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// A text from the web.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// Where it was in the end.
    pub(super) address: String,
    pub(super) title: Option<String>,
    pub(super) text: String,
    /// Whether it was cut when it was downloaded.
    pub(super) cut: bool,
    /// Bytes of what was fetched.
    pub(super) bytes: usize,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) address: String,
    pub(super) raw: bool,
}

/// Texts that were fetched lately.
pub(super) struct Shelf {
    clock: Clock,
    limits: Arc<WebLimits>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    texts: VecDeque<(Key, SystemTime, Arc<Text>)>,
    promises: VecDeque<(CallId, Key, Arc<Text>)>,
}

impl Shelf {
    pub(super) fn new(clock: Clock, limits: Arc<WebLimits>) -> Self {
        Self { clock, limits, inner: Mutex::default() }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> T {
        let now = (self.clock)();
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back makes nothing young: what is from later is gone, too.
        inner.texts.retain(|(_, at, _)| now.duration_since(*at).is_ok_and(|age| age < self.limits.kept_for));
        work(&mut inner)
    }

    /// Keeps a text.
    pub(super) fn keep(&self, key: Key, text: Arc<Text>) {
        let now = (self.clock)();
        self.with(|inner| {
            inner.texts.retain(|(known, ..)| *known != key);
            inner.texts.push_back((key, now, text));
            let size = |inner: &Inner| inner.texts.iter().map(|(_, _, text)| text.text.len()).sum::<usize>();
            while inner.texts.len() > self.limits.kept
                || (inner.texts.len() > 1 && size(inner) > self.limits.kept_bytes)
            {
                inner.texts.pop_front();
            }
        });
    }

    /// A text, when it is here.
    pub(super) fn find(&self, key: &Key) -> Option<Arc<Text>> {
        self.with(|inner| {
            inner.texts.iter().find(|(known, ..)| known == key).map(|(.., text)| Arc::clone(text))
        })
    }

    /// Keeps a text for a call that is let through because the text is here: a person may think about other calls for
    /// longer than texts are kept.
    pub(super) fn promise(&self, call: &CallId, key: &Key) -> bool {
        let Some(text) = self.find(key) else { return false };
        self.with(|inner| {
            inner.promises.retain(|(known, ..)| known != call);
            inner.promises.push_back((call.clone(), key.clone(), text));
            if inner.promises.len() > PROMISES {
                inner.promises.pop_front();
            }
        });
        true
    }

    /// The text that a call was promised.
    pub(super) fn promised(&self, call: &CallId, key: &Key) -> Option<Arc<Text>> {
        self.with(|inner| {
            let at = inner.promises.iter().position(|(known, of, _)| known == call && of == key)?;
            inner.promises.remove(at).map(|(.., text)| text)
        })
    }
}

/// A page of a text, counted from 1, and how many there are. Pages end where paragraphs do, else where lines or words do.
pub(super) fn page(text: &str, number: usize, size: usize) -> (Option<&str>, usize) {
    let mut rest = text;
    let mut found = None;
    let mut count = 0;
    while count == 0 || !rest.is_empty() {
        let (head, tail) = split(rest, size);
        count += 1;
        if count == number {
            found = Some(head);
        }
        rest = tail;
    }
    (found, count)
}

fn split(text: &str, size: usize) -> (&str, &str) {
    if text.len() <= size {
        return (text, "");
    }
    let end = text.floor_char_boundary(size.max(4));
    let head = text.get(..end).unwrap_or_default();
    let late = |sign: &str| head.rfind(sign).map(|at| at + sign.len()).filter(|at| *at > end / 2);
    let at = late("\n\n").or_else(|| late("\n")).or_else(|| late(" ")).unwrap_or(end);
    text.split_at(at)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn pages_end_where_paragraphs_do_and_lose_nothing() {
        let text = "aaaa bbbb\n\ncccc dddd\neeee ffff gggg hhhhhhhhhhhhhhhhhhhhhhhhh é";
        let (_, count) = page(text, 1, 16);
        let pages: Vec<&str> = (1..=count).filter_map(|number| page(text, number, 16).0).collect();
        assert_eq!(pages.concat(), text);
        assert_eq!(
            pages,
            ["aaaa bbbb\n\n", "cccc dddd\n", "eeee ffff gggg ", "hhhhhhhhhhhhhhhh", "hhhhhhhhh é"]
        );
        assert_eq!(page(text, 9, 16), (None, 5));
        assert_eq!(page("", 1, 16), (Some(""), 1));
        assert_eq!(page("ééééé", 2, 1), (Some("éé"), 3));
    }

    #[test]
    fn texts_are_kept_for_a_while_and_not_too_many() {
        let now = Arc::new(Mutex::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000)));
        let clock = Arc::clone(&now);
        let limits = WebLimits { kept: 2, kept_bytes: 10, ..WebLimits::default() };
        let shelf = Shelf::new(Arc::new(move || *clock.lock().unwrap()), Arc::new(limits));
        let key = |name: &str| Key { address: name.to_owned(), raw: false };
        let text = |text: &str| {
            Arc::new(Text {
                address: String::new(),
                title: None,
                text: text.to_owned(),
                cut: false,
                bytes: 0,
            })
        };
        for name in ["a", "b", "c"] {
            shelf.keep(key(name), text("1"));
        }
        assert_eq!(["a", "b", "c"].map(|name| shelf.find(&key(name)).is_some()), [false, true, true]);
        assert!(shelf.find(&Key { raw: true, ..key("b") }).is_none());
        shelf.keep(key("d"), text("0123456789abc"));
        assert_eq!(["b", "c", "d"].map(|name| shelf.find(&key(name)).is_some()), [false, false, true]);
        let call = CallId::from("1");
        assert!(shelf.promise(&call, &key("d")) && !shelf.promise(&call, &key("c")));
        *now.lock().unwrap() += Duration::from_secs(15 * 60);
        assert!(shelf.find(&key("d")).is_none());
        assert!(shelf.promised(&CallId::from("2"), &key("d")).is_none());
        assert!(shelf.promised(&call, &key("c")).is_none());
        assert!(shelf.promised(&call, &key("d")).is_some());
        assert!(shelf.promised(&call, &key("d")).is_none(), "once");
    }
}
