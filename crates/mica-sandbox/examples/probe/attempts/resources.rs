//! Using more than was given.

use std::fs::{self, File};
use std::io::Write;

use super::processes::pause;
use super::{Attempt, answer, held};

pub(crate) const LIST: &[(&str, Attempt)] = &[
    ("fork-bomb", |w| {
        // Forks up to a number that is far above the limit. All of them sleep, and are ended by the sandbox.
        let many: u32 = w.rest.first().and_then(|text| text.parse().ok()).unwrap_or(600);
        for _ in 0..many {
            match unsafe { libc::fork() } {
                -1 => return Err(std::io::Error::last_os_error()),
                0 => {
                    pause(600_000);
                    unsafe { libc::_exit(0) };
                }
                _ => {}
            }
        }
        Ok(())
    }),
    ("memory", |_| {
        let size = 512 << 20;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let memory = unsafe { libc::mmap(std::ptr::null_mut(), size, rights, flags, -1, 0) };
        if memory == libc::MAP_FAILED { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    }),
    ("huge-file", |w| {
        let mut file = File::create(w.project("huge"))?;
        let block = vec![0u8; 1 << 20];
        (0..64).try_for_each(|_| file.write_all(&block))
    }),
    ("sparse-file", |w| File::create(w.project("huge"))?.set_len(64 << 20)),
    ("processor", |_| {
        let mut number = 1u64;
        loop {
            number = std::hint::black_box(number.wrapping_mul(3));
        }
    }),
    ("open-files", |_| {
        let mut open = Vec::new();
        for _ in 0..4096 {
            open.push(File::open("/dev/null")?);
        }
        Ok(())
    }),
    ("fill-temporary", |_| {
        let folder = std::env::temp_dir();
        let block = vec![0u8; 1 << 20];
        for number in 0..64 {
            fs::write(folder.join(format!("{number}")), &block)?;
        }
        Ok(())
    }),
    ("raise-limits", |_| {
        let limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        answer(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) }.into()).map(drop)
    }),
    ("core-dump", |_| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        unsafe { libc::getrlimit(libc::RLIMIT_CORE, &mut limit) };
        if limit.rlim_max > 0 { Ok(()) } else { Err(held("none")) }
    }),
    ("flood", |_| {
        let block = vec![b'x'; 1 << 20];
        let mut out = std::io::stdout();
        (0..32).try_for_each(|_| out.write_all(&block))
    }),
];
