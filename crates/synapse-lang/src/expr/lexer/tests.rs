//! Tokens of texts that people write, and what is dropped from the others.

use super::*;

/// Lexes and writes the tokens as `kind:text`, then the dropped pieces in braces.
fn show(text: &str) -> String {
    let lexed = lex(text);
    let tokens = lexed.tokens.iter().map(|token| format!("{:?}:{}", token.kind, token.span.of(text)));
    let dropped = lexed.dropped.iter().map(|span| format!("{{{}}}", span.of(text)));
    tokens.chain(dropped).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_longest_match_wins_and_then_the_first_rule() {
    let table = [
        ("payload.i", "Payload:payload Dot:. Identifier:i"),
        ("$..a", "Payload:$ DoubleDot:.. Identifier:a"),
        ("5 -3", "Number:5 Number:-3"),
        ("5-3", "Number:5 Number:-3"),
        ("5 - 3", "Number:5 Minus:- Number:3"),
        ("payload.total-1", "Payload:payload Dot:. Identifier:total-1"),
        ("1.5.2", "Number:1.5 Dot:. Number:2"),
        ("1.", "Number:1 Dot:."),
        ("1e3", "Number:1 Identifier:e3"),
        ("length()", "Aggregate:length()"),
        ("length( )", "Function:length OpenParen:( CloseParen:)"),
        ("sum(x)", "Identifier:sum OpenParen:( Identifier:x CloseParen:)"),
        ("size sizes", "FilterWord:size Identifier:sizes"),
        ("wso2-vault vault", "Function:wso2-vault Identifier:vault"),
        ("a&&b||c", "Identifier:a And:&& Identifier:b Or:|| Identifier:c"),
        ("AND True NULL", "Identifier:AND Identifier:True Identifier:NULL"),
        ("=~ == != ! >= <=", "FilterWord:=~ Equal:== NotEqual:!= Not:! GreaterEqual:>= LessEqual:<="),
        ("registry.property", "Function:registry Dot:. SecondaryFunction:property"),
        (
            "props.axis2 params.pathParams",
            "Properties:props Dot:. PropertyScope:axis2 Params:params Dot:. ParamKind:pathParams",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(show(text), expected, "{text}");
    }
}

#[test]
fn strings_end_at_their_quote_and_know_their_escapes() {
    let table = [
        (r#""it's""#, r#"Text:"it's""#),
        (r"'a\'b'", r"Text:'a\'b'"),
        (r#"'\u00e9\101\77\n\/'"#, r#"Text:'\u00e9\101\77\n\/'"#),
        ("'a\nb'", "Text:'a\nb'"),
        ("'open", "Quote:' Identifier:open"),
        (r"'a\qb'", r"Quote:' Identifier:a Identifier:qb Quote:' {\}"),
        (r"'\u12'", r"Quote:' Identifier:u12 Quote:' {\}"),
        ("\u{e9}'\u{20ac}'", "Text:'\u{20ac}' {\u{e9}}"),
    ];
    for (text, expected) in table {
        assert_eq!(show(text), expected, "{text}");
    }
}

#[test]
fn what_no_rule_matches_is_dropped_with_the_character_that_broke_the_match() {
    let table = [
        ("payload.i=5", "Payload:payload Dot:. Identifier:i {=5}"),
        ("payload.i=55", "Payload:payload Dot:. Identifier:i Number:5 {=5}"),
        ("a === 5", "Identifier:a Equal:== Number:5 {= }"),
        ("a = 5", "Identifier:a Number:5 {= }"),
        ("a & b", "Identifier:a Identifier:b {& }"),
        ("a =", "Identifier:a {=}"),
        ("#;^~{}", "{#} {;} {^} {~} {{} {}}"),
        ("na\u{ef}ve", "Identifier:na Identifier:ve {\u{ef}}"),
        ("", ""),
    ];
    for (text, expected) in table {
        assert_eq!(show(text), expected, "{text}");
    }
}
