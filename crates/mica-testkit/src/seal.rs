//! Signatures and encrypted reasoning, made so that they can be checked: a provider accepts them back only for the
//! model that made them, and a signature only over the text it was made for.

use crate::ids::fnv;

fn hex(value: u64) -> String {
    format!("{value:016x}")
}

fn tag(model: &str) -> String {
    hex(fnv(1, model.as_bytes()))
}

/// Encrypted reasoning of the Responses wire.
pub(crate) fn encrypted(model: &str, text: &str) -> String {
    // Real ones are long; three rounds make the size felt without bloating snapshots.
    let body: String = (0..3).map(|round| hex(fnv(round, text.as_bytes()))).collect();
    format!("gAAAAAB{}{body}", tag(model))
}

/// Whether encrypted reasoning was made for this model.
pub(crate) fn is_encrypted_by(model: &str, sealed: &str) -> bool {
    sealed.strip_prefix("gAAAAAB").is_some_and(|rest| rest.starts_with(&tag(model)))
}

/// A signature over a thinking block of the Messages wire.
pub(crate) fn signature(model: &str, text: &str) -> String {
    format!("EqQB{}{}", tag(model), hex(fnv(2, text.as_bytes())))
}

/// Whether a signature is this model's, over this text.
pub(crate) fn is_signed_by(model: &str, text: &str, signed: &str) -> bool {
    signed == signature(model, text)
}

/// The opaque payload of a redacted thinking block.
pub(crate) fn redacted(model: &str, text: &str) -> String {
    format!("EmwKAhgB{}{}", tag(model), hex(fnv(3, text.as_bytes())))
}

/// Whether an opaque payload is this model's.
pub(crate) fn is_redacted_by(model: &str, data: &str) -> bool {
    data.strip_prefix("EmwKAhgB").is_some_and(|rest| rest.starts_with(&tag(model)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seals_are_bound_to_the_model_and_a_signature_to_its_text() {
        assert!(is_encrypted_by("a", &encrypted("a", "x")));
        assert!(!is_encrypted_by("b", &encrypted("a", "x")));
        assert!(is_signed_by("a", "x", &signature("a", "x")));
        assert!(!is_signed_by("a", "y", &signature("a", "x")));
        assert!(!is_redacted_by("b", &redacted("a", "x")));
    }
}
