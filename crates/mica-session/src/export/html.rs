//! HTML in one file: no script, nothing fetched, and everything that anybody said is escaped.
//!
//! A policy in the page forbids what the escaping already prevents, so one mistake is not enough. Images are shown when
//! they are of a kind that cannot carry a script and are really base64.

use std::fmt::{self, Write};

use mica_ai::Message;
use mica_ai::message::{Block, Content, Image, ImageSource, ResultStatus};

use super::{Document, arguments, remark, usage_line};
use crate::entry::Body;

const STYLE: &str = include_str!("style.css");
const POLICY: &str =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'";
/// Kinds of images that are pixels and nothing else.
const PIXELS: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

pub(super) fn write(document: &Document) -> String {
    let mut page = String::new();
    let header = &document.header;
    let title = Escaped(&document.title);
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<header>\n<h1>{title}</h1>\n<p>{} · {} · session {}</p>\n",
        Escaped(&header.project),
        header.created,
        header.id
    );
    if let Some(from) = &header.forked_from {
        let _ = writeln!(page, "<p>Forked from {} at {}</p>", from.session, from.entry);
    }
    if let Some(of) = &header.child_of {
        let _ = writeln!(page, "<p>Subagent of {}</p>", of.session);
    }
    page.push_str("</header>\n<main>\n");
    for (number, part) in document.parts.iter().enumerate() {
        if part.begins_branch && number > 0 {
            match part.entry.parent {
                Some(parent) => {
                    let _ = writeln!(
                        page,
                        "<p class=\"branch\">Another branch, after <a href=\"#e{parent}\">here</a></p>"
                    );
                }
                None => page.push_str("<p class=\"branch\">Another branch, from the start</p>\n"),
            }
        }
        let mut inside = String::new();
        entry(&mut inside, &part.entry.body);
        if inside.is_empty() {
            // Still a place to point at: a branch may begin here.
            let _ = writeln!(page, "<a id=\"e{}\"></a>", part.entry.id);
            continue;
        }
        let class = class(&part.entry.body);
        let _ = writeln!(page, "<section class=\"{class}\" id=\"e{}\">", part.entry.id);
        if let Some(label) = &part.label {
            let _ = writeln!(page, "<p class=\"label\">{}</p>", Escaped(label));
        }
        page.push_str(&inside);
        page.push_str("</section>\n");
    }
    let _ = write!(page, "</main>\n<footer>{}</footer>\n</body>\n</html>\n", Escaped(&usage_line(document)));
    page
}

fn class(body: &Body) -> &'static str {
    match body {
        Body::Message { message: Message::User(_) } => "user",
        Body::Message { message: Message::Assistant(_) } => "assistant",
        Body::Message { message: Message::ToolResult(_) } => "result",
        Body::Compaction(_) | Body::BranchSummary(_) => "summary",
        _ => "remark",
    }
}

fn entry(page: &mut String, body: &Body) {
    match body {
        Body::Message { message: Message::User(user) } => {
            page.push_str("<h2>User</h2>\n");
            content(page, &user.content);
        }
        Body::Message { message: Message::Assistant(answer) } => {
            let _ = writeln!(page, "<h2>Assistant <small>{}</small></h2>", Escaped(&answer.origin.model));
            answer.blocks.iter().for_each(|piece| block(page, piece));
            if !answer.stop.is_whole() {
                let _ = writeln!(page, "<p class=\"note\">Ended early: {:?}</p>", answer.stop);
            }
        }
        Body::Message { message: Message::ToolResult(result) } => {
            let failed = if result.status == ResultStatus::Failed { " (failed)" } else { "" };
            let _ = writeln!(
                page,
                "<details>\n<summary>Result of <code>{}</code>{failed}</summary>",
                Escaped(&result.tool)
            );
            content(page, &result.content);
            page.push_str("</details>\n");
        }
        Body::Compaction(compaction) => {
            let _ = writeln!(
                page,
                "<h2>Summary of what came before</h2>\n<pre>{}</pre>",
                Escaped(&compaction.summary)
            );
        }
        Body::BranchSummary(summary) => {
            let _ = writeln!(
                page,
                "<h2>Summary of a branch that was left</h2>\n<pre>{}</pre>",
                Escaped(&summary.summary)
            );
        }
        other => {
            if let Some(remark) = remark(other) {
                let _ = writeln!(page, "<p>{}</p>", Escaped(&remark));
            }
        }
    }
}

fn content(page: &mut String, pieces: &[Content]) {
    for piece in pieces {
        match piece {
            Content::Text { text } => {
                let _ = writeln!(page, "<pre>{}</pre>", Escaped(text));
            }
            Content::Image(picture) => image(page, picture),
        }
    }
}

fn block(page: &mut String, block: &Block) {
    let _ = match block {
        Block::Text(text) => writeln!(page, "<pre>{}</pre>", Escaped(&text.text)),
        Block::Thinking(thinking) if thinking.text.is_empty() => Ok(()),
        Block::Thinking(thinking) => writeln!(
            page,
            "<details class=\"thinking\">\n<summary>Thinking</summary>\n<pre>{}</pre>\n</details>",
            Escaped(&thinking.text)
        ),
        Block::Image(picture) => {
            image(page, picture);
            Ok(())
        }
        Block::ToolCall(call) => writeln!(
            page,
            "<div class=\"call\">Call of <code>{}</code>\n<pre>{}</pre>\n</div>",
            Escaped(&call.name),
            Escaped(&arguments(call.arguments.text()))
        ),
    };
}

fn image(page: &mut String, image: &Image) {
    let _ = match &image.source {
        ImageSource::Base64(data) if PIXELS.contains(&image.media_type.as_str()) && is_base64(data) => {
            writeln!(page, "<img alt=\"\" src=\"data:{};base64,{data}\">", image.media_type)
        }
        ImageSource::Base64(_) => {
            writeln!(
                page,
                "<p class=\"note\">An image of kind {}, which is not shown</p>",
                Escaped(&image.media_type)
            )
        }
        // Not loaded, and no link either: opening an export must not tell anybody that it was opened.
        ImageSource::Url(url) => {
            writeln!(page, "<p class=\"note\">An image at <code>{}</code></p>", Escaped(url))
        }
    };
}

fn is_base64(data: &str) -> bool {
    data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
}

/// A text that can stand between tags and in quoted attributes.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['<', '>', '&', '"', '\'']) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'&' => "&amp;",
                b'"' => "&quot;",
                _ => "&#39;",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}
