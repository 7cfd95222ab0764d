//! Where the lines of a session are read from.

use std::fs::File;
use std::io;

use crate::contents::Place;

/// The bytes of a session.
#[derive(Debug)]
pub(crate) enum Source {
    /// Its file.
    File(File),
    /// A copy in memory: the file is of an older version, was opened for reading, and must stay as it is.
    Memory(Vec<u8>),
}

impl Source {
    /// The line at a place.
    pub(crate) fn line(&self, place: Place) -> io::Result<Vec<u8>> {
        let length = place.length as usize;
        match self {
            Source::File(file) => {
                let mut line = vec![0; length];
                read_at(file, &mut line, place.offset)?;
                Ok(line)
            }
            Source::Memory(bytes) => {
                let start = usize::try_from(place.offset).unwrap_or(usize::MAX);
                let line = bytes.get(start..start.saturating_add(length));
                line.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            }
        }
    }
}

/// Fills a buffer from a place of a file, without moving where others read or write.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(windows)]
pub(crate) fn read_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, buffer, offset)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[read..];
        offset += read as u64;
    }
    Ok(())
}
