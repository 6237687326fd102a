// HMAC-SHA256 (RFC 2104, FIPS 180-4), which signs ballots. Not crypto.subtle: plain http, where laboratories run this,
// has none, and a file must be signed in the moment it is asked for, also while the page goes away.

// prettier-ignore
const ROUND = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];
// prettier-ignore
const START = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];
const BLOCK = 64; // bytes

const turned = (word, by) => (word >>> by) | (word << (32 - by));

/** 32 bytes of `bytes`, both Uint8Array. */
function sha256(bytes) {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, (bytes.length * 8) >>> 0);
  const state = Uint32Array.from(START);
  const words = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += BLOCK) {
    for (let n = 0; n < 16; n += 1) words[n] = view.getUint32(at + 4 * n);
    for (let n = 16; n < 64; n += 1) {
      const [w15, w2] = [words[n - 15], words[n - 2]];
      const s0 = turned(w15, 7) ^ turned(w15, 18) ^ (w15 >>> 3);
      const s1 = turned(w2, 17) ^ turned(w2, 19) ^ (w2 >>> 10);
      words[n] = words[n - 16] + s0 + words[n - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let n = 0; n < 64; n += 1) {
      const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
      const one = (h + s1 + ((e & f) ^ (~e & g)) + ROUND[n] + words[n]) | 0;
      const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
      const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    for (const [n, word] of [a, b, c, d, e, f, g, h].entries()) state[n] += word;
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (const [n, word] of state.entries()) digest.setUint32(4 * n, word);
  return new Uint8Array(digest.buffer);
}

/** HMAC-SHA256 of `bytes` under `key`, as lowercase hex. */
function hmac(key, bytes) {
  const block = new Uint8Array(BLOCK);
  block.set(key.length > BLOCK ? sha256(key) : key);
  const keyed = (pad, rest) => {
    const joined = new Uint8Array(BLOCK + rest.length);
    joined.set(block.map((byte) => byte ^ pad));
    joined.set(rest, BLOCK);
    return sha256(joined);
  };
  return toHex(keyed(0x5c, keyed(0x36, bytes)));
}

const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
