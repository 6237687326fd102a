// The desk: what answers the page in a packet, in the server's place. It keeps every entry in this browser under the
// packet's id (texts never: all local files share one store), and in memory where the browser keeps nothing.

const PACKET_WORK = new Set([...WORK, "submit", "consent"]); // what a ballot is saved for; the rest comes along

class Desk {
  /** `packet`: {data, secret, sha256} as annotation/offline/packets.py made it. */
  constructor({ data, secret, sha256: packet_sha256 }) {
    this.data = data;
    this.signer = { packet_id: data.packet_id, packet_sha256, secret };
    this.prefix = `calipers:${data.packet_id}:`;
    this.items = new Map(data.items.map((item) => [item.aid, item]));
    this.kept = new Map(); // "aid:key" -> entry
    this.stored = true; // false: this browser keeps nothing, only a ballot does
    this.seq = this.number("seq");
    this.look();
    this.changes = this.number("changes"); // rises with every entry of work
    this.balloted = this.number("balloted"); // of them, how many the last ballot holds
  }

  number(name) {
    return Number(storage.get(this.prefix + name)) || 0;
  }

  note(name, value) {
    this.stored = storage.set(this.prefix + name, String(value)) && this.stored;
  }

  /** What this browser keeps, also what another tab of this packet wrote meanwhile. */
  look() {
    const kept = `${this.prefix}kept:`;
    for (const stored of storage.keys(kept)) {
      const entry = keptEntry(stored);
      const key = stored.slice(kept.length);
      if (entry && !((this.kept.get(key)?.seq ?? -1) >= (entry.seq ?? 0))) this.hold(key, entry);
    }
  }

  hold(key, entry) {
    this.kept.set(key, entry);
    this.seq = Math.max(this.seq, entry.seq ?? 0);
  }

  keep(entry) {
    const key = keyOf(entry);
    this.hold(key, entry);
    this.note(`kept:${key}`, JSON.stringify(entry));
  }

  /** The next number of an edit: one count for the packet, so that of two ballots the later one is known. */
  next() {
    this.seq = Math.max(this.seq, this.number("seq")) + 1;
    this.note("seq", this.seq);
    return this.seq;
  }

  changed() {
    this.changes = Math.max(this.changes, this.number("changes")) + 1;
    this.note("changes", this.changes);
  }

  /** Answers like the server: {status, reply}. */
  answer(path, body) {
    const aid = decodeURIComponent(path.split("/").at(-1));
    if (path.startsWith("/api/assignment/")) {
      this.look();
      return { status: 200, reply: this.item(aid) };
    }
    if (path === "/api/labels") return { status: 200, reply: { acks: body.entries.map((entry) => this.take(entry)) } };
    if (path === "/api/submit") return body.outcome === "reopen" ? this.reopen(body) : this.submit(body);
    return { status: 404, reply: {} };
  }

  take(entry) {
    const { kind, aid, criterion, client_uuid, seq } = entry;
    if (this.kept.get(keyOf(entry))?.client_uuid !== client_uuid) {
      const mine = { ...entry };
      if (seq !== undefined) Object.assign(mine, { writer: this.data.packet_id, seq: this.next() });
      if (kind === "label") mine.base_rev = this.items.get(aid).answers[criterion]?.rev ?? 0;
      if (kind === "activity") mine.clock = "client";
      if (kind === "preferences") mine.preferences = { ...this.kept.get(":preferences")?.preferences, ...entry.preferences };
      this.keep(mine);
      if (PACKET_WORK.has(kind)) this.changed();
    }
    return { client_uuid, seq: seq ?? 0, rev: 1 };
  }

  /** Entries of one item whose key begins so. */
  of(aid, kind) {
    return [...this.kept].filter(([key]) => key.startsWith(`${aid}:${kind}`)).map(([, entry]) => entry);
  }

  /** Handed in, and no answer changed since: a ballot of another computer may bring one without the other. */
  submitted(aid) {
    const { seq } = this.kept.get(`${aid}:submit`) ?? {};
    return seq !== undefined && this.of(aid, "label").every((label) => label.seq < seq);
  }

  /** The item as the page wants it, with what was done on it here. */
  item(aid) {
    const item = this.items.get(aid);
    const answers = { ...item.answers };
    for (const { criterion, choice, rationale, evidence, confidence } of this.of(aid, "label"))
      answers[criterion] = { choice, rationale, evidence, confidence, rev: 1 };
    return {
      ...item,
      answers,
      status: this.submitted(aid) ? "submitted" : "taken",
      place: this.kept.get(`${aid}:place`)?.place ?? {},
      preferences: this.kept.get(":preferences")?.preferences ?? item.preferences,
      position: this.position(aid),
      active_s: { item: this.seconds(aid), study: this.aids.reduce((sum, each) => sum + this.seconds(each), 0) },
    };
  }

