//! Sets of names as sets of bits, because the states of a flow are copied at every branch.

use std::collections::HashMap;

/// The numbers that names have.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The names by their numbers.
    pub named: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Names {
    /// The number of a name; a new one for a name that was never seen.
    pub(super) fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.named.len();
        self.named.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

/// A set of numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    const fn place(number: usize) -> (usize, u64) {
        (number / 64, 1 << (number % 64))
    }

    /// Adds a number.
    pub(super) fn insert(&mut self, number: usize) {
        let (word, bit) = Self::place(number);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    /// Takes a number away.
    pub(super) fn remove(&mut self, number: usize) {
        let (word, bit) = Self::place(number);
        if let Some(word) = self.0.get_mut(word) {
            *word &= !bit;
        }
    }

    /// Whether a number is in it.
    pub(super) fn contains(&self, number: usize) -> bool {
        let (word, bit) = Self::place(number);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The numbers of both.
    pub(super) fn or(&self, other: &Self) -> Self {
        let (long, short) = if self.0.len() >= other.0.len() { (self, other) } else { (other, self) };
        let mut words = long.0.clone();
        words.iter_mut().zip(&short.0).for_each(|(word, more)| *word |= more);
        Self(words)
    }

    /// The numbers that both have.
    pub(super) fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one & other).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(numbers: &[usize]) -> Bits {
        let mut bits = Bits::default();
        numbers.iter().for_each(|number| bits.insert(*number));
        bits
    }

    #[test]
    fn sets_of_different_lengths_meet() {
        let (short, long) = (bits(&[1, 63]), bits(&[1, 64, 200]));
        assert_eq!(short.or(&long), bits(&[1, 63, 64, 200]));
        assert_eq!(long.or(&short), short.or(&long));
        assert_eq!(short.and(&long), bits(&[1]));
        assert!(long.contains(200) && !long.contains(201) && !short.contains(4000));
        let mut one = bits(&[7]);
        one.remove(7);
        one.remove(9999);
        assert!(!one.contains(7));
    }
}
