//! Tokens and money add up.

use super::*;
use crate::model::{PriceRow, PriceTier, Prices};

fn usd(dollars: f64) -> Usd {
    Usd::from_dollars(dollars)
}

#[test]
fn input_counts_everything_the_model_read() {
    let usage = Usage { input: 100, cache_read: 60, cache_write: 30, output: 10, ..Usage::default() };
    assert_eq!((usage.uncached(), usage.total()), (10, 110));
    assert!((usage.cache_hit_ratio() - 0.6).abs() < 1e-12);
    assert_eq!(Usage::default().cache_hit_ratio(), 0.0);
}

#[test]
fn sums_are_exact() {
    let one = usd(0.1);
    let sum: Usd = std::iter::repeat_n(one, 1_000_000).sum();
    assert_eq!(sum, usd(100_000.0));
    assert_eq!(usd(-1.0), Usd::ZERO);
    assert_eq!(usd(f64::NAN), Usd::ZERO);
    assert_eq!(usd(3.0).per_million(1), usd(0.000_003));
    assert_eq!(usd(1e6).per_million(u64::MAX).dollars(), u64::MAX as f64 / 1e12, "it saturates");
}

#[test]
fn amounts_read_well() {
    for (dollars, text) in
        [(0.0, "$0.0000"), (0.000_123_4, "$0.0001234"), (1.5, "$1.5000"), (12.345_67, "$12.3457")]
    {
        assert_eq!(usd(dollars).to_string(), text);
    }
}

#[test]
fn a_call_costs_what_the_price_list_says() {
    let row = |factor: f64| PriceRow {
        input: usd(2.0 * factor),
        output: usd(10.0 * factor),
        cache_read: Some(usd(0.2 * factor)),
        cache_write: Some(usd(2.5 * factor)),
        cache_write_long: Some(usd(4.0 * factor)),
    };
    let prices = Prices {
        base: row(1.0),
        tiers: vec![PriceTier { above: 200_000, row: row(2.0) }, PriceTier { above: 400_000, row: row(3.0) }],
    };
    let usage = Usage {
        input: 100_000,
        cache_read: 50_000,
        cache_write: 30_000,
        cache_write_long: 10_000,
        output: 1_000,
        reasoning: 500,
        cost: None,
    };
    let cost = prices.cost(&usage);
    assert_eq!(
        (cost.input, cost.cache_read, cost.cache_write, cost.output),
        (usd(0.04), usd(0.01), usd(0.05) + usd(0.04), usd(0.01))
    );
    for (input, factor) in [(200_000, 1.0), (200_001, 2.0), (400_001, 3.0)] {
        let usage = Usage { input, ..Usage::default() };
        assert_eq!(prices.cost(&usage).total(), usd(2.0 * factor).per_million(input), "{input}");
    }
}

#[test]
fn prices_that_are_not_listed_are_those_of_input() {
    let prices = Prices {
        base: PriceRow {
            input: usd(1.0),
            output: usd(2.0),
            cache_read: None,
            cache_write: None,
            cache_write_long: None,
        },
        tiers: Vec::new(),
    };
    let usage = Usage {
        input: 3_000_000,
        cache_read: 1_000_000,
        cache_write: 1_000_000,
        cache_write_long: 500_000,
        ..Usage::default()
    };
    assert_eq!(prices.cost(&usage).total(), usd(3.0));
}

#[test]
fn unknown_costs_do_not_hide_known_ones() {
    let known = Usage { cost: Some(Cost { input: usd(1.0), ..Cost::default() }), ..Usage::default() };
    let mut sum = Usage::default();
    sum += known;
    sum += Usage { input: 5, ..Usage::default() };
    sum += known;
    assert_eq!((sum.input, sum.cost.unwrap().total()), (5, usd(2.0)));
}
