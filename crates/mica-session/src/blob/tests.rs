//! Payloads go out and come back byte for byte, or leave a word.

use mica_ai::message::Image;
use mica_ai::{ToolResult, User};
use proptest::prelude::*;

use super::*;
use crate::line::tests::{answer, message, picture};

const SMALL: Limits = Limits { image: 8, text: 12, line: 1 << 20 };

fn keep_all(folder: &Path, blobs: &[Blob]) {
    blobs.iter().for_each(|blob| keep(folder, blob).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_taken_out_comes_back_as_it_was(message in message()) {
        let folder = tempfile::tempdir().unwrap();
        let mut stored = message.clone();
        let (refs, blobs) = take_out(&mut stored, SMALL);
        keep_all(folder.path(), &blobs);
        prop_assert_eq!(refs.is_empty(), stored == message);
        prop_assert_eq!(put_back(&mut stored, &refs, folder.path()), Vec::<String>::new());
        prop_assert_eq!(stored, message);
    }
}

fn result(content: Vec<Content>) -> Message {
    ToolResult {
        id: "t".into(),
        call: "c".into(),
        tool: "read".to_owned(),
        content,
        status: Default::default(),
    }
    .into()
}

#[test]
fn the_line_says_where_and_which() {
    let mut message =
        result(vec![Content::text("short"), picture("QUJDREVGR0g9"), Content::text("x".repeat(13))]);
    let (refs, blobs) = take_out(&mut message, SMALL);
    let image = hash(b"QUJDREVGR0g9");
    let text = hash("x".repeat(13).as_bytes());
    assert_eq!(
        refs,
        BlobRefs::from([
            ("/message/content/1/source/base64".to_owned(), image.clone()),
            ("/message/content/2/text".to_owned(), text.clone()),
        ])
    );
    assert_eq!(blobs.len(), 2);
    let stored = vec![
        Content::text("short"),
        picture(&format!("blob:{image}")),
        Content::text(format!("blob:{text}")),
    ];
    assert_eq!(message, result(stored));
}

#[test]
fn a_text_that_looks_like_a_reference_is_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let mut message = result(vec![Content::text(format!("blob:{}", "0".repeat(64)))]);
    let before = message.clone();
    assert_eq!(put_back(&mut message, &BlobRefs::new(), folder.path()), Vec::<String>::new());
    assert_eq!(message, before);
}

#[test]
fn what_is_lost_leaves_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let image =
        Image { media_type: "image/png".to_owned(), source: ImageSource::Base64("QUJDREVGR0g9".into()) };
    let mut user: Message = User { id: "u".into(), content: vec![Content::Image(image.clone())] }.into();
    let mut made = answer(vec![Block::Image(image)]);
    let mut text = result(vec![Content::text("y".repeat(13))]);
    let hash_of_image = hash(b"QUJDREVGR0g9");
    for message in [&mut user, &mut made] {
        let (refs, _) = take_out(message, SMALL);
        assert_eq!(put_back(message, &refs, folder.path()), [hash_of_image.as_str()]);
    }
    let word = format!("[This image is not there any more: blob {hash_of_image} is missing or damaged.]");
    assert_eq!(user, User { id: "u".into(), content: vec![Content::text(&word)] }.into());
    assert_eq!(made, answer(vec![Block::Text(mica_ai::message::Text { text: word, ..Default::default() })]));

    let (refs, blobs) = take_out(&mut text, SMALL);
    keep_all(folder.path(), &[Blob { hash: blobs[0].hash.clone(), bytes: b"damaged".to_vec() }]);
    assert_eq!(put_back(&mut text, &refs, folder.path()), [blobs[0].hash.as_str()]);
    let word = format!("[This text is not there any more: blob {} is missing or damaged.]", blobs[0].hash);
    assert_eq!(text, result(vec![Content::text(word)]));
}

#[test]
fn a_reference_cannot_leave_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut message = result(vec![Content::text("blob:../secret")]);
    let refs = BlobRefs::from([("/message/content/0/text".to_owned(), "../secret".to_owned())]);
    assert_eq!(put_back(&mut message, &refs, &folder.path().join("blobs")), ["../secret"]);
}
