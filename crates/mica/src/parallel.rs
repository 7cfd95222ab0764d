//! Work on many things at once, on as many threads as the machine has cores. Results come in the order of the things.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// More threads than this wait for the disk together.
const MOST_THREADS: usize = 16;
/// Deeply nested expressions are read by recursion; the main thread has as much.
const STACK: usize = 8 << 20;

/// Does the work for every item.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.min(MOST_THREADS).min(items.len());
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let run = || {
        let mut mine = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { break };
            mine.push((at, work(item)));
        }
        done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).append(&mut mine);
    };
    thread::scope(|scope| {
        // A thread that cannot be started is no reason to stop: the others, or this one, take its share.
        for _ in 1..threads {
            let _ = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(super::map(&items, |item| item * 2), (0..1000).map(|one| one * 2).collect::<Vec<_>>());
        assert_eq!(super::map(&[], |item: &usize| *item), Vec::<usize>::new());
    }
}
