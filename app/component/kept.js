// What this browser keeps for a person, under keys of ours. What is written to localStorage reaches the disk up to five
// seconds later, what is written to IndexedDB at once: work is in both, for a browser that is killed. What localStorage
// has no room for is in the copies and in this tab's memory.

const COPIED = /:entry:(label:|flag:|comment:|guess$|preferences|place$)|:kept:|:(changes|balloted)$/; // with one's notes and bookmarks; the last of a packet
const COPIES_MS = 4000; // how long copies are waited for; a browser without them has localStorage
const copies = new Promise((done, failed) => {
  const asked = indexedDB.open("calipers");
  asked.onupgradeneeded = () => asked.result.createObjectStore("entries");
  asked.onsuccess = () => done(asked.result);
  asked.onerror = failed;
});

/** What `act` asks of the copies, whatever becomes of the page that asks. */
async function ofCopies(act) {
  const writing = (await copies).transaction("entries", "readwrite");
  const asked = act(writing.objectStore("entries"));
  writing.commit();
  await new Promise((done, failed) => Object.assign(writing, { oncomplete: done, onabort: failed }));
  return asked;
}

const copying = (act) => void ofCopies(act).catch(() => {});

/** What `act` gives, or `otherwise` where the browser allows no storage, or no more of it. */
function allowed(act, otherwise) {
  try {
    return act();
  } catch {
    return otherwise;
  }
}

const inMemory = new Map(); // key -> what localStorage did not take
const storage = {
  get: (key) => inMemory.get(key) ?? allowed(() => localStorage.getItem(key), null),
  set: (key, value) => {
    if (COPIED.test(key)) copying((kept) => kept.put(value, key));
    return storage.hold(key, value);
  },
  /** Without a copy. False where only this tab has it. */
  hold: (key, value) => {
    const isKept = allowed(() => (localStorage.setItem(key, value), true), false);
    if (isKept) inMemory.delete(key);
    else inMemory.set(key, value);
    return isKept;
  },
  remove: (key) => {
    storage.forget(key);
    if (COPIED.test(key)) copying((kept) => kept.delete(key));
  },
  forget: (key) => {
    inMemory.delete(key);
    allowed(() => localStorage.removeItem(key));
  },
  /** Copies too that localStorage knows nothing of: these once it resolves. */
  clear: (prefix) => {
    storage.keys(prefix).forEach(storage.forget);
    return Promise.race([pause(COPIES_MS), ofCopies((kept) => kept.delete(IDBKeyRange.bound(prefix, `${prefix}\uffff`)))]).catch(() => {});
  },
  keys: (prefix) => {
    const all = new Set([...inMemory.keys(), ...allowed(() => Object.keys(localStorage), [])]);
    return [...all].filter((key) => key.startsWith(prefix));
  },
};

/** What was kept as JSON; null for what is none: cut off, or empty. */
const parsed = (text) => allowed(() => JSON.parse(text), null);

/** An entry as this browser kept it, else null. */
function keptEntry(key) {
  const entry = parsed(storage.get(key));
  return entry?.kind ? entry : null;
}

/**
 * Whether `one` was written after `other` under the same key. Entries of one writer have numbers, other entries the time of
 * this computer; of a count the greater is the later.
 */
function isLater(one, other) {
  if (!one?.kind) return typeof one === "number" && !(other >= one);
  if (!other?.kind) return true;
  return one.writer === other.writer && one.seq !== other.seq ? one.seq > other.seq : one.client_ts > other.client_ts;
}

/** Once there is again what was later in the copies. */
const restored = Promise.race([pause(COPIES_MS), ofCopies((kept) => [kept.getAllKeys(), kept.getAll()])])
  .then(([{ result: keys }, { result: texts }]) =>
    keys.forEach((key, n) => {
      if (isLater(parsed(texts[n]), parsed(storage.get(key)))) storage.hold(key, texts[n]);
    }),
  )
  .catch(() => {});
