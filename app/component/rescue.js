// The emergency exit: what has waited too long to reach the server, as a file in the person's own hands.

const RESCUE_AFTER_MS = 60_000;
const UNSAVED_ABOUT =
  "Answers that had not reached the server when this file was made, exactly as the page would send them. Keep the " +
  "page open: it goes on trying, and what has arrived by then is not stored twice. This version of calipers cannot " +
  "read the file back yet; give it to the study's owner.";

/** How long an item's work has waited without one answer arriving, and what can be done about it. */
class Rescue {
  constructor(page) {
    this.page = page;
    this.since = null;
  }

  /** After every change of the outbox. */
  changed() {
    if (!this.page.outbox.unsaved) this.moved();
    else if (this.since === null) {
      this.since = performance.now();
      this.timer = setTimeout(() => this.page.refresh(), RESCUE_AFTER_MS);
    }
  }

  /** Something arrived: whatever still waits has not waited long. */
  moved() {
    clearTimeout(this.timer);
    this.since = null;
  }

  get offered() {
    const { outbox, closedBy, turn } = this.page;
    if (!outbox.unsaved || !turn.mine) return false;
    const refused = [...outbox.refused.values()].some(({ code, current }) => code !== "stale" || !current);
    const late = this.since !== null && performance.now() - this.since >= RESCUE_AFTER_MS;
    return Boolean(outbox.stopped || closedBy || refused || late);
  }

  download() {
    const { outbox, data } = this.page;
    const elsewhere = keptEntries(data.person).filter(({ aid }) => aid && aid !== outbox.aid);
    downloadUnsaved([...outbox.entries.values(), ...elsewhere]);
  }
}

/** Everything of this person that waits in this browser, of whichever item. */
function keptEntries(person) {
  const kept = storage.keys(`calipers:${person}:`).filter((key) => key.includes(":entry:"));
  return kept.map(keptEntry).filter(Boolean);
}

function downloadUnsaved(entries) {
  const made_at = new Date().toISOString();
  const content = JSON.stringify({ format: "calipers-unsaved/1", about: UNSAVED_ABOUT, made_at, entries }, null, 2);
  const href = URL.createObjectURL(new Blob([content], { type: "application/json" }));
  make("a", { href, download: `calipers-unsaved-${made_at.slice(0, 10)}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(href), RESCUE_AFTER_MS);
}
