//! What stands in for [`super::jsonl`] in a build without the feature.

use std::path::Path;

use super::{Converted, Error, Work};
use crate::book::ctg::CtgBook;

pub(super) fn from_ctg(work: &mut Work<'_, '_>, _: &CtgBook) -> Result<Converted, Error> {
    Err(left_out(&work.job.target))
}

pub(super) fn to_ctg(work: &mut Work<'_, '_>, _: &Path) -> Result<Converted, Error> {
    Err(left_out(&work.job.source))
}

fn left_out(path: &Path) -> Error {
    Error::LeftOut {
        path: path.to_owned(),
    }
}
