//! Encrypted archives: DES in ECB mode.

use des::Des;
use des::cipher::{Array, BlockCipherDecrypt as _, KeyInit as _};

use crate::encodings::to_windows1252;

/// Bytes of a cipher block.
pub(super) const BLOCK_BYTES: usize = 8;

/// The cipher of a password, which is encoded as Windows-1252.
pub(super) fn cipher(password: &str) -> Des {
    Des::new(&Array(key(&to_windows1252(password))))
}

/// Decrypts whole blocks; a remainder stays unchanged.
pub(super) fn decipher(cipher: &Des, bytes: &mut [u8]) {
    let (blocks, _) = bytes.as_chunks_mut::<BLOCK_BYTES>();
    for block in blocks {
        let mut plain = Array(*block);
        cipher.decrypt_block(&mut plain);
        *block = plain.0;
    }
}

/// The key: short passwords are repeated, long ones folded. Verified for lengths 4, 8
/// and 16; between 4 and 8 it is a guess that the repetition is cut off.
fn key(password: &[u8]) -> [u8; BLOCK_BYTES] {
    let mut key = [0_u8; BLOCK_BYTES];
    if password.len() > BLOCK_BYTES {
        for (index, byte) in password.iter().enumerate() {
            if let Some(place) = key.get_mut(index % BLOCK_BYTES) {
                *place = place.wrapping_shl(1) ^ byte;
            }
        }
    } else {
        let repeated = password.iter().cycle();
        key.iter_mut()
            .zip(repeated)
            .for_each(|(to, from)| *to = *from);
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_passwords_of_every_length() {
        assert_eq!(key(b"password"), *b"password");
        assert_eq!(key(b"pass"), *b"passpass");
        assert_eq!(key(b"abc"), *b"abcabcab");
        assert_eq!(
            key(b"my long password"),
            [0xaa, 0x93, 0x33, 0xab, 0xa9, 0xb3, 0xbc, 0x24]
        );
        assert_eq!(key(b""), [0; 8]);
    }

    #[test]
    fn the_published_vector_of_the_cipher() {
        let cipher = Des::new(&Array([0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef]));
        let mut block = [0x3f, 0xa4, 0x0e, 0x8a, 0x98, 0x4d, 0x48, 0x15];
        decipher(&cipher, &mut block);
        assert_eq!(&block, b"Now is t");
    }
}
