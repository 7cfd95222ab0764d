//! For any command: harmless text never lowers a class, and words are those of bash.

use super::*;

/// Command lines of every class.
fn any_command() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "ls",
        "git status",
        "cat a.txt",
        "echo 'a b'",
        "grep x a.txt",
        "mvn test",
        "rm a",
        "git push",
        "python3 x.py",
        "unknown x",
        "sudo ls",
        "cat .env",
        "rm -rf /",
        "vi a",
        "echo $X",
        "cat $X",
        "$X",
        "cd src",
        "cd ..",
        "echo a > b",
        "echo a > /etc/b",
        "for i in 1 2; do echo $i; done",
        "(cd / && ls)",
        "echo $(date)",
        "bash -c 'ls'",
        "curl https://a.example",
    ])
    .prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_judged(text in "\\PC{0,60}") {
        judged(&text);
    }

    #[test]
    fn any_shell_like_text_is_judged(text in "[a-c$(){}\\[\\]'\"`;&|<> \n#~*?!=\\\\/.-]{0,80}") {
        let judged = judged(&text);
        let strictest = judged.parts.iter().map(|part| part.class).max();
        prop_assert_eq!(Some(judged.class), strictest);
    }

    #[test]
    fn more_commands_never_lower_the_class(a in any_command(), b in any_command(), joint in prop::sample::select(vec!["; ", " && ", " || ", "\n", " & ", " | "])) {
        // Behind a `cd`, other folders are meant: only what comes first is compared then.
        let both = judged(&format!("{a}{joint}{b}")).class;
        prop_assert!(both >= judged(&a).class, "{} {} {}", a, joint, b);
        if !a.contains("cd ") && !a.contains("$X") {
            prop_assert_eq!(both, judged(&a).class.max(judged(&b).class), "{} {} {}", a, joint, b);
        }
    }

    #[test]
    fn harmless_text_never_lowers_the_class(a in any_command(), with in 0..8_usize) {
        let before = judged(&a).class;
        let changed = match with {
            0 => format!("  {a}   "),
            1 => format!("{a} # a comment"),
            2 => format!("# a comment\n{a}\n"),
            3 => format!("echo hello; {a}"),
            4 => format!("{{ {a}; }}"),
            5 => format!("( {a} )"),
            6 => format!("if true; then {a}; fi"),
            _ => format!("true &&\\\n {a}"),
        };
        prop_assert!(judged(&changed).class >= before, "{}", changed);
    }

    #[test]
    fn quoting_a_word_changes_nothing(words in prop::collection::vec("[a-z]{1,6}|\\.env|/etc/x|sudo|rm|-rf|cat|src", 1..5), which in 0..4_usize, how in 0..4_usize) {
        // Words of the grammar are such only without quotes.
        let grammar = ["if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "select", "time", "coproc"];
        prop_assume!(!words.iter().any(|word| grammar.contains(&word.as_str())));
        let plain = words.join(" ");
        let mut quoted = words.clone();
        let index = which % words.len();
        quoted[index] = match how {
            0 => format!("'{}'", words[index]),
            1 => format!("\"{}\"", words[index]),
            2 => words[index].chars().map(|sign| format!("\\{sign}")).collect(),
            _ => format!("$'{}'", words[index]),
        };
        let (plain, quoted) = (judged(&plain), judged(&quoted.join(" ")));
        prop_assert_eq!((plain.class, plain.rule), (quoted.class, quoted.rule));
    }
}

/// Runs bash. None where there is none.
#[allow(clippy::disallowed_methods, reason = "bash itself is what the splitter is held against")]
fn bash(args: &[&str]) -> Option<std::process::Output> {
    let mut command = std::process::Command::new("bash");
    command.args(args).env_clear().env("HOME", "/home/user").env("LC_ALL", "C.UTF-8").current_dir("/");
    command.output().ok()
}

/// The words that bash makes of a text.
fn bash_words(text: &str) -> Option<Vec<String>> {
    let script = format!("set -f; printf '%s\\0' {text}");
    let output = bash(&["-c", &script])?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.strip_suffix('\0').unwrap_or(&text).split('\0').map(str::to_owned).collect())
}

