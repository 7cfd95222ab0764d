//! Whether the process of the client is still there.

/// Whether a process of that id exists. Where that cannot be told, it does.
#[must_use]
pub fn is_alive(id: u32) -> bool {
    exists(id)
}

#[cfg(unix)]
fn exists(id: u32) -> bool {
    let Some(id) = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    // A process of somebody else answers that it may not be touched, which is an answer.
    !matches!(rustix::process::test_kill_process(id), Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn exists(_id: u32) -> bool {
    true
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_process_is_there_and_process_zero_is_not() {
        assert!(super::is_alive(std::process::id()));
        assert!(!super::is_alive(0));
    }
}
