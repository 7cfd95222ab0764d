//! Diffs that are small, and diffs that would be too large.

use super::*;

#[test]
fn small_and_cut() {
    let whole = diff("f", "a\nb\n", "a\nc\nd\n", 1_000);
    assert_eq!(whole.diff, "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n");
    assert_eq!((whole.added, whole.removed), (2, 1));
    let cut = diff("f", "a\nb\n", "a\nü\n", 40);
    assert_eq!(
        cut.diff,
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+\n[… 3 bytes of the diff are left out …]\n"
    );
}

#[test]
fn two_large_files_with_nothing_in_common_are_still_compared() {
    let text = |mark: char| (0..50_000).map(|line| format!("{mark}{line}\n")).collect::<String>();
    let change = diff("f", &text('a'), &text('b'), 100);
    assert_eq!((change.added, change.removed), (50_000, 50_000));
}
