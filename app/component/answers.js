// The answers of one item: what the person sees of each criterion, what is missing, and every edit's way into the outbox.

class Answers {
  constructor(item, outbox) {
    this.item = item;
    this.outbox = outbox;
    this.rule = item.rationale ?? { required: false, min_length: 0 };
    this.asked = new Set(); // criteria that a refused submit named
    const blank = { choice: null, rationale: "", evidence: [], confidence: null, rev: 0 };
    this.rows = rowsOf(item);
    this.all = new Map([...this.rows].map(([id, { answer }]) => [id, { ...blank, ...answer }]));
    for (const entry of outbox.entries.values()) {
      const id = entry.kind === "label" ? this.rowOf(entry) : null;
      const { choice, rationale, evidence, confidence } = entry;
      if (!id) continue;
      const stored = this.of(id);
      if (isOutdated(entry, stored)) outbox.drop(`label:${id}`);
      else Object.assign(stored, { choice, rationale, evidence, confidence });
    }
    this.begun = [...this.all.values()].some(({ choice, rationale }) => choice !== null || rationale);
  }

  get ids() {
    return [...this.all.keys()];
  }

  of(id) {
    return this.all.get(id);
  }

  /** The rows that ask this criterion: one, or one of each report. */
  rowsOf(criterion) {
    return this.ids.filter((id) => criterionOf(id) === criterion);
  }

  /** The row of {criterion, aid}; of a criterion alone, or of a row, the first one open; null where it is not asked. */
  rowOf(what) {
    if (this.all.has(what)) return what;
    const { criterion, aid } = typeof what === "object" && what !== null ? what : { criterion: what };
    const rows = this.rowsOf(criterion).filter((id) => !aid || this.rows.get(id).aid === aid);
    return rows.find((id) => this.missing(id) || this.conflict(id)) ?? rows[0] ?? null;
  }

  /** The other report's row of the same criterion while that is open, else null. */
  openBeside(id) {
    return this.rowsOf(criterionOf(id)).find((one) => one !== id && this.missing(one)) ?? null;
  }

  text(choice) {
    const found = this.item.choices.find(({ id }) => id === choice);
    return found ? choiceText(this.item, found) : choice; // a score is its own text
  }

  /** no_choice | no_rationale | short_rationale | null, by the server's rules; the server decides again at submit. */
  missing(id) {
    const { choice, rationale } = this.of(id);
    if (choice === null) return "no_choice";
    if (!this.rule.required) return null;
    const length = typedLength(rationale);
    if (!length) return "no_rationale";
    return length < this.rule.min_length ? "short_rationale" : null;
  }

  /** Begun, and something is missing. */
  isPart(id) {
    const { choice, rationale } = this.of(id);
    return this.missing(id) !== null && (choice !== null || typedLength(rationale) > 0);
  }

  /** The refusal of a `stale` edit: {entry, current}, both shown until the person picks. */
  conflict(id) {
    const refusal = this.outbox.refused.get(`label:${id}`);
    return refusal?.code === "stale" && refusal.current ? refusal : null;
  }

  nextOpen(from) {
    const at = this.ids.indexOf(from);
    const order = [...this.ids.slice(at + 1), ...this.ids.slice(0, at + 1)];
    return order.find((id) => this.missing(id) || this.conflict(id)) ?? null;
  }

  tally() {
    const { criteria } = this.item;
    return [criteria.filter(({ id }) => !this.rowsOf(id).some((row) => this.missing(row))).length, criteria.length];
  }

  /** Of a row, or of a criterion with all its rows. */
  describe(id) {
    const rows = this.all.has(id) ? [id] : this.rowsOf(id);
    return combined(rows.map((row) => ({ side: this.rows.get(row).side, now: this.describeRow(row) })));
  }

  describeRow(id) {
    const { choice } = this.of(id);
    const missing = this.missing(id);
    const words = { no_choice: "list.choose", no_rationale: "list.say_why", short_rationale: "list.say_more" };
    return {
      answer: this.text(choice),
      done: missing === null ? "yes" : this.isPart(id) ? "part" : "no",
      lacks: this.isPart(id) ? tell(words[missing]) : null,
      need: this.conflict(id) ? tell("list.two_versions") : this.asked.has(id) && missing ? tell(words[missing]) : null,
      save: this.outbox.state(`label:${id}`),
    };
  }

  /** Always the whole state of one criterion, so that no merged or repeated entry can drop half an answer. */
  edit(id, change, pace) {
    const answer = Object.assign(this.of(id), change);
    const { choice, rationale, confidence, rev } = answer;
    const evidence = answer.evidence.map(({ side, start, end, quote }) => ({ side, start, end, quote }));
    this.begun = true;
    const { criterion, aid, page } = this.rows.get(id);
    this.outbox.put(
      `label:${id}`,
      { kind: "label", aid, page, criterion, choice, rationale, evidence, confidence, base_rev: rev },
      pace,
    );
  }

  accepted(entry, { rev }) {
    const answer = this.of(this.rowOf(entry));
    if (answer) answer.rev = rev;
  }

  resolve(id, which) {
    const { entry, current } = this.conflict(id);
    const { choice, rationale, evidence, confidence } = which === "mine" ? entry : current;
    this.outbox.drop(`label:${id}`);
    const change = { choice, rationale: rationale ?? "", evidence, confidence: confidence ?? null };
    Object.assign(this.of(id), change, { rev: current.rev });
    if (which === "mine") this.edit(id, change, "now");
  }

  /** Revisions of what is stored of one report, for the server to compare at submit. */
  revs(aid) {
    const stored = [...this.rows].filter(([id, row]) => row.aid === aid && this.of(id).rev > 0);
    return Object.fromEntries(stored.map(([id, { criterion }]) => [criterion, this.of(id).rev]));
  }
}

/** Whether its own page sent a later one, or this one, which a browser that was killed did not know any more. */
const isOutdated = ({ writer, seq }, stored) => writer === stored?.writer && seq <= stored?.seq;

/** An answer's words: the study's own for a probe, the catalogue's for the answers that every study has. */
const choiceText = ({ task_type }, { id, text }) =>
  isTold(`choice.${id}`) && (task_type !== "probe_label" || id === "not_applicable") ? tell(`choice.${id}`) : text;
