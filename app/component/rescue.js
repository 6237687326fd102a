// The emergency exit: what has waited too long to reach the server, as a file in the person's own hands.

const RESCUE_AFTER_MS = 60_000;

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
    downloadUnsaved(data.rescue, [...outbox.entries.values(), ...elsewhere]);
  }
}

/** Everything of this person that waits in this browser, of whichever item. */
function keptEntries(person) {
  const kept = storage.keys(`calipers:${person}:`).filter((key) => key.includes(":entry:"));
  return kept.map(keptEntry).filter(Boolean);
}

/** As a ballot that the study's admin can hand in. `rescue`: {packet_id, packet_sha256, secret} of this sign-in. */
function downloadUnsaved(rescue, entries) {
  const work = entries.filter(({ kind }) => kind !== "preferences");
  download(ballotText(rescue, work), `unsaved-${fileTime()}.json`);
}