  get aids() {
    return [...this.items.keys()];
  }

  get done() {
    return this.aids.filter((aid) => this.submitted(aid)).length;
  }

  position(aid) {
    return { done: this.submitted(aid) ? this.done : this.aids.indexOf(aid), of: this.items.size };
  }

  seconds(aid) {
    const intervals = this.of(aid, "activity").flatMap((entry) => entry.intervals);
    return intervals.reduce((sum, { start, end }) => sum + (Date.parse(end) - Date.parse(start)) / 1000, 0);
  }

  /** Complete and begun criteria of an item: {missing: [{criterion, reason}], done, all, begun}. */
  tally(aid) {
    const answers = new Answers(this.item(aid), { entries: new Map() });
    const all = answers.ids.map((id) => ({ criterion: id, reason: answers.missing(id) }));
    const missing = all.filter(({ reason }) => reason);
    return { missing, done: answers.ids.length - missing.length, all: answers.ids.length, begun: answers.begun };
  }

  submit({ aid, page, client_uuid }) {
    const { missing } = this.tally(aid);
    if (missing.length) return { status: 422, reply: { missing } };
    const client_ts = new Date().toISOString();
    this.keep({ kind: "submit", aid, page, client_uuid, client_ts, seq: this.next() });
    this.changed();
    const next = this.after(aid);
    return { status: 200, reply: { next, position: this.position(next ?? aid) } };
  }

  reopen({ aid }) {
    this.kept.delete(`${aid}:submit`);
    storage.remove(`${this.prefix}kept:${aid}:submit`);
    this.changed();
    return { status: 200, reply: { next: aid, position: this.position(aid) } };
  }

  /** The next item that is not handed in, after this one and then from the first. */
  after(aid) {
    const at = this.aids.indexOf(aid);
    const order = [...this.aids.slice(at + 1), ...this.aids.slice(0, at + 1)];
    return order.find((each) => !this.submitted(each)) ?? null;
  }

  /** The item to begin with: the one that was on screen last, or was worked on last elsewhere. */
  get at() {
    const newest = (last, entry) => (entry.aid && (entry.seq ?? 0) > (last?.seq ?? 0) ? entry : last);
    const aid = storage.get(`${this.prefix}at`) ?? this.here ?? [...this.kept.values()].reduce(newest, null)?.aid;
    return this.items.has(aid) ? aid : this.after(this.aids.at(-1));
  }

  /** Whether an item was opened here before. */
  get met() {
    return storage.get(`${this.prefix}at`) !== null;
  }

  set at(aid) {
    this.here = aid;
    this.note("at", aid);
  }

  get agreed() {
    return !this.data.consent?.needed || this.kept.has(":consent");
  }

  agree() {
    const { sha256 } = this.data.consent;
    const client_ts = new Date().toISOString();
    this.keep({ kind: "consent", sha256, client_uuid: randomId(), client_ts });
    this.changed();
  }

  /** Whether there is work that no ballot holds. */
  get due() {
    return this.changes > this.balloted;
  }

  ballot() {
    this.look();
    this.changes = Math.max(this.changes, this.number("changes"));
    this.balloted = this.changes;
    this.note("balloted", this.balloted);
    const left = ({ kind, aid }) => kind === "preferences" || (kind === "submit" && !this.submitted(aid));
    return ballotText(
      this.signer,
      [...this.kept.values()].filter((entry) => !left(entry)),
    );
  }

  /** Take over what a ballot knows better. Returns {taken, newer}: entries it brought, entries newer here. */
  open(text) {
    this.look();
    const { due } = this;
    const count = { taken: 0, newer: 0 };
    for (const entry of readBallot(this.signer, text)) {
      const mine = this.kept.get(keyOf(entry));
      if (mine?.client_uuid === entry.client_uuid) continue;
      const newer = mine && (mine.seq ?? 0) >= (entry.seq ?? 0);
      if (!newer) this.keep(entry);
      if (PACKET_WORK.has(entry.kind)) count[newer ? "newer" : "taken"] += 1;
    }
    this.changed();
    if (!due && !count.newer) this.balloted = this.changes; // that ballot holds all there is
    this.note("balloted", this.balloted);
    return count;
  }
}

/** Under which key the newest of its kind is kept. */
function keyOf({ kind, aid, criterion, client_uuid }) {
  if (kind === "preferences" || kind === "consent") return `:${kind}`;
  const name = { label: `label:${criterion}`, place: "place", submit: "submit" }[kind];
  return `${aid}:${name ?? `${kind}:${client_uuid}`}`;
}
