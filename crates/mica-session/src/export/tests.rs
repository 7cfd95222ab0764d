//! Exports: readable, and harmless whatever was said.

use std::collections::BTreeMap;

use mica_ai::arguments::Arguments;
use mica_ai::message::{Block, Content, Image, ImageSource, Text, Thinking, ToolCall};
use mica_ai::{Assistant, Dialect, Message, Origin, StopReason, ToolResult, User};

use super::*;
use crate::entry::{BranchSummary, Compaction, ModelChange};
use crate::files::Durability;
use crate::id::EntryId;
use crate::sessions::Sessions;

const EVIL: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>";

/// A session in which every text is the given one, and every image is of its kind.
fn session_of(text: &str, folder: &std::path::Path) -> Session {
    let sessions = Sessions::new(folder, || "2026-03-04T12:00:00Z".parse().unwrap());
    let text = || text.to_owned();
    let mut session = sessions.create(text().as_ref(), Some(&text())).unwrap();
    let image = |source| Image { media_type: text(), source };
    let pictures = || {
        vec![
            Content::text(text()),
            Content::Image(image(ImageSource::Base64(text().into()))),
            Content::Image(image(ImageSource::Url(text()))),
            Content::Image(Image {
                media_type: "image/png".to_owned(),
                source: ImageSource::Base64(text().into()),
            }),
        ]
    };
    let origin = Origin { dialect: Dialect::Chat, provider: text(), model: text() };
    let mut answer = Assistant::empty("a".into(), origin);
    answer.stop = StopReason::Error;
    answer.stop_detail = Some(text());
    answer.blocks = vec![
        Block::Text(Text { text: text(), ..Text::default() }),
        Block::Thinking(Thinking { text: text(), seal: None }),
        Block::Image(image(ImageSource::Base64(text().into()))),
        Block::ToolCall(ToolCall {
            id: text().into(),
            name: text(),
            arguments: Arguments::from_value(&serde_json::json!({ text(): text() })),
        }),
        Block::ToolCall(ToolCall {
            id: text().into(),
            name: text(),
            arguments: Arguments::from_text(text()),
        }),
    ];
    let result = ToolResult {
        id: text().into(),
        call: text().into(),
        tool: text(),
        content: pictures(),
        status: Default::default(),
    };
    let change =
        ModelChange { endpoint: text(), model: text(), dialect: Dialect::Chat, effort: Some(text()) };
    let user: Message = User { id: text().into(), content: pictures() }.into();
    let first = session.append(user, Durability::Lazy).unwrap();
    let summary = BranchSummary { from: first, summary: text(), files: BTreeMap::new() };
    let compaction = Compaction { summary: text(), reason: text(), ..Compaction::default() };
    for body in [
        Body::from(Message::from(answer)),
        Message::from(result).into(),
        Body::ModelChange(change),
        Body::ModeChange { mode: text().into() },
        Body::Compaction(compaction),
        Body::BranchSummary(summary),
        Body::Custom { custom: text(), value: text().into() },
        Body::RunStart { run: text().into() },
        Body::RunEnd { run: text().into(), outcome: text() },
        Body::TurnOpen { run: None },
    ] {
        session.append(body, Durability::Lazy).unwrap();
    }
    session.label(first, Some(&text())).unwrap();
    session
}

#[test]
fn nothing_that_was_said_becomes_markup() {
    let folder = tempfile::tempdir().unwrap();
    let page = session_of(EVIL, folder.path()).export(Format::Html, Scope::All).unwrap();
    // The same session without anything to escape has the same tags: whatever was said added none.
    let tame = session_of("words", folder.path()).export(Format::Html, Scope::All).unwrap();
    let tags = |page: &str| -> Vec<String> {
        let tag = |part: &str| part.split(['>', ' ']).next().unwrap_or_default().to_owned();
        page.split('<').skip(1).map(tag).collect()
    };
    // A picture that is not base64 is not shown; that is the one tag that the words decide on.
    let without_pictures = |tags: Vec<String>| -> Vec<String> {
        tags.into_iter().filter(|tag| !["img", "p", "/p"].contains(&tag.as_str())).collect()
    };
    assert_eq!(without_pictures(tags(&page)), without_pictures(tags(&tame)));
    assert!(!page.to_lowercase().contains("<script"));
    assert!(!tags(&page).contains(&"img".to_owned()));
    assert_eq!(page.matches("<script>").count(), 0);
    assert!(page.matches("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;").count() > 15);
}