/// The words that the splitter makes of a text. None where it does not vouch for them.
fn our_words(text: &str) -> Option<Vec<String>> {
    let command = format!("printf {text}");
    let Split::Plain { commands } = split(&command, &facts()) else { return None };
    let [command] = commands.as_slice() else { return None };
    if command.argv.iter().any(mica_policy::shell::Arg::is_dynamic) || !command.redirects.is_empty() {
        return None;
    }
    // Without any word, printf prints its format once.
    let words: Vec<String> = command.argv.iter().skip(1).map(mica_policy::shell::Arg::shown).collect();
    Some(if words.is_empty() { vec![String::new()] } else { words })
}

#[test]
fn words_are_those_of_bash() {
    if bash(&["--version"]).is_none() {
        println!("skipped: there is no bash here");
        return;
    }
    let texts = [
        "a b",
        "'a b' c",
        "\"a b\"c",
        "a\\ b",
        "a\\\nb",
        "$'a\\tb\\x41\\u00e9\\101'",
        "$'a\\'b'",
        "\"a\\\"b\\$c\\d\"",
        "''",
        "a''b",
        "{a,b}c",
        "{a,{b,c}}d",
        "{1..4}",
        "{04..1}",
        "{a..e..2}",
        "{a}",
        "{a,b",
        "a{,b}",
        "{a,b}{c,d}",
        ".{},}",
        "{a},b}",
        "{a}{b,c}",
        "{},",
        "{a..}b,c}",
        "{1..3}}",
        "'{a,b}'",
        "\\{a,b}",
        "{a\\,b,c}",
        "x{a,'b c'}",
        "~",
        "~/x",
        "'~'",
        "a~",
        "$HOME/x",
        "\"$HOME\"",
        "${HOME}x",
        "$IFS",
        "a$IFS\"b\"",
        "é ü",
        "a#b",
        "\"#\"",
        "$",
        "a$",
        "\"$\"",
        "$\"a b\"",
        "{}",
        "{,}",
        "a{b}c{d,e}",
        "{x,y}\\ z",
        "${HOME:-x}",
        "{1..3}{a,b}",
        "{-2..2}",
        "{z..w}",
        "[a]",
        "a=b",
        "--x={a,b}",
        "a\"\"",
        "\\\\",
        "\\'",
        "{a,b}$HOME",
        "\"{a,b}\"",
        "{\"a,b\",c}",
        "{a..b..}",
        "{1..2..0}",
        "{a,b}}",
        "{{a,b}",
        "{a,b}{",
        "$'\\cA'",
        "$'\\e'",
    ];
    let mut compared = 0;
    for text in texts {
        let (Some(ours), Some(theirs)) = (our_words(text), bash_words(text)) else { continue };
        assert_eq!(ours, theirs, "{text:?}");
        compared += 1;
    }
    assert!(compared >= 60, "{compared} of {} were compared", texts.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// What is split into plain words has the words of bash, and what bash cannot read is not plain.
    #[test]
    fn any_words_are_those_of_bash(text in "[ab {},.'\"\\\\$~1-3]{1,14}") {
        if let (Some(ours), Some(theirs)) = (our_words(&text), bash_words(&text)) {
            prop_assert_eq!(ours, theirs, "{:?}", text);
        }
    }

    #[test]
    fn what_bash_cannot_read_is_not_plain(text in "(if|then|fi|for|in|do|done|case|esac|a|b|x|;;|;|&&|\\|\\||\\||&|\\(|\\)|\\{|\\}|>|<|<<E|\n|E|'|\"|\\$\\(|`| ){1,12}") {
        let Some(output) = bash(&["-n", "-c", &text]) else { return Ok(()) };
        if !output.status.success() {
            prop_assert!(!split(&text, &facts()).is_plain(), "{:?}: {}", text, String::from_utf8_lossy(&output.stderr));
        }
    }
}
