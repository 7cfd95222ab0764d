//! Compound commands: groups, subshells, conditions, loops, cases, functions.

use super::{Kind, Node, Parsed, Parser, Sequence, StopReason, Word, name_length};
use crate::shell::syntax::Part;

impl Parser<'_> {
    /// A compound command, if one begins here.
    pub(super) fn compound(&mut self) -> Parsed<Option<Kind>> {
        let start = self.pos;
        let Some(first) = self.peek_byte() else { return Ok(None) };
        let kind = match first {
            b'(' if self.rest().starts_with("((") => {
                // `((` is arithmetic when it closes with `))`, and otherwise two subshells.
                self.pos += 2;
                match self.arithmetic() {
                    Ok(inside) => Kind::Arith(inside),
                    Err(_) => {
                        self.retry(start)?;
                        self.subshell()?
                    }
                }
            }
            b'(' => self.subshell()?,
            b'{' if self.eat_reserved("{") => {
                let body = self.commands(&["}"])?;
                self.expect_reserved("}")?;
                Kind::Group(body)
            }
            b'[' if self.eat_reserved("[[") => Kind::Test(self.nested(Self::test)?),
            b'i' if self.eat_reserved("if") => self.nested(Self::condition)?,
            b'w' if self.eat_reserved("while") => self.nested(Self::while_loop)?,
            b'u' if self.eat_reserved("until") => self.nested(Self::while_loop)?,
            b'f' if self.eat_reserved("for") => self.nested(Self::for_loop)?,
            b's' if self.eat_reserved("select") => self.nested(Self::for_loop)?,
            b'c' if self.eat_reserved("case") => self.nested(Self::case)?,
            b'c' if self.eat_reserved("coproc") => {
                self.blanks();
                // `coproc NAME { …; }`: the name matters to nobody here.
                let length = name_length(self.rest());
                let behind = self.rest().get(length..).unwrap_or("").trim_start_matches([' ', '\t']);
                let named = length > 0
                    && ["{", "(", "while", "until", "for", "if", "case", "[["]
                        .iter()
                        .any(|word| behind.starts_with(word));
                if named {
                    self.pos += length;
                }
                Kind::Coproc(Box::new(self.nested(Self::command)?))
            }
            b'f' if self.eat_reserved("function") => {
                self.blanks();
                let word = self.word()?;
                let name = word.plain().map(str::to_owned).ok_or_else(|| self.unexpected())?;
                self.blanks();
                if self.eat("(") {
                    self.blanks();
                    if !self.eat(")") {
                        return Err(self.unexpected());
                    }
                }
                return Ok(Some(self.function(name, start)?.kind));
            }
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    fn subshell(&mut self) -> Parsed<Kind> {
        let start = self.pos;
        self.pos += 1;
        let body = self.commands(&[])?;
        self.newlines()?;
        if self.eat(")") { Ok(Kind::Subshell(body)) } else { Err(self.unclosed(start)) }
    }

    pub(super) fn function(&mut self, name: String, start: usize) -> Parsed<Node> {
        self.newlines()?;
        let body = self.nested(Self::command)?;
        if matches!(body.kind, Kind::Simple { .. }) {
            return Err(self.unexpected());
        }
        let kind = Kind::Function { name, body: Box::new(body) };
        Ok(Node { kind, redirects: Vec::new(), at: start..self.pos })
    }

    fn condition(&mut self) -> Parsed<Kind> {
        let mut arms = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.commands(&["then"])?;
            self.expect_reserved("then")?;
            let body = self.commands(&["elif", "else", "fi"])?;
            arms.push((condition, body));
            self.newlines()?;
            if self.eat_reserved("elif") {
                continue;
            }
            if self.eat_reserved("else") {
                otherwise = Some(self.commands(&["fi"])?);
            }
            self.expect_reserved("fi")?;
            return Ok(Kind::If { arms, otherwise });
        }
    }

    fn while_loop(&mut self) -> Parsed<Kind> {
        let condition = self.commands(&["do"])?;
        let body = self.do_group()?;
        Ok(Kind::While { condition, body })
    }

    fn do_group(&mut self) -> Parsed<Sequence> {
        self.newlines()?;
        if self.eat_reserved("{") {
            let body = self.commands(&["}"])?;
            self.expect_reserved("}")?;
            return Ok(body);
        }
        self.expect_reserved("do")?;
        let body = self.commands(&["done"])?;
        self.expect_reserved("done")?;
        Ok(body)
    }

    fn for_loop(&mut self) -> Parsed<Kind> {
        self.blanks();
        if self.eat("((") {
            let head = self.arithmetic()?;
            self.blanks();
            self.eat(";");
            let body = self.do_group()?;
            return Ok(Kind::ForArith { head, body });
        }
        let length = name_length(self.rest());
        if length == 0 {
            return Err(self.missing());
        }
        let name = self.rest().get(..length).unwrap_or("").to_owned();
        self.pos += length;
        self.newlines()?;
        let mut words = None;
        if self.eat_reserved("in") {
            let mut list = Vec::new();
            loop {
                self.blanks();
                match self.peek_byte() {
                    Some(b';' | b'\n') => break,
                    None => return Err(self.missing()),
                    Some(b'&' | b'|' | b'(' | b')' | b'<' | b'>')
                        if !(self.rest().starts_with("<(") || self.rest().starts_with(">(")) =>
                    {
                        return Err(self.unexpected());
                    }
                    Some(_) => list.push(self.word()?),
                }
            }
            words = Some(list);
        }
        self.blanks();
        self.eat(";");
        let body = self.do_group()?;
        Ok(Kind::For { name, words, body })
    }

    fn case(&mut self) -> Parsed<Kind> {
        self.blanks();
        if self.at_command_end() {
            return Err(self.missing());
        }
        let word = self.word()?;
        self.expect_reserved("in")?;
        let mut arms = Vec::new();
        loop {
            self.newlines()?;
            if self.eat_reserved("esac") {
                return Ok(Kind::Case { word, arms });
            }
            self.eat("(");
            let mut patterns = Vec::new();
            loop {
                self.blanks();
                if self.peek_byte().is_none_or(|next| b"\n;&()<>|".contains(&next)) {
                    return Err(self.missing());
                }
                patterns.push(self.word()?);
                self.blanks();
                if self.eat(")") {
                    break;
                }
                if !self.eat("|") {
                    return Err(self.missing());
                }
            }
            let body = self.sequence(&["esac", ";;"])?;
            arms.push((patterns, body));
            self.newlines()?;
            if self.eat(";;&") || self.eat(";;") || self.eat(";&") {
                continue;
            }
            if self.at_reserved("esac") {
                continue;
            }
            return Err(self.missing());
        }
    }

    /// What stands between `[[` and `]]`. Words only: operators matter to nobody here, substitutions do.
    fn test(&mut self) -> Parsed<Vec<Word>> {
        let start = self.pos;
        let mut words: Vec<Word> = Vec::new();
        loop {
            self.newlines()?;
            if self.eat_reserved("]]") {
                return Ok(words);
            }
            match self.peek_byte() {
                None => return Err(self.unclosed(start)),
                Some(b'(' | b')' | b'<' | b'>')
                    if !(self.rest().starts_with("<(") || self.rest().starts_with(">(")) =>
                {
                    self.pos += 1;
                }
                Some(b'&' | b'|') => {
                    if !(self.eat("&&") || self.eat("||")) {
                        return Err(self.unexpected());
                    }
                }
                Some(b';') => return Err(self.unexpected()),
                Some(_) => {
                    let pattern = words.last().and_then(Word::plain).is_some_and(|last| last == "=~");
                    words.push(if pattern { self.regex()? } else { self.word()? });
                }
            }
        }
    }

    /// A regular expression behind `=~`: parentheses and bars belong to it.
    fn regex(&mut self) -> Parsed<Word> {
        let start = self.pos;
        let mut word = Word { parts: Vec::new(), at: start..start };
        let mut open = 0_usize;
        loop {
            match self.peek_byte() {
                None => return Err(self.unclosed(start)),
                Some(b' ' | b'\t' | b'\n') if open == 0 => break,
                Some(b'(') => open += 1,
                Some(b')') => open = open.saturating_sub(1),
                Some(b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'<' | b'>') => {}
                Some(_) => {
                    let before = self.pos;
                    let inner = self.word()?;
                    word.parts.extend(inner.parts);
                    if self.pos == before {
                        return Err(self.stop(StopReason::Unexpected));
                    }
                    continue;
                }
            }
            if let Some(sign) = self.bump() {
                word.parts.push(Part::Text { text: sign.to_string(), quoted: true });
            }
        }
        word.at = start..self.pos;
        Ok(word)
    }
}