#[test]
fn a_page_needs_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let page =
        session_of("https://example.com/x.png", folder.path()).export(Format::Html, Scope::All).unwrap();
    for fetches in ["src=\"h", "href=\"h", "url(", "@import", "<link", "<script", "<iframe"] {
        assert!(!page.contains(fetches), "{fetches}");
    }
    assert!(page.contains("default-src 'none'"));
}

fn talk(folder: &std::path::Path) -> (Session, EntryId) {
    let sessions = Sessions::new(folder, || "2026-03-04T12:00:00Z".parse().unwrap());
    let mut session = sessions.create("/home/user/orders".as_ref(), None).unwrap();
    let first = session.append(Message::from(User::text("Fix `a`.")), Durability::Lazy).unwrap();
    let origin = Origin { dialect: Dialect::Chat, provider: "p".to_owned(), model: "gpt-5.5".to_owned() };
    let mut answer = Assistant::empty("a".into(), origin);
    answer.stop = StopReason::ToolUse;
    answer.usage.input = 1200;
    answer.usage.cache_read = 1000;
    answer.usage.output = 30;
    let call = ToolCall {
        id: "1".into(),
        name: "read".to_owned(),
        arguments: Arguments::from_text("{\"path\":\"a\"}"),
    };
    let result = call.result(vec![Content::text("```\ncode\n```")], Default::default());
    answer.blocks =
        vec![Block::Text(Text { text: "I look.".to_owned(), ..Text::default() }), Block::ToolCall(call)];
    session.append(Message::from(answer), Durability::Lazy).unwrap();
    session.append(Message::from(result), Durability::Lazy).unwrap();
    (session, first)
}

#[test]
fn markdown_reads_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (mut session, first) = talk(folder.path());
    session.navigate(Some(first)).unwrap();
    session.append(Message::from(User::text("Or b.")), Durability::Lazy).unwrap();
    let id = session.header().id;
    let expect = format!(
        "# Fix `a`.

- Session: `{id}`
- Project: `/home/user/orders`
- Begun: 2026-03-04T12:00:00Z

## User

Fix `a`.

## Assistant (gpt-5.5)

I look.

### Call of `read`

```json
{{
  \"path\": \"a\"
}}
```

### Result of `read`

````
```
code
```
````

---

*Another branch, after `{first}`*

## User

Or b.

---

1 answers: 1200 tokens read (1000 from the cache), 30 written
"
    );
    assert_eq!(session.export(Format::Markdown, Scope::All).unwrap(), expect);
    let branch = session.export(Format::Markdown, Scope::Branch).unwrap();
    assert_eq!(branch.matches("## Assistant").count(), 0);
    assert_eq!(branch.matches("Another branch").count(), 0);
}

#[test]
fn pixels_are_shown_in_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(folder.path(), || "2026-03-04T12:00:00Z".parse().unwrap());
    let mut session = sessions.create("/home/user/orders".as_ref(), None).unwrap();
    let user = User { id: "u".into(), content: vec![crate::line::tests::picture("QUJD")] };
    session.append(Message::from(user), Durability::Lazy).unwrap();
    let page = session.export(Format::Html, Scope::Branch).unwrap();
    assert_eq!(page.matches("<img alt=\"\" src=\"data:image/png;base64,QUJD\">").count(), 1);
}
