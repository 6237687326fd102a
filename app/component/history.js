// History: how an answer became what it is. It is asked of the server only where an answer was changed, and folded
// there (annotation/work/history.py).

class AnswerHistory {
  constructor(page) {
    this.page = page;
    this.told = new Map(); // criterion -> its revisions, oldest first
    this.known = new Map(); // criterion -> the revision that was stored when history was last asked for
    this.stored = new Map(); // criterion -> the choice and confidence last stored
    this.button = make("button", { type: "button", class: "history", hidden: true, onclick: () => this.open() });
  }

  arrived(item) {
    for (const map of [this.told, this.known, this.stored]) map.clear();
    const given = [...rowsOf(item)].filter(([, { answer }]) => answer);
    for (const [id, { answer }] of given) this.stored.set(id, { choice: answer.choice, confidence: answer.confidence });
    if (given.some(([, { answer }]) => answer.rev > 1)) this.ask();
  }

  /** A stored edit: another choice or confidence is another line of the history, typing shows when the criterion is
   * opened again. */
  accepted(entry, { rev }) {
    const { choice, confidence } = entry;
    const id = this.page.answers.rowOf(entry);
    const before = this.stored.get(id);
    const unsure = (before?.confidence ?? null) === null; // a first confidence belongs to its answer
    const changed = before && (before.choice !== choice || (!unsure && before.confidence !== confidence));
    this.stored.set(id, { choice, confidence });
    if (changed && rev > 1) this.ask();
  }

  activate(id) {
    const { rev } = this.page.answers.of(id);
    if (rev > 1 && this.known.get(id) !== rev) this.ask();
  }

  show(id) {
    const n = this.told.get(id)?.length ?? 0;
    this.button.hidden = n < 2;
    write(this.button, tell("history.button", { n }));
  }

  /** True when the server answered, and nothing was asked since: an earlier reply may come later. */
  async ask() {
    const { page } = this;
    const asked = (this.asked = {});
    const { item, answers } = page;
    for (const id of answers.ids) this.known.set(id, answers.of(id).rev);
    for (const { aid } of [item, item.beside].filter(Boolean)) {
      const { status, reply } = await page
        .request(`/api/history/${encodeURIComponent(aid)}`)
        .catch(() => ({ status: 0 }));
      if (this.asked !== asked) return false;
      if (status !== 200) this.known.clear(); // asked again when a criterion is opened
      if (status !== 200 || page.item !== item) return false;
      for (const { criterion, revisions } of reply) this.told.set(answers.rowOf({ criterion, aid }), revisions);
    }
    if (page.current) this.show(page.current);
    return true;
  }

  async open() {
    const { page } = this;
    const id = page.current;
    const fresh = await this.ask();
    if (page.current !== id) return;
    const revisions = this.told.get(id) ?? [];
    const { label: asked } = page.item.criteria.find((criterion) => criterion.id === criterionOf(id));
    const label = nameOf(asked, page.answers.rows.get(id).side);
    page.dialogs.show(
      tell("history.title", { label }),
      make(
        "p",
        { class: "soft" },
        tell(fresh ? "history.explain" : "history.not_loaded"),
      ),
      make(
        "table",
        { class: "revisions" },
        make(
          "thead",
          {},
          make("tr", {}, ...["time", "before", "after"].map((name) => make("th", { scope: "col" }, tell(`history.${name}`)))),
        ),
        make("tbody", {}, ...revisions.map((revision, n) => this.line(revisions[n - 1] ?? null, revision))),
      ),
    );
  }

  line(before, after) {
    const notes = [
      after.reopened && !before?.reopened && tell("history.reopened"),
      after.earlier_words && tell("history.earlier_words"),
    ];
    return make(
      "tr",
      {},
      make(
        "th",
        { scope: "row" },
        make("time", { datetime: after.time, dir: "ltr" }, localTime(after.time)),
        ...notes.filter(Boolean).map((text) => make("span", {}, text)),
      ),
      make("td", {}, ...(before ? this.state(before) : [make("span", { class: "soft" }, tell("history.nothing"))])),
      make("td", {}, ...this.state(after, before)),
    );
  }

  /** Choice, rationale, quotes; a rationale that did not change since `before` is not said again. */
  state({ choice, confidence, rationale, evidence }, before = null) {
    const same = before && rationale && before.rationale === rationale;
    const also = [
      confidence && tell("history.confidence", { n: confidence }),
      evidence && tell("history.quotes", { n: evidence }),
      same && tell("history.same_rationale"),
    ].filter(Boolean);
    return [
      make("b", {}, this.page.answers.text(choice) ?? tell("history.no_answer")),
      rationale && !same && make("p", {}, rationale),
      also.length > 0 && make("span", { class: "soft" }, also.reduce(joined)),
    ];
  }
}

/** 2026-11-20 14:05, by the clock of this computer. */
function localTime(iso) {
  const time = new Date(iso);
  const two = (n) => String(n).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}
