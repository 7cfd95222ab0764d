//! Ids in the vendors' forms, made from the script's name and the request's number: the same run gives the same ids.

/// FNV-1a: small, stable over versions of everything, and enough to tell texts apart in a test.
pub(crate) fn fnv(seed: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Makes ids for one answer.
#[derive(Debug, Clone)]
pub struct Ids {
    state: u64,
}

const HEX: &[u8] = b"0123456789abcdef";
// Without characters that look alike, as the Messages provider makes its ids.
const BASE58: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const ALNUM: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

impl Ids {
    /// Ids for the answer to a request, by its number.
    pub fn new(scenario: &str, request: usize) -> Self {
        Self { state: fnv(request as u64, scenario.as_bytes()) }
    }

    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Random-looking characters of an alphabet.
    fn chars(&mut self, alphabet: &[u8], count: usize) -> String {
        (0..count).map(|_| char::from(alphabet[(self.next() % alphabet.len() as u64) as usize])).collect()
    }

    /// `resp_…`, `msg_…`, `rs_…`, `fc_…`, `ig_…` of the Responses wire.
    pub(crate) fn item(&mut self, prefix: &str) -> String {
        format!("{prefix}_{}", self.chars(HEX, 50))
    }

    /// `call_…`.
    pub(crate) fn call(&mut self) -> String {
        format!("call_{}", self.chars(ALNUM, 24))
    }

    /// `msg_01…`, `toolu_01…` of the Messages wire.
    pub(crate) fn claude(&mut self, prefix: &str) -> String {
        format!("{prefix}_01{}", self.chars(BASE58, 22))
    }

    /// `chatcmpl-…`.
    pub(crate) fn chat(&mut self) -> String {
        format!("chatcmpl-{}", self.chars(ALNUM, 29))
    }

    /// A UUID-shaped request id.
    pub(crate) fn request(&mut self) -> String {
        let mut part = |count| self.chars(HEX, count);
        format!("{}-{}-{}-{}-{}", part(8), part(4), part(4), part(4), part(12))
    }

    /// Padding that hides the length of a delta: together they fill a multiple of 16.
    pub(crate) fn padding(&mut self, delta: &str) -> String {
        self.chars(ALNUM, 16 - delta.len() % 16)
    }
}

#[cfg(test)]
mod tests {
    use super::Ids;

    #[test]
    fn ids_are_the_same_for_the_same_request_and_differ_between_requests() {
        let id = |request| Ids::new("demo", request).item("resp");
        assert_eq!(id(0), id(0));
        assert_ne!(id(0), id(1));
        assert!(id(0).starts_with("resp_") && id(0).len() == 55);
    }
}
