// The answers of one item: what the person sees of each criterion, what is missing, and every edit's way into the outbox.

class Answers {
  constructor(item, outbox) {
    this.item = item;
    this.outbox = outbox;
    this.rule = item.rationale ?? { required: false, min_length: 0 };
    this.asked = new Set(); // criteria that a refused submit named
    const blank = { choice: null, rationale: "", evidence: [], confidence: null, rev: 0 };
    this.all = new Map(item.criteria.map(({ id }) => [id, { ...blank, ...item.answers[id] }]));
    for (const { kind, criterion, choice, rationale, evidence, confidence } of outbox.entries.values()) {
      if (kind === "label" && this.all.has(criterion))
        Object.assign(this.all.get(criterion), { choice, rationale, evidence, confidence });
    }
    this.begun = [...this.all.values()].some(({ choice, rationale }) => choice !== null || rationale);
  }

  get ids() {
    return [...this.all.keys()];
  }

  of(id) {
    return this.all.get(id);
  }

  text(choice) {
    return this.item.choices.find(({ id }) => id === choice)?.text ?? choice; // a score is its own text
  }

  /** no_choice | no_rationale | short_rationale | null, by the server's rules; the server decides again at submit. */
  missing(id) {
    const { choice, rationale } = this.of(id);
    if (choice === null) return "no_choice";
    if (!this.rule.required) return null;
    const length = [...rationale.trim()].length;
    if (!length) return "no_rationale";
    return length < this.rule.min_length ? "short_rationale" : null;
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
    return [this.ids.filter((id) => !this.missing(id)).length, this.all.size];
  }

  describe(id) {
    const { choice } = this.of(id);
    const missing = this.missing(id);
    const words = { no_choice: "choose", no_rationale: "say why", short_rationale: "say more" };
    return {
      answer: this.text(choice),
      done: missing === null ? "yes" : choice === null ? "no" : "part",
      need: this.conflict(id) ? "two versions" : this.asked.has(id) && missing ? words[missing] : null,
      save: this.outbox.state(`label:${id}`),
    };
  }

  /** Always the whole state of one criterion, so that no merged or repeated entry can drop half an answer. */
  edit(id, change, pace) {
    const answer = Object.assign(this.of(id), change);
    const { choice, rationale, confidence, rev } = answer;
    const evidence = answer.evidence.map(({ side, start, end, quote }) => ({ side, start, end, quote }));
    this.begun = true;
    this.outbox.put(
      `label:${id}`,
      { kind: "label", criterion: id, choice, rationale, evidence, confidence, base_rev: rev },
      pace,
    );
  }

  accepted(entry, { rev }) {
    const answer = this.of(entry.criterion);
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

  /** Revisions of what is stored, for the server to compare at submit. */
  revs() {
    return Object.fromEntries([...this.all].filter(([, { rev }]) => rev > 0).map(([id, { rev }]) => [id, rev]));
  }
}
