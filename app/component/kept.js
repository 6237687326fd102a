// What this browser keeps for a person: localStorage that never throws, and the entries read back from it. What is written
// there reaches the disk up to five seconds later, what is written to IndexedDB at once: work is in both, for a browser that
// is killed.

const COPIED = /:entry:(label|flag|comment):/;
const COPIES_MS = 1000; // how long copies are waited for; a browser without them has localStorage
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

/** Once localStorage has again what was newer in the copies. */
const restored = Promise.race([pause(COPIES_MS), ofCopies((kept) => [kept.getAllKeys(), kept.getAll()])])
  .then(([{ result: keys }, { result: texts }]) =>
    keys.forEach((key, n) => {
      const mine = keptEntry(key);
      if (!mine || mine.seq < JSON.parse(texts[n]).seq) localStorage.setItem(key, texts[n]);
    }),
  )
  .catch(() => {});

const storage = {
  get: (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  },
  set: (key, value) => {
    try {
      localStorage.setItem(key, value);
      if (COPIED.test(key)) ofCopies((kept) => kept.put(value, key)).catch(() => {});
      return true;
    } catch {
      return false;
    }
  },
  remove: (key) => {
    try {
      localStorage.removeItem(key);
      if (COPIED.test(key)) ofCopies((kept) => kept.delete(key)).catch(() => {});
    } catch {
      /* nothing was kept */
    }
  },
  keys: (prefix) => {
    try {
      return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
    } catch {
      return [];
    }
  },
};

/** An entry as this browser kept it; null for what is none: cut off, or empty. */
function keptEntry(key) {
  try {
    const entry = JSON.parse(storage.get(key));
    return entry?.kind ? entry : null;
  } catch {
    return null;
  }
}
