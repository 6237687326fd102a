// The outbox: what the annotator did and the server has not yet acknowledged. An edit is in localStorage before any
// network is touched, and leaves only when the acknowledged edit is still the newest one.

// [ms after the last edit, ms after the first edit not yet sent]
const PACE = { now: [0, 0], text: [600, 5000], place: [2000, 2000], preferences: [300, 1000], activity: [300, 1000] };
const WORK = new Set(["label", "flag", "comment", "guess"]); // what a person would miss; the rest may be dropped
const MAX_ENTRIES = 64;
const MAX_BYTES = 250_000;
const KEEPALIVE_BYTES = 60_000; // the browser allows 64 KiB for requests that outlive their page
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 8000;
const TEXT_GAP_MS = 1000;

class Outbox {
  /**
   * post(path, body, {keepalive}) -> {status, reply}, throws without a connection.
   * changed() after every change of state; accepted(entry, ack) after a stored label; refusedWork(refusal).
   */
  constructor({ person, aid, page, post, changed, accepted, refusedWork }) {
    Object.assign(this, { aid, page, post, changed, accepted, refusedWork });
    this.prefix = `calipers:${person}:${aid}:`;
    this.entries = new Map(); // key -> newest state not acknowledged; an edit replaces the object, never alters it
    this.waits = new Map(); // key -> {first, last, pace}
    this.refused = new Map(); // key -> {entry, code, text, current}
    this.flight = null; // the batch under way
    this.failures = 0;
    this.lastStatus = 200;
    this.trouble = ""; // what the server says is wrong with it
    this.retryAt = 0;
    this.lastText = -Infinity;
    this.limit = MAX_ENTRIES;
    this.stopped = null; // {code, text}: no further attempt from this page
    this.closed = false;
    this.kept = true; // false: localStorage refused, unsaved work lives in this tab only
    this.waiters = [];
    this.seq = Number(storage.get(`${this.prefix}seq`)) || 0;
    for (const key of this.keptKeys) {
      const entry = keptEntry(`${this.prefix}entry:${key}`);
      if (entry) this.entries.set(key, entry);
    }
    for (const [key, entry] of this.entries) {
      this.seq = Math.max(this.seq, entry.seq ?? 0);
      this.waits.set(key, { first: 0, last: 0, pace: "now" });
    }
  }

  get keptKeys() {
    const prefix = `${this.prefix}entry:`;
    return storage.keys(prefix).map((stored) => stored.slice(prefix.length));
  }

  /** Start to write: a read-only tab neither makes a writer's id nor takes out what the other keeps. `stored` are answers. */
  start(stored = []) {
    for (const key of this.keptKeys) if (!this.entries.has(key)) storage.remove(`${this.prefix}entry:${key}`); // cut off, or arrived
    this.writer = (this.seq && storage.get(`${this.prefix}writer`)) || randomId(); // a lost count is a new writer
    // and one that a killed browser wrote down too late goes on from what arrived
    for (const { writer, seq } of stored) if (writer === this.writer) this.seq = Math.max(this.seq, seq);
    this.kept = storage.set(`${this.prefix}writer`, this.writer);
    this.pump();
  }

  put(key, fields, pace = "now") {
    if (this.closed || !this.writer) return;
    const own = fields.kind === "preferences" ? {} : { aid: this.aid, page: this.page }; // unless of the report beside
    const entry = { ...own, ...fields, client_uuid: randomId(), client_ts: new Date().toISOString() };
    if (entry.kind === "label" || entry.kind === "place") {
      this.seq += 1;
      Object.assign(entry, { writer: this.writer, seq: this.seq });
      this.kept = storage.set(`${this.prefix}seq`, String(this.seq)) && this.kept;
    }
    const keep = entry.kind === "place" && pace === "place" ? storage.hold : storage.set; // each scroll makes one: no copy
    this.kept = keep(`${this.prefix}entry:${key}`, JSON.stringify(entry)) && this.kept;
    const now = performance.now();
    const wait = this.waits.get(key);
    const waiting = wait && this.entries.has(key) && !this.flight?.has(key) ? wait : null;
    // a waiting choice stays urgent when text follows it before it could leave
    const urgent = waiting && PACE[waiting.pace][0] < PACE[pace][0];
    this.entries.set(key, entry);
    this.waits.set(key, { first: waiting?.first ?? now, last: now, pace: urgent ? waiting.pace : pace });
    const refusal = this.refused.get(key);
    // while two versions stand side by side, typing goes on in ours and leaves when the person has picked
    if (refusal?.code === "stale" && refusal.current) this.refused.set(key, { ...refusal, entry });
    else this.refused.delete(key);
    if (entry.kind !== "place") this.report(); // nothing is shown of it, and each scroll makes one
    this.pump();
  }

  /** Take one key out unsent (the person chose the stored answer). */
  drop(key) {
    for (const map of [this.entries, this.waits, this.refused]) map.delete(key);
    if (this.writer) storage.remove(`${this.prefix}entry:${key}`);
    this.report();
  }

  get unsaved() {
    return [...this.entries.values()].filter((entry) => WORK.has(entry.kind)).length;
  }

  /** saved | saving | offline | refused, for one key or for all work. */
  state(key) {
    if (key === undefined ? !this.unsaved : !this.entries.has(key)) return "saved";
    if (this.stopped || (key === undefined ? this.refused.size : this.refused.has(key))) return "refused";
    return this.failures ? "offline" : "saving";
  }

  due(key) {
    const { first, last, pace } = this.waits.get(key);
    const at = Math.min(last + PACE[pace][0], first + PACE[pace][1]);
    return pace === "text" ? Math.max(at, this.lastText + TEXT_GAP_MS) : at;
  }

