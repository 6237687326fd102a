// Active time: the gaps between signs of activity while the tab is visible, each cut at the idle limit. Only intervals
// leave the browser, never what was pressed.

const SEND_EVERY_MS = 15_000;
const WORK_MS = 50 * 60_000; // at a screen, after which work-safety authorities advise a break
const REST_MS = 5 * 60_000; // what counts as one
const ACTIVITY_EVENTS = ["keydown", "pointerdown", "pointermove", "wheel", "scroll"];

class Clock {
  /** about() -> criterion id, or null while reading before the first answer; send(intervals). */
  constructor({ root, about, send }) {
    this.about = about;
    this.send = send;
    this.begin(120_000);
    this.restedAt = this.seenAt = Date.now();
    const seen = () => this.seen();
    const { signal } = (this.stop = new AbortController());
    const options = { capture: true, passive: true, signal };
    for (const name of ACTIVITY_EVENTS) root.addEventListener(name, seen, options);
    // not in capture: what follows from a flush must not run before the box has handed on what was typed
    root.addEventListener("input", seen, { passive: true, signal });
    document.addEventListener("selectionchange", seen, options);
  }

  /** Another item: count from nothing. */
  begin(idle) {
    this.idle = idle; // ms
    this.counted = 0; // ms of this item since it was shown here
    this.closed = []; // intervals not yet sent
    this.open = null; // {criterion, start, end}, ms since the epoch
    this.lastSent = Date.now();
  }

  seen(now = Date.now()) {
    if (document.visibilityState !== "visible") return;
    if (now - this.seenAt >= REST_MS) this.restedAt = this.remindedAt = now;
    this.seenAt = now;
    const criterion = this.about();
    if (this.open) {
      const gap = this.extend(now);
      if (gap > this.idle || this.open.criterion !== criterion) this.shut();
    }
    this.open ??= { criterion, start: now, end: now };
    if (now - this.lastSent >= SEND_EVERY_MS) this.flush(now);
  }

  /** Milliseconds since the last rest, where they are many and nothing was said of them for as long; else 0. */
  breakDue(now = Date.now()) {
    if (now - (this.remindedAt ?? this.restedAt) < WORK_MS) return 0;
    this.remindedAt = now;
    return now - this.restedAt;
  }

  /** The gap up to now counts, cut at the idle limit; returns the whole gap. */
  extend(now) {
    const gap = Math.max(0, now - this.open.end);
    const counts = Math.min(gap, this.idle);
    this.open.end += counts;
    this.counted += counts;
    return gap;
  }

  shut() {
    if (this.open && this.open.end > this.open.start) this.closed.push(this.open);
    this.open = null;
  }

  /** Hand over what is complete; the open interval goes on from here. */
  flush(now = Date.now()) {
    const goesOn = this.open && { criterion: this.open.criterion, start: this.open.end, end: this.open.end };
    this.shut();
    this.open = goesOn;
    if (!this.closed.length) return;
    this.lastSent = now;
    this.send(
      this.closed.map(({ criterion, start, end }) => ({
        criterion,
        start: new Date(start).toISOString(),
        end: new Date(end).toISOString(),
      })),
    );
    this.closed = [];
  }

  /** The tab went into the background: time stops at once. */
  hidden(now = Date.now()) {
    if (this.open) this.extend(now);
    this.shut();
    this.flush(now);
  }

  close() {
    this.stop.abort();
  }
}
