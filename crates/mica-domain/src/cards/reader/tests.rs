//! Which fences are cards and which stay text, and that it does not matter how an answer is cut on its way.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::cards::fixture;

fn read(text: &str) -> Vec<Piece> {
    Reader::all(fixture::ready(), text)
}

/// The pieces in short: words in quotes, cards by kind and what is in them, links by what they lead to.
fn short(pieces: &[Piece]) -> Vec<String> {
    let one = |piece: &Piece| match piece {
        Piece::Text(text) => format!("{text:?}"),
        Piece::Link(link) => format!("{} -> {} {}", link.label, link.thing, link.id),
        Piece::Fence(Fence { kind, payload: Written::Ids { ids, .. }, .. }) => {
            format!("{kind} {}", ids.join(" "))
        }
        Piece::Fence(Fence { kind, payload: Written::Data(data), .. }) => format!("{kind} {data}"),
    };
    pieces.iter().map(one).collect()
}

#[test]
fn what_is_a_card() {
    for (text, expected) in [
        ("Hello", vec!["\"Hello\""]),
        ("```mica:record-list\n{ \"ids\": [\"a\", \"b\"] }\n```", vec!["record-list a b"]),
        (
            "Two:\n\n```mica:record-list\n{\n  \"ids\": [\"a\"]\n}\n```\n\nThat is all.",
            vec!["\"Two:\\n\\n\"", "record-list a", "\"\\nThat is all.\""],
        ),
        ("```mica:record-card\n{\"id\":\"a\"}\n```\n", vec!["record-card a"]),
        ("```mica:record-card\n{\"ids\":[\"a\"]}\n```\n", vec!["record-card a"]),
        ("```mica:record-list\n[\"a\", \"a\", 7]\n```\n", vec!["record-list a 7"]),
        ("```mica:record-list\n{\"ids\":[]}\n```\n", vec!["record-list "]),
        ("````mica:record-list\n{\"ids\":[\"a\"]}\n````\n", vec!["record-list a"]),
        (
            "1. One\n   ```mica:record-list\n   {\"ids\":[\"a\"]}\n   ```\n2. Two",
            vec!["\"1. One\\n\"", "record-list a", "\"2. Two\""],
        ),
        ("```mica:record-list  \r\n{\"ids\":[\"a\"]}\r\n```\r\n", vec!["record-list a"]),
        ("```mica:record-list\n{\"ids\":[\"a\"]}", vec!["record-list a"]),
        (
            "```mica:table\n{\"columns\":[\"A\"],\"rows\":[[\"1\"]]}\n```",
            vec!["table {\"columns\":[\"A\"],\"rows\":[[\"1\"]]}"],
        ),
        (
            "```mica:record-list\n[\"a\"]\n```\n```mica:task-list\n[\"b\"]\n```",
            vec!["record-list a", "task-list b"],
        ),
    ] {
        assert_eq!(short(&read(text)), expected, "{text}");
    }
}

#[test]
fn what_stays_text() {
    for text in [
        "```mica:record-list\n{ \"ids\": [\"a\", }\n```\n",
        "```mica:record-list\n{ \"ids\": [\"a b\"] }\n```\n",
        "```mica:record-list\n{ \"ids\": [null] }\n```\n",
        "```mica:record-list\n{ \"names\": [\"a\"] }\n```\n",
        "```mica:record-list\n{ \"ids\": \"a\" }\n```\n",
        "```mica:record-list\n```\n",
        "```mica:record-card\n{ \"ids\": [\"a\", \"b\"] }\n```\n",
        "```mica:record-card\n{ \"ids\": [] }\n```\n",
        "```mica:planet-list\n{ \"ids\": [\"a\"] }\n```\n",
        "```mica:table\n{ \"columns\": [\"A\"] }\n```\n",
        "```mica:table\n{ \"columns\": [\"A\"], \"rows\": [[1]] }\n```\n",
        "```json\n{ \"ids\": [\"a\"] }\n```\n",
        "~~~mica:record-list\n{ \"ids\": [\"a\"] }\n~~~\n",
        "``mica:record-list\n{ \"ids\": [\"a\"] }\n``\n",
        "so ```mica:record-list\n{ \"ids\": [\"a\"] }\n",
        "> ```mica:record-list\n> { \"ids\": [\"a\"] }\n> ```\n",
        "Write it so:\n````\n```mica:record-list\n{ \"ids\": [\"a\"] }\n```\n````\n",
        "~~~markdown\n```mica:record-list\n{ \"ids\": [\"a\"] }\n```\n~~~\n",
        "```mica:record-list\n{ \"ids\": [\"a\"] }```\n",
        "```mica:record-list",
        "`mica:record-list`",
        "a list [1] and (mica://record/a) [x](https://example.org) [y](mica://planet/a) [z](mica://record/) [w](mica://record/a b)",
        "[a\n](mica://record/a)",
        "[never closed](mica://record/a",
    ] {
        assert_eq!(read(text), [Piece::Text(text.to_owned())], "{text}");
    }
}

