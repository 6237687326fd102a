// History: how an answer became what it is. It is asked of the server only where an answer was changed, and folded
// there (annotation/history.py).

class AnswerHistory {
  constructor(page) {
    this.page = page;
    this.told = new Map(); // criterion -> its revisions, oldest first
    this.known = new Map(); // criterion -> the revision that was stored when history was last asked for
    this.choices = new Map(); // criterion -> the choice last stored
    this.button = make("button", { type: "button", class: "history", hidden: true, onclick: () => this.open() });
  }

  arrived(item) {
    for (const map of [this.told, this.known, this.choices]) map.clear();
    for (const [id, { choice }] of Object.entries(item.answers)) this.choices.set(id, choice);
    if (Object.values(item.answers).some(({ rev }) => rev > 1)) this.ask();
  }

  /** A stored edit: another choice is another line of the history, typing shows when the criterion is opened again. */
  accepted({ criterion, choice }, { rev }) {
    const changed = this.choices.has(criterion) && this.choices.get(criterion) !== choice;
    this.choices.set(criterion, choice);
    if (changed && rev > 1) this.ask();
  }

  activate(id) {
    const { rev } = this.page.answers.of(id);
    if (rev > 1 && this.known.get(id) !== rev) this.ask();
  }

  show(id) {
    const n = this.told.get(id)?.length ?? 0;
    this.button.hidden = n < 2;
    this.button.textContent = `History (${n})`;
  }

  /** True when the server answered. */
  async ask() {
    const { page } = this;
    const { item, answers } = page;
    for (const id of answers.ids) this.known.set(id, answers.of(id).rev);
    const { status, reply } = await page
      .request(`/api/history/${encodeURIComponent(item.aid)}`)
      .catch(() => ({ status: 0 }));
    if (status !== 200 || page.item !== item) return false;
    for (const { criterion, revisions } of reply) this.told.set(criterion, revisions);
    if (page.current) this.show(page.current);
    return true;
  }

  async open() {
    const { page } = this;
    const id = page.current;
    const fresh = await this.ask();
    if (page.current !== id) return;
    const revisions = this.told.get(id) ?? [];
    const { label } = page.item.criteria.find((criterion) => criterion.id === id);
    page.dialogs.show(
      `History: ${label}`,
      make(
        "p",
        { class: "soft" },
        fresh
          ? "What is stored of your answer, oldest first. Typing in one sitting is one line."
          : "The newest changes could not be loaded; this is what is known here.",
      ),
      make(
        "table",
        { class: "revisions" },
        make(
          "thead",
          {},
          make("tr", {}, ...["Time", "Before", "After"].map((name) => make("th", { scope: "col" }, name))),
        ),
        make("tbody", {}, ...revisions.map((revision, n) => this.line(revisions[n - 1] ?? null, revision))),
      ),
    );
  }

  line(before, after) {
    const notes = [
      after.reopened && !before?.reopened && "after reopening",
      after.earlier_words && "to earlier words of this criterion",
    ];
    return make(
      "tr",
      {},
      make(
        "th",
        { scope: "row" },
        make("time", { datetime: after.time }, localTime(after.time)),
        ...notes.filter(Boolean).map((text) => make("span", {}, text)),
      ),
      make("td", {}, ...(before ? this.state(before) : [make("span", { class: "soft" }, "nothing")])),
      make("td", {}, ...this.state(after, before)),
    );
  }

  /** Choice, rationale, quotes; a rationale that did not change since `before` is not said again. */
  state({ choice, confidence, rationale, evidence }, before = null) {
    const same = before && rationale && before.rationale === rationale;
    const also = [
      confidence && `confidence ${confidence}`,
      evidence && count(evidence, "quote"),
      same && "same rationale",
    ].filter(Boolean);
    return [
      make("b", {}, this.page.answers.text(choice) ?? "No answer"),
      rationale && !same && make("p", {}, rationale),
      also.length > 0 && make("span", { class: "soft" }, also.join(", ")),
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
