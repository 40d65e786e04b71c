//! The hash by which a page allows its own style sheet and nothing else.

use sha2::{Digest, Sha256};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// `sha256-…` as a content security policy wants it: base64 of the digest.
pub(super) fn of(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let mut encoded = String::from("sha256-");
    for chunk in digest.chunks(3) {
        let bytes = [chunk[0], chunk.get(1).copied().unwrap_or(0), chunk.get(2).copied().unwrap_or(0)];
        let bits = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
        for place in 0..4_usize {
            let letter = match place {
                2 if chunk.len() < 2 => '=',
                3 if chunk.len() < 3 => '=',
                _ => char::from(ALPHABET[usize::try_from(bits >> (18 - 6 * place) & 63).unwrap_or(0)]),
            };
            encoded.push(letter);
        }
    }
    encoded
}