#[test]
fn a_card_behind_code_is_a_card() {
    let text = "```json\n{}\n```\n```mica:record-list\n[\"a\"]\n```\n";
    assert_eq!(short(&read(text)), ["\"```json\\n{}\\n```\\n\"", "record-list a"]);
    let inline = "```not code``` and\n```mica:record-list\n[\"a\"]\n```\n";
    assert_eq!(short(&read(inline)), ["\"```not code``` and\\n\"", "record-list a"]);
}

/// What models see of their cards is a card when they write it themselves.
#[test]
fn an_imitated_card_is_a_card() {
    for (text, expected) in [
        (
            "Two:\n[Shown: record-list, 2]\n1. ACME — customer (id: companies:abc)\n2. not available (id: b)\nDone.",
            vec!["\"Two:\\n\"", "record-list companies:abc b", "\"Done.\""],
        ),
        ("[Shown: record-card, 1]\n1. (x) (id: a)", vec!["record-card a"]),
        (
            "[Shown: record-list, 2]\n<outside_words what=\"record\">\n1. A (id: a)\n2. B (id: b)\n</outside_words>\nDone.",
            vec!["record-list a b", "\"Done.\""],
        ),
        (
            "[Shown: record-card, 1]\n<outside_words what=\"record\">\n1. A (id: a)\n</outside_words>",
            vec!["record-card a"],
        ),
        ("[Shown: record-card, 1]\n<outside_words>\n1. A (id: a)\nDone.", vec!["record-card a", "\"Done.\""]),
        ("[Shown: record-card, 1]\n<outside_words>\n1. A (id: a)", vec!["record-card a"]),
        ("[Shown: record-list, 0]\n1. One", vec!["record-list ", "\"1. One\""]),
        (
            "[Shown: record-list, 2]\n1. A (id: a)\n```mica:record-list\n[\"b\"]\n```",
            vec!["\"[Shown: record-list, 2]\\n1. A (id: a)\\n\"", "record-list b"],
        ),
    ] {
        assert_eq!(short(&read(text)), expected, "{text}");
    }
    for text in [
        "[Shown: record-list, 2]\n1. A (id: a)",
        "[Shown: record-list, 2]\n1. A (id: a)\n2. A again (id: a)\n",
        "[Shown: record-list, 1]\nA (id: a)\n",
        "[Shown: record-list, 1]\n1. A (id: a b)\n",
        "[Shown: planet-list, 1]\n1. A (id: a)\n",
        "[Shown: table, 1]\n1. A (id: a)\n",
        "[Shown: record-list, many]\n1. A (id: a)\n",
        "[Shown: record-list, 1] \"1. A (id: a)\n",
        "```\n[Shown: record-list, 1]\n1. A (id: a)\n```\n",
    ] {
        assert_eq!(read(text), [Piece::Text(text.to_owned())], "{text}");
    }
}

#[test]
fn links_are_found_in_words() {
    let text = "See [ACME](mica://record/companies:abc), [1], and [Re: [x](mica://thread/t%201)!\n`[a](mica://task/7)`";
    assert_eq!(
        short(&read(text)),
        [
            "\"See \"",
            "ACME -> record companies:abc",
            "\", [1], and [Re: \"",
            "x -> thread t%201",
            "\"!\\n`\"",
            "a -> task 7",
            "\"`\"",
        ]
    );
}