  pump() {
    clearTimeout(this.timer);
    if (this.flight || this.stopped || this.closed || !this.writer) return;
    const now = performance.now();
    const batch = new Map();
    let soonest = Infinity;
    for (const [key, entry] of this.entries) {
      if (this.refused.has(key)) continue;
      const at = Math.max(this.due(key), this.retryAt);
      if (at <= now) batch.set(key, entry);
      else soonest = Math.min(soonest, at);
    }
    if (batch.size) this.send(this.cut(batch, this.limit, MAX_BYTES));
    else if (soonest < Infinity) this.timer = setTimeout(() => this.pump(), soonest - now);
  }

  cut(batch, most, bytes) {
    const fits = new Map();
    let size = 20;
    for (const [key, entry] of batch) {
      size += new TextEncoder().encode(JSON.stringify(entry)).length + 1;
      if (fits.size && (size > bytes || fits.size >= most)) break;
      fits.set(key, entry);
    }
    return fits;
  }

  async send(batch) {
    this.flight = batch;
    if ([...batch.keys()].some((key) => this.waits.get(key).pace === "text")) this.lastText = performance.now();
    this.report();
    let status = 0;
    let reply = {};
    try {
      ({ status, reply } = await this.post("/api/labels", { entries: [...batch.values()] }, {}));
    } catch {
      /* status 0: no connection, or no answer in time */
    }
    this.flight = null;
    if (this.closed) return;
    this.lastStatus = status;
    this.trouble = status >= 500 ? (reply.text ?? "") : "";
    if (status === 200) this.settle(batch, reply);
    else if (status === 413 || status === 422) this.isolate(batch, reply);
    else if (status === 401 || status === 403 || status === 409)
      this.stopped = { code: reply.code, status, text: reply.text };
    else this.retry(batch);
    this.report();
    this.pump();
  }

  retry(batch) {
    this.failures += 1;
    this.retryAt = performance.now() + Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.failures - 1));
    for (const key of batch.keys()) if (this.entries.has(key)) this.waits.set(key, { first: 0, last: 0, pace: "now" });
  }

  /** A refused request is sent again entry by entry, so that one bad entry holds up no other. */
  isolate(batch, reply) {
    if (batch.size > 1) {
      this.limit = 1;
      return;
    }
    for (const [key, entry] of batch) this.refuse(key, entry, { code: reply.code ?? "invalid", text: reply.text });
  }

  settle(batch, reply) {
    this.failures = 0;
    this.retryAt = 0;
    const keys = new Map([...batch].map(([key, entry]) => [entry.client_uuid, key]));
    for (const ack of reply.acks ?? []) {
      const key = keys.get(ack.client_uuid);
      if (key === undefined) continue;
      keys.delete(ack.client_uuid);
      const sent = batch.get(key);
      const newest = this.entries.get(key);
      if (sent.kind === "label") this.accepted(sent, ack);
      if (newest === sent && (sent.seq === undefined || ack.seq === sent.seq)) this.drop(key);
      else if (newest?.kind === "label") {
        newest.base_rev = ack.rev; // the newer edit now builds on our own revision
        storage.set(`${this.prefix}entry:${key}`, JSON.stringify(newest));
      }
    }
    for (const refusal of reply.refused ?? []) {
      const key = keys.get(refusal.client_uuid);
      if (key === undefined) continue;
      keys.delete(refusal.client_uuid);
      this.refuse(key, batch.get(key), refusal);
    }
    if (keys.size) this.retry(new Map([...keys.values()].map((key) => [key, batch.get(key)]))); // neither yes nor no
    if (!this.entries.size) this.limit = MAX_ENTRIES;
  }

  refuse(key, sent, { code, text, current }) {
    if (!WORK.has(sent.kind)) {
      if (this.entries.get(key) === sent) this.drop(key);
      return;
    }
    // stale counts for a newer edit as well: it was made without sight of the stored answer
    if (code !== "stale" && this.entries.get(key) !== sent) return;
    const refusal = { entry: this.entries.get(key), code, text, current };
    this.refused.set(key, refusal);
    this.refusedWork(refusal);
  }

  /** Send what waits without further pause: all of it, or only the text just left. */
  flush(pace = null) {
    for (const [key, wait] of this.waits) {
      if (pace === null || wait.pace === pace) this.waits.set(key, { ...wait, pace: "now" });
    }
    this.pump();
  }

  again() {
    this.retryAt = 0;
    this.flush();
  }

  /** The page is going away: one request that outlives it, with whatever fits; the rest stays in localStorage. */
  farewell() {
    if (this.closed || this.stopped || !this.writer || !this.entries.size) return;
    const batch = this.cut(this.entries, MAX_ENTRIES, KEEPALIVE_BYTES);
    this.post("/api/labels", { entries: [...batch.values()] }, { keepalive: true })
      .then(({ status, reply }) => {
        if (status === 200 && !this.closed) this.settle(batch, reply);
        this.report();
      })
      .catch(() => {});
  }

  /** Resolves to saved | offline | refused as soon as that is known. */
  drained() {
    this.again();
    return new Promise((done) => {
      this.waiters.push({ done, failures: this.failures });
      this.report();
    });
  }

  report() {
    this.waiters = this.waiters.filter(({ done, failures }) => {
      if (this.stopped || this.refused.size) done("refused");
      else if (!this.entries.size) done("saved");
      else if (this.failures > failures) done("offline");
      else return true;
      return false;
    });
    this.changed();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    for (const { done } of this.waiters) done("refused");
    this.waiters = [];
  }

  /** After a confirmed submit or logout: nothing of this item stays on a shared computer. */
  clear() {
    this.close();
    this.entries.clear();
    storage.clear(this.prefix);
  }
}
