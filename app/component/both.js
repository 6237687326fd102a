// Two reports rated in one view: every criterion is asked of each. What one answers is then a row, "left:" or "right:"
// before the criterion's id; each row has its own answer, rationale and place on the server. Elsewhere a row is the
// criterion itself.

const criterionOf = (row) => row?.replace(/^(?:left|right):/, "");
const sideOf = (row) => (row?.includes(":") ? row.slice(0, row.indexOf(":")) : null);

/** row -> {criterion, side, aid, page, answer}: what a page asks, in its order, and where an answer to it goes. */
function rowsOf(item) {
  const { beside } = item;
  const parts = beside ? [["left:", item], ["right:", beside]] : [["", item]]; // the page's own report stands left
  return new Map(
    item.criteria.flatMap(({ id }) =>
      parts.map(([side, { aid, page, answers }]) => [
        side + id,
        { criterion: id, side: sideOf(side + id) ?? item.rates, aid, page, answer: answers[id] },
      ]),
    ),
  );
}

/** "Clear", or "Left report: Clear" where two are rated. */
const nameOf = (label, side) => (side ? tell("both.of", { report: tell(`pane.${side}_region`), label }) : label);

/** Active time is kept by the report it was spent on; that of reading by the page's own. */
function spent({ answers, outbox, item }, intervals) {
  const about = ({ criterion }) => answers.rows.get(criterion)?.aid ?? item.aid;
  for (const { aid, page } of [item, item.beside].filter(Boolean)) {
    const here = intervals.filter((one) => about(one) === aid);
    const times = here.map((one) => ({ ...one, criterion: criterionOf(one.criterion) ?? null }));
    if (times.length) outbox.put(`activity:${randomId()}`, { kind: "activity", aid, page, intervals: times }, "activity");
  }
}

/** One answer of several rows, for the list: "7 · 4". */
function combined(rows) {
  if (rows.length === 1) return rows[0].now;
  const given = rows.map(({ now }) => now.answer);
  const is = (done) => rows.every(({ now }) => now.done === done);
  const told = rows.map(({ side, now }) =>
    tell("both.said", { report: tell(`pane.${side}`), answer: now.answer ?? tell("list.no_answer") }),
  );
  return {
    answer: given.some((one) => one !== null) ? given.map((one) => one ?? "–").join(" · ") : null,
    told: told.reduce(joined),
    done: is("yes") ? "yes" : is("no") ? "no" : "part",
    lacks: rows.find(({ now }) => now.lacks)?.now.lacks ?? null,
    need: rows.find(({ now }) => now.need)?.now.need ?? null,
    save: rows.find(({ now }) => now.save !== "saved")?.now.save ?? "saved",
  };
}

/** The scores of the open criterion, one row a report; it stands in for `Scores`, whose keys go to the open row. */
class ScoreRows {
  constructor(page) {
    this.page = page;
    this.rows = [1, 2].map((n) => this.row(n));
    this.anchors = this.rows[0].scores.anchors;
    this.root = make("div", { class: "score-rows", hidden: true }, ...this.rows.map(({ root }) => root), this.anchors);
  }

  row(n) {
    const { page } = this;
    const row = { id: null };
    const here = (act) => (row.id === page.current || page.go(row.id), act());
    row.scores = new Scores(
      {
        choose: (value, by) => here(() => page.choose(value, by)),
        onward: () => here(() => page.onward()),
        mayEdit: (id) => page.mayEdit(id),
        get item() {
          return page.item;
        },
        get form() {
          return page.form;
        },
        get outbox() {
          return page.outbox;
        },
      },
      { tag: `-${n}`, meaning: "anchors-1" },
    );
    row.name = make("span", { class: "score-row-name", "aria-hidden": "true" });
    row.scores.anchors.remove(); // they stand once, below both
    row.scores.root.hidden = false;
    row.root = make("div", { class: "score-row" }, row.name, row.scores.root);
    row.root.addEventListener("focusin", () => row.id && here(() => {}));
    return row;
  }

  get active() {
    return this.rows.find(({ id }) => id === this.page.current) ?? this.rows[0];
  }

  get field() {
    const { field } = this.active.scores;
    return { input: field.input, arrived: () => this.arrived() };
  }

  arrived() {
    this.asked = null;
    for (const { scores } of this.rows) scores.field.arrived();
  }

  /** The open row alone changes where the criterion stays: a button that is being pressed must not be made anew. */
  ask(criterion, also) {
    const rows = this.page.answers.rowsOf(criterion.id);
    if (this.asked !== criterion.id) {
      this.rows.forEach((row, n) => {
        row.id = rows[n] ?? null;
        row.root.hidden = !row.id;
        if (!row.id) return;
        const { side } = this.page.answers.rows.get(row.id);
        row.name.textContent = tell(`pane.${side}`);
        row.scores.ask({ ...criterion, id: row.id, named: nameOf(criterion.named, side) }, also);
      });
      this.asked = criterion.id;
    }
    for (const row of this.rows) row.root.classList.toggle("active", row === this.active && rows.length > 1);
    this.intoView(this.active.root);
  }

  /** scrollIntoView would also move the panes and the document. */
  intoView(row) {
    const form = this.root.closest(".ask");
    const below = row.getBoundingClientRect().bottom - form.getBoundingClientRect().bottom;
    if (below > 0) form.scrollTop += below + 4;
  }

  mark(value, fixed) {
    for (const { id, scores } of this.rows) if (id) scores.mark(this.page.answers.of(id).choice, fixed);
    for (const anchor of this.anchors.children) anchor.classList.toggle("chosen", isAt(anchor.dataset.at, value));
  }

  focus() {
    this.active.scores.focus();
  }

  type(key) {
    this.active.scores.type(key);
  }

  get typed() {
    return this.active.scores.typed;
  }

  continuedBy(key) {
    return this.active.scores.continuedBy(key);
  }

  settle() {
    this.active.scores.settle();
  }
}
