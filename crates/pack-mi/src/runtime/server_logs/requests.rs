//! Requests in an access log: grouped by method and path, with what was answered.

use std::collections::BTreeMap;

use super::super::arguments::count;

/// Groups that are shown.
const SHOWN: usize = 50;

/// Counts requests: `"GET /orders/7?x=1 HTTP/1.1" 200`.
pub(super) fn digest<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut groups: BTreeMap<(String, String), BTreeMap<u16, usize>> = BTreeMap::new();
    let (mut all, mut client, mut server) = (0, 0, 0);
    for (method, path, status) in lines.filter_map(request) {
        all += 1;
        client += usize::from((400..500).contains(&status));
        server += usize::from(status >= 500);
        *groups.entry((path.to_owned(), method.to_owned())).or_default().entry(status).or_default() += 1;
    }
    if all == 0 {
        return String::new();
    }
    let mut told =
        vec![format!("{}, {client} answered with 4xx and {server} with 5xx:", count(all, "request"))];
    // What failed comes first.
    let failed = |statuses: &BTreeMap<u16, usize>| statuses.keys().any(|status| *status >= 400);
    let mut rows: Vec<_> = groups.iter().collect();
    rows.sort_by_key(|(_, statuses)| !failed(statuses));
    for ((path, method), statuses) in rows.iter().take(SHOWN) {
        let statuses: Vec<String> =
            statuses.iter().map(|(status, times)| format!("{status} ×{times}")).collect();
        told.push(format!("  {method} {path} → {}", statuses.join(", ")));
    }
    if rows.len() > SHOWN {
        told.push(format!("  … and {} more paths", rows.len() - SHOWN));
    }
    told.join("\n")
}

fn request(line: &str) -> Option<(&str, &str, u16)> {
    let (_, rest) = line.split_once('"')?;
    let (request, rest) = rest.split_once('"')?;
    let mut words = request.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    let status = rest.split_whitespace().next()?.parse().ok()?;
    Some((method, path.split('?').next().unwrap_or(path), status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_path_and_answer() {
        let log = "127.0.0.1 - - [12/May/2026:10:20:30 +0000] \"GET /orders/7?full=1 HTTP/1.1\" 200 - \"-\" \"curl\"\n\
                   127.0.0.1 - - [12/May/2026:10:20:31 +0000] \"GET /orders/7 HTTP/1.1\" 500 12 \"-\" \"curl\"\n\
                   127.0.0.1 - - [12/May/2026:10:20:31 +0000] \"POST /a HTTP/1.1\" 202 - \"-\" \"curl\"\n\
                   127.0.0.1 - - [12/May/2026:10:20:32 +0000] \"GET /x HTTP/1.1\" 404 - \"-\" \"curl\"\nnonsense \" 1\n";
        assert_eq!(
            digest(log.lines()),
            "4 requests, 1 answered with 4xx and 1 with 5xx:\n  GET /orders/7 → 200 ×1, 500 ×1\n  GET /x → 404 ×1\n  \
             POST /a → 202 ×1"
        );
        assert_eq!(digest("".lines()), "");
    }
}
