//! How the bytes of an answer are cut makes no difference: every recorded answer, on every wire, at any cuts.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use crate::dialect::fixtures::play;
use crate::message::Dialect;

/// All recorded answers of a dialect.
fn answers(dialect: Dialect) -> Vec<Vec<u8>> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/dialect").join(dialect.name()).join("fixtures");
    let mut answers: Vec<Vec<u8>> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sse"))
        .map(|path| fs::read(path).unwrap())
        .collect();
    answers.sort();
    answers
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_cut_of_an_answer_gives_the_same_events(
        dialect in prop::sample::select(Dialect::ALL.to_vec()),
        answer in any::<prop::sample::Index>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..30),
    ) {
        let answers = answers(dialect);
        let bytes = answer.get(&answers).as_slice();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        prop_assert_eq!(play(dialect, pieces), play(dialect, [bytes]));
    }
}
