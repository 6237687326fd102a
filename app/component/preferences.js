// How a person likes the page: kept on the server, so that it follows to another machine, and here for the first paint.

const PREFERENCES = { font: 16, theme: "system", form: "auto", sync: "off", keys: true, pace: false, letters: {} };
const FONT_SIZES = [14, 15, 16, 17, 18, 20, 22];
const THEMES = ["system", "light", "dark"];
const FORMS = ["auto", "right", "bottom"];
const SYNCS = ["off", "proportional", "matching"];

class Preferences {
  /** apply(values) after every change; keep(change) when the person made it. `notes` are theirs to themselves. */
  constructor({ apply, keep }) {
    Object.assign(this, { apply, keep, values: { ...PREFERENCES }, notes: "" });
  }

  set({ notes = this.notes, ...change }) {
    this.notes = notes;
    Object.assign(this.values, change);
    this.apply(this.values);
  }

  /** What this browser remembers, until the server has said what holds. */
  recall(person) {
    this.key = `calipers:${person}:preferences`;
    try {
      this.set(JSON.parse(storage.get(this.key) ?? "{}"));
    } catch {
      this.forget();
    }
  }

  forget() {
    storage.remove(this.key);
  }

  choose(change) {
    this.set(change);
    storage.set(this.key, JSON.stringify(this.values));
    this.keep(change);
  }

  /** Not in what this browser remembers, which others may use. */
  write(notes) {
    this.notes = notes;
    this.keep({ notes });
  }

  font(by) {
    const at = FONT_SIZES.indexOf(this.values.font);
    const next = (at < 0 ? FONT_SIZES.indexOf(PREFERENCES.font) : at) + by;
    this.choose({ font: FONT_SIZES[Math.min(FONT_SIZES.length - 1, Math.max(0, next))] });
  }

  /** The value after this one of "theme", "form" or "sync". */
  next(name) {
    const order = { theme: THEMES, form: FORMS, sync: SYNCS }[name];
    this.choose({ [name]: order[(order.indexOf(this.values[name]) + 1) % order.length] });
  }
}