#[test]
fn what_is_not_whole_is_held_back() {
    let mut reader = Reader::new(fixture::ready());
    let mut given = Vec::new();
    for (more, expected) in [
        ("Two of them", vec!["\"Two of them\""]),
        (":\n", vec!["\":\\n\""]),
        ("``", vec![]),
        ("`mi", vec![]),
        ("ca:record-list\n{ \"ids\": [\"companies:a", vec![]),
        ("bc\"] }\n", vec![]),
        ("```", vec![]),
        ("\n", vec!["record-list companies:abc"]),
        ("See [AC", vec!["\"See \""]),
        ("ME](mica://rec", vec![]),
        ("ord/companies:abc", vec![]),
        (") and [that", vec!["ACME -> record companies:abc", "\" and \""]),
        ("] too.\n", vec!["\"[that] too.\\n\""]),
        ("```js", vec!["\"```js\""]),
        ("on\n", vec!["\"on\\n\""]),
        ("``", vec![]),
        ("x", vec!["\"``x\""]),
    ] {
        let pieces = reader.push(more);
        assert_eq!(short(&pieces), expected, "{more}");
        given.extend(pieces);
    }
    assert!(!reader.is_holding());
    assert_eq!(reader.end(), []);
}

#[test]
fn a_card_without_an_end_is_text() {
    let text = format!("```mica:record-list\n{}", "\"x\",\n".repeat(LONGEST_FENCE / 4));
    let mut reader = Reader::new(fixture::ready());
    let mut longest = 0;
    let mut all = String::new();
    for bit in text.as_bytes().chunks(100) {
        all.extend(reader.push(std::str::from_utf8(bit).unwrap()).iter().map(Piece::raw));
        longest = longest.max(reader.held.len());
    }
    all.extend(reader.end().iter().map(Piece::raw));
    assert_eq!(all, text);
    assert!(longest <= LONGEST_FENCE + 100, "{longest}");
}

#[test]
fn one_of_many_ids_is_enough_to_read() {
    let piece = read("```mica:record-list\n{ \"ids\": [\"a\"], \"note\": 1 }\n```\n");
    let expected = Written::Ids { thing: "record".to_owned(), ids: vec!["a".to_owned()] };
    assert!(matches!(piece.as_slice(), [Piece::Fence(fence)] if fence.payload == expected), "{piece:?}");
    let table = read("```mica:table\n{\"columns\":[],\"rows\":[]}\n```");
    let expected = Written::Data(json!({ "columns": [], "rows": [] }));
    assert!(matches!(table.as_slice(), [Piece::Fence(fence)] if fence.payload == expected), "{table:?}");
}

/// Texts that are mostly made of what matters.
fn text() -> impl Strategy<Value = String> {
    let bit = prop_oneof![
        Just("```"),
        Just("````"),
        Just("~~~"),
        Just("`"),
        Just("mica:"),
        Just("record-list"),
        Just("record-card"),
        Just("\n"),
        Just("\n"),
        Just("```mica:record-list\n"),
        Just("{\"ids\":[\"a\"]}"),
        Just("[\"b\"]\n"),
        Just("\n```\n"),
        Just("  "),
        Just("\t"),
        Just("["),
        Just("[Shown: record-list, 2]\n"),
        Just("[Shown: record-card, 1]\n"),
        Just("<outside_words what=\"record\">\n"),
        Just("</outside_words>\n"),
        Just("[Shown: "),
        Just("1. A (id: a)\n"),
        Just("2. B (id: b)"),
        Just("]"),
        Just("[A](mica://record/a)"),
        Just("](mica://record/"),
        Just(")"),
        Just("x"),
        Just("ä"),
        Just("\r\n"),
        Just(
            "                                                                                                              "
        ),
    ];
    prop::collection::vec(bit, 0..24).prop_map(|bits| bits.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_pieces_are_the_text_however_it_came(text in text(), cuts in prop::collection::vec(0usize..200, 0..12)) {
        let whole = read(&text);
        let together: String = whole.iter().map(Piece::raw).collect();
        prop_assert_eq!(&together, &text);
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|at| text.is_char_boundary(*at)).collect();
        cuts.sort_unstable();
        let mut reader = Reader::new(fixture::ready());
        let (mut pieces, mut from) = (Vec::new(), 0);
        for at in cuts.into_iter().chain([text.len()]) {
            for piece in reader.push(&text[from..at]) {
                join(&mut pieces, piece);
            }
            from = at;
        }
        for piece in reader.end() {
            join(&mut pieces, piece);
        }
        prop_assert_eq!(pieces, whole);
    }

    #[test]
    fn letter_by_letter_is_the_same(text in text()) {
        let mut reader = Reader::new(fixture::ready());
        let mut pieces = Vec::new();
        for letter in text.chars() {
            for piece in reader.push(letter.encode_utf8(&mut [0; 4])) {
                join(&mut pieces, piece);
            }
        }
        for piece in reader.end() {
            join(&mut pieces, piece);
        }
        prop_assert_eq!(pieces, read(&text));
    }
}
