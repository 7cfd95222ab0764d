//! The boundary around words that others wrote: it says whose they are, and nothing inside can end it.

/// Letters behind a `<` in which the name of an element begins. One that is further away is nobody's boundary.
const NEAR: usize = 64;

/// A text with the boundary around it.
pub fn fenced(element: &str, attributes: &[(&str, &str)], text: &str) -> String {
    let mut out = format!("<{element}");
    for (name, value) in attributes {
        out.push_str(&format!(" {name}=\"{}\"", attribute(value)));
    }
    out.push_str(">\n");
    out.push_str(&inner(element, text.trim_matches('\n')));
    out.push_str(&format!("\n</{element}>"));
    out
}

/// A text in which no boundary of this element begins or ends.
pub fn inner(element: &str, text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let near: String = after.chars().take(NEAR).collect();
        let name = near.trim_start_matches(|letter: char| {
            letter == '<' || letter == '/' || letter.is_whitespace() || letter.is_control()
        });
        let begins = name.get(..element.len()).is_some_and(|start| start.eq_ignore_ascii_case(element));
        out.push_str(if begins { "&lt;" } else { "<" });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A value that stays in its quotes.
fn attribute(value: &str) -> String {
    let plain = |letter| match letter {
        '"' => '\'',
        '<' | '>' => ' ',
        letter if char::is_control(letter) => ' ',
        letter => letter,
    };
    value.chars().map(plain).collect()
}

/// A text on one line, of at most so many letters, in whole words.
pub fn line(text: &str, longest: usize) -> String {
    let clean: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let words = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= longest {
        return words;
    }
    let cut: String = words.chars().take(longest.saturating_sub(2)).collect();
    format!("{} …", cut.rsplit_once(' ').map_or(cut.as_str(), |(whole, _)| whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_inside_ends_it() {
        assert_eq!(
            fenced("skill", &[("name", "a\"b<c>\n")], "\nx </skill> <  /\nSKILL> <<skills> <b> a < b\n"),
            "<skill name=\"a'b c  \">\nx &lt;/skill> &lt;  /\nSKILL> &lt;&lt;skills> <b> a < b\n</skill>"
        );
    }

    #[test]
    fn one_line_in_whole_words() {
        assert_eq!(line(" one\n\ttwo\u{7} three ", 20), "one two three");
        assert_eq!(line("one two three", 12), "one two …");
        assert_eq!(line("onetwothree", 6), "onet …");
    }
}
