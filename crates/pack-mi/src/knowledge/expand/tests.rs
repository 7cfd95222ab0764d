//! Placeholders are filled from the language, and slips are told.

use super::*;

#[test]
fn lines_that_ask() {
    assert_eq!(placeholder("{{functions string}}"), Some("functions string"));
    assert_eq!(placeholder("  {{operators}}  "), Some("operators"));
    assert_eq!(placeholder("see {{operators}}"), None);
    assert_eq!(placeholder("{${payload}}"), None);
}

#[test]
fn what_is_not_known_is_told() {
    for (asked, expect) in [
        (
            "function string",
            "there is no placeholder `function`; there are: functions, operators, element, places, properties, scopes, roots, external, parameters, finding",
        ),
        ("functions strng", "`functions` knows no `strng`; did you mean `string`?"),
        ("element payloadFactry", "`element` knows no `payloadFactry`; did you mean `payloadFactory`?"),
        ("properties nowhere", "`properties` knows no `nowhere`"),
        ("parameters inboundEndpoint htpp", "`parameters` knows no `htpp`; did you mean `http`?"),
        ("finding SYN9999", "`finding` knows no `SYN9999`"),
    ] {
        assert_eq!(fill(asked).map_err(|error| error.to_string()), Err(expect.to_owned()), "{asked}");
    }
}

#[test]
fn tables_are_filled_from_the_language() {
    let row = |asked: &str, row: &str| {
        let filled = fill(asked).unwrap();
        assert!(filled.lines().any(|line| line == row), "{asked}:\n{filled}");
    };
    row(
        "operators",
        "| integer with integer | integer | integer | integer or double | integer | boolean | boolean | error |",
    );
    row("places", "| `payloadFactory` |  | `format/@key` | `format` | `args/arg/@expression` |  |");
    row("places", "| `foreach` | `@collection` |  |  |  | `@expression` |");
    row("operators", "| integer with long | long | long | double | long | error | boolean | error |");
    row(
        "operators",
        "| integer with double | double | double | double | double | boolean | boolean | error |",
    );
    row(
        "operators",
        "| integer with string or boolean or null or object or array | error | error | error | error | error | boolean | error |",
    );
    row("operators", "| string with string | string | error | error | error | error | boolean | error |");
    row("operators", "| boolean with boolean | error | error | error | error | error | boolean | boolean |");
    row(
        "functions time",
        "| `now()` | long | The current time in milliseconds, a long. | Longs cannot be compared with `<` or `>`: wrap both sides in `float()`. |",
    );
    row(
        "element variable",
        "| `@name` | a name | **required** (does not deploy) | The name; it is never evaluated. |",
    );
    row(
        "finding SYN0401",
        "- **SYN0401** `comparison-beside-and-or` (error, empty): A comparison beside and/or without parentheses",
    );
}
