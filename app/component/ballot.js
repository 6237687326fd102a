// A ballot: answers as a file in a person's own hands, signed so that the study knows whose they are. Its text is the
// canonical JSON of RFC 8785, which plain/hashes.py writes as well, byte for byte.

const BALLOT = "calipers-ballot/1";
const KEEP_ADDRESS_MS = 60_000; // of a file that is being downloaded

/** `value` as JSON.parse gives it. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value).sort(); // by UTF-16 units, as the standard says
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

const signature = (secret, content) => hmac(fromHex(secret), new TextEncoder().encode(canonical(content)));

/** The text of a ballot. `signer`: {packet_id, packet_sha256, secret}. */
function ballotText({ packet_id, packet_sha256, secret }, entries) {
  const made_at = new Date().toISOString();
  const content = JSON.parse(JSON.stringify({ format: BALLOT, packet_id, packet_sha256, made_at, entries }));
  return `${canonical({ ...content, hmac: signature(secret, content) })}\n`;
}

/** The entries of a ballot that this signer made. Throws a sentence for anything else. */
function readBallot({ packet_id, packet_sha256, secret }, text) {
  let ballot = null;
  try {
    ballot = JSON.parse(text);
  } catch {
    /* said below */
  }
  if (ballot?.format !== BALLOT || !Array.isArray(ballot.entries)) throw new Error(tell("ballot.no_ballot"));
  const { hmac: signed, ...content } = ballot;
  if (content.packet_id !== packet_id || content.packet_sha256 !== packet_sha256)
    throw new Error(tell("ballot.other_packet"));
  if (signature(secret, content) !== signed) throw new Error(tell("ballot.changed"));
  return content.entries;
}

/** 2026-11-20-1405, by the clock of this computer. */
function fileTime(now = new Date()) {
  const two = (n) => String(n).padStart(2, "0");
  const day = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  return `${day}-${two(now.getHours())}${two(now.getMinutes())}`;
}

function download(text, name) {
  const href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  make("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEEP_ADDRESS_MS);
}
