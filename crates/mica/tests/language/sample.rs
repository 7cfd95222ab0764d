//! The sample project of this repository has nothing wrong with it but what the demo is about.

use crate::Stage;

#[test]
fn the_sample_project_deploys() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/orders-mi");
    let ran = Stage::new(&[]).run(&["check", sample, "--severity", "warning"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("No findings in "), "{}", ran.out);
}
