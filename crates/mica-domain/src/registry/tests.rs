//! Which pack a folder gets.

use super::*;
use crate::domain::Confidence;

struct Pack(&'static str, &'static str, Confidence);

impl Domain for Pack {
    fn name(&self) -> &str {
        self.0
    }

    fn detect(&self, folder: &Path) -> Option<Confidence> {
        folder.ends_with(self.1).then_some(self.2)
    }
}

#[test]
fn by_name_or_by_folder() {
    let packs = Packs::default()
        .with(Arc::new(Pack("any", "x", Confidence::Fallback)))
        .with(Arc::new(Pack("first", "x", Confidence::Likely)))
        .with(Arc::new(Pack("second", "x", Confidence::Likely)))
        .with(Arc::new(Pack("sure", "y", Confidence::Certain)));
    let pick = |name, folder: &str| packs.pick(name, Path::new(folder)).map(|pack| pack.name().to_owned());
    assert_eq!(pick(None, "/x").as_deref(), Ok("first"));
    assert_eq!(pick(None, "/y").as_deref(), Ok("sure"));
    assert_eq!(pick(Some("any"), "/y").as_deref(), Ok("any"));
    assert_eq!(
        pick(Some("none"), "/y").unwrap_err().to_string(),
        "there is no pack \"none\"; the packs are: any, first, second, sure"
    );
    assert_eq!(
        pick(None, "/z").unwrap_err().to_string(),
        "no pack fits /z; the packs are: any, first, second, sure"
    );
}
