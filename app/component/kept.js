// What this browser keeps for a person: localStorage that never throws, and the entries read back from it.

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
      return true;
    } catch {
      return false;
    }
  },
  remove: (key) => {
    try {
      localStorage.removeItem(key);
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
