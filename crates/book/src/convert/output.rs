//! Where the bytes of a conversion go.

use std::io::{self, Write};
use std::path::Path;

use super::ConvertJob;
use tabia_io::atomic::{NewFile, WriteFileError};

/// A new file, or whatever the caller has.
pub(super) enum Output<'a> {
    File(NewFile),
    Caller {
        to: &'a mut dyn Write,
        /// Bytes written so far.
        bytes: u64,
        /// The name of the target, for messages.
        name: &'a Path,
    },
}

impl<'a> Output<'a> {
    pub(super) fn new(
        job: &'a ConvertJob,
        to: Option<&'a mut dyn Write>,
    ) -> Result<Output<'a>, WriteFileError> {
        Ok(match to {
            None => Output::File(NewFile::create(&job.target, job.old)?),
            Some(to) => Output::Caller {
                to,
                bytes: 0,
                name: &job.target,
            },
        })
    }

    pub(super) fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), WriteFileError> {
        match self {
            Output::File(file) => file.write_bytes(bytes),
            Output::Caller {
                to,
                bytes: written,
                name,
            } => {
                *written += bytes.len() as u64;
                to.write_all(bytes)
                    .map_err(|error| WriteFileError::io(name, error))
            }
        }
    }

    /// Completes the output, and puts a file in its place; returns its length in bytes.
    pub(super) fn commit(self) -> Result<u64, WriteFileError> {
        match self {
            Output::File(file) => Ok(file.commit()?.bytes),
            Output::Caller { to, bytes, name } => {
                let flushed = to.flush();
                flushed.map_err(|error: io::Error| WriteFileError::io(name, error))?;
                Ok(bytes)
            }
        }
    }
}
