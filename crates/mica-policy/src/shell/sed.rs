//! Whether a script of `sed` or `awk` only works on text.

/// Whether every command of a sed script is known to read and print only. What it does not know is not plain.
pub(super) fn sed_is_plain(script: &str) -> bool {
    let mut rest = script.chars().peekable();
    loop {
        while rest.next_if(|sign| sign.is_whitespace() || matches!(sign, ';' | '{' | '}')).is_some() {}
        // Addresses: numbers, `$`, `/…/`, with `,`, `!`, `~`, `+` and blanks between.
        loop {
            match rest.peek() {
                None => return true,
                Some('0'..='9' | '$' | ',' | '!' | '~' | '+' | ' ' | '\t') => {
                    rest.next();
                }
                Some('/') => {
                    rest.next();
                    if !skip_pattern(&mut rest, '/') {
                        return false;
                    }
                    while rest.next_if(|flag| matches!(flag, 'I' | 'M')).is_some() {}
                }
                Some(_) => break,
            }
        }
        match rest.next() {
            None => return true,
            Some('p' | 'd' | 'D' | 'P' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'l' | 'z') => {}
            Some('{' | '}' | ';' | '\n') => continue,
            Some('q' | 'Q') => while rest.next_if(char::is_ascii_digit).is_some() {},
            Some('#') => while rest.next_if(|sign| *sign != '\n').is_some() {},
            Some(command @ ('s' | 'y')) => {
                let Some(delimiter) = rest
                    .next()
                    .filter(|sign| !sign.is_alphanumeric() && !sign.is_whitespace() && *sign != '\\')
                else {
                    return false;
                };
                if !skip_pattern(&mut rest, delimiter) || !skip_to(&mut rest, delimiter) {
                    return false;
                }
                // `e` runs the result and `w` writes it: neither is on the list.
                while command == 's'
                    && rest
                        .next_if(|flag| matches!(flag, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9'))
                        .is_some()
                {}
            }
            Some(_) => return false,
        }
        while rest.next_if(|sign| matches!(sign, ' ' | '\t')).is_some() {}
        if !matches!(rest.peek(), None | Some(';' | '\n' | '}' | '#')) {
            return false;
        }
    }
}

/// As [`skip_to`], for a pattern. A delimiter inside of `[…]` does not end it, which nobody has to rely on.
fn skip_pattern(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, end: char) -> bool {
    let ahead: Vec<char> = rest.clone().take(2000).collect();
    let mut inside = false;
    let mut escaped = false;
    for sign in ahead {
        match sign {
            _ if escaped => escaped = false,
            '\\' if !inside => escaped = true,
            '[' => inside = true,
            sign if sign == end => {
                if inside {
                    return false;
                }
                break;
            }
            ']' => inside = false,
            _ => {}
        }
    }
    skip_to(rest, end)
}

/// Goes behind the next `end` that is not escaped.
fn skip_to(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, end: char) -> bool {
    while let Some(sign) = rest.next() {
        if sign == '\\' {
            rest.next();
        } else if sign == end {
            return true;
        } else if sign == '\n' {
            return false;
        }
    }
    false
}

/// Whether an awk program has nothing that runs, reads or writes other things.
pub(super) fn awk_is_plain(program: &str) -> bool {
    let words = ["system", "getline", "|", ">", "@", "close", "fflush", "ENVIRON", "PROCINFO"];
    !words.iter().any(|word| program.contains(word))
}

#[cfg(test)]
mod tests;
