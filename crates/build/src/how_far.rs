//! How far a build is.

use tabia_io::progress::Progress;

/// The progress of writing. Positions come in the order of hashes, which are spread evenly:
/// so the hash of the last one tells how many there will be.
pub(crate) fn writing(positions: u64, order: u32) -> Progress {
    let total = (u128::from(positions) << 32) / (u128::from(order) + 1);
    let total = u64::try_from(total).ok();
    Progress::new("writing", "positions", positions, total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_hash_tells_how_much_is_left() {
        assert_eq!(writing(500, u32::MAX / 4).total, Some(2000));
        assert_eq!(writing(2000, u32::MAX).total, Some(2000));
        assert_eq!(writing(0, 0).total, Some(0));
    }
}
