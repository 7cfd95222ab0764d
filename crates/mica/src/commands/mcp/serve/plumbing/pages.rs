//! Long lists in pages: a cursor says where the next one begins.

use rmcp::model::{ErrorData, PaginatedRequestParams};
use serde_json::json;

/// Items of one page. The largest list has a few hundred.
pub const PAGE: usize = 50;

/// One page of a list, and the cursor of the next.
///
/// # Errors
/// Invalid parameters, for a cursor that is not from here.
pub fn page<T: Clone>(
    all: &[T],
    request: Option<&PaginatedRequestParams>,
    size: usize,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let from = match request.and_then(|request| request.cursor.as_deref()) {
        None => 0,
        Some(cursor) => read(cursor).filter(|from| *from < all.len()).ok_or_else(|| {
            ErrorData::invalid_params(
                "the cursor is not one that this server gave: list again without one",
                Some(json!({ "cursor": cursor })),
            )
        })?,
    };
    let shown: Vec<T> = all.iter().skip(from).take(size).cloned().collect();
    let next = from + shown.len();
    Ok((shown, (next < all.len()).then(|| written(next))))
}

fn written(at: usize) -> String {
    format!("from-{at}")
}

fn read(cursor: &str) -> Option<usize> {
    cursor.strip_prefix("from-")?.parse().ok().filter(|at| *at > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(cursor: Option<&str>) -> PaginatedRequestParams {
        let mut request = PaginatedRequestParams::default();
        request.cursor = cursor.map(str::to_owned);
        request
    }

    #[test]
    fn pages_together_are_the_list() {
        for (count, size) in [(0, 3), (1, 3), (3, 3), (4, 3), (10, 3), (6, 3)] {
            let all: Vec<usize> = (0..count).collect();
            let (mut got, mut cursor, mut pages) = (Vec::new(), None, 0);
            loop {
                let (shown, next) = page(&all, Some(&asked(cursor.as_deref())), size).unwrap();
                got.extend(shown);
                pages += 1;
                cursor = next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!((got, pages), (all, count.div_ceil(size).max(1)), "{count} by {size}");
        }
    }

    #[test]
    fn a_cursor_from_elsewhere_is_refused() {
        let all = [1, 2, 3, 4];
        let beyond = written(4);
        for cursor in ["", "3", "x", "from-", "from-0", "from--1", "from-99999999999999999999", &beyond] {
            let error = page(&all, Some(&asked(Some(cursor))), 2).unwrap_err();
            assert_eq!(error.code, rmcp::model::ErrorCode::INVALID_PARAMS, "{cursor}");
        }
    }
}
