// The list of criteria: groups with counts, one line each with its answer, one tab stop for all.

class CriteriaList {
  /** open(id) when a line is chosen; describe(id) -> {answer, done: no|part|yes, lacks, need, save}; `need` is shown, `lacks` told. */
  constructor({ root, open, describe }) {
    this.root = root;
    this.open = open;
    this.describe = describe;
    this.rows = new Map();
    this.groups = [];
    root.addEventListener("keydown", (event) => this.arrows(event));
    new ResizeObserver(() => this.intoView(this.rows.get(this.active)?.button)).observe(root); // a growing rationale takes room
  }

  show(criteria) {
    this.rows.clear();
    this.groups = [];
    for (const criterion of criteria) {
      const name = [criterion.category, criterion.subcategory].filter(Boolean).join(" / ") || tell("list.criteria");
      let group = this.groups.at(-1);
      if (group?.name !== name) this.groups.push((group = this.group(name, criterion)));
      group.ids.push(criterion.id);
      group.items.append(this.row(criterion));
    }
    this.root.replaceChildren(...this.groups.map((group) => group.node));
  }

  group(name, { category, subcategory }) {
    const tally = make("span", { class: "tally" });
    const items = make("ul");
    const words = subcategory
      ? [make("span", { class: "category" }, category), " ", subcategory]
      : [category || tell("list.criteria")];
    const node = make(
      "div",
      { class: "group", role: "group", "aria-label": name },
      make("h3", {}, make("span", { class: "group-name" }, ...words), tally),
      items,
    );
    return { name, node, items, tally, ids: [] };
  }

  row({ id, label }) {
    const answer = make("span", { class: "answer" });
    const need = make("span", { class: "need" });
    const mark = make("span", { class: "mark" }, icon("check"));
    const button = make(
      "button",
      { type: "button", class: "row", tabindex: -1, title: label, onclick: () => this.open(id) },
      mark,
      make("span", { class: "row-label" }, make("bdi", {}, label)),
      ...[" ", answer, " ", need], // in the words and the order of its name
    );
    this.rows.set(id, { button, answer, need, label });
    return make("li", {}, button);
  }

  refresh() {
    for (const group of this.groups) {
      const done = group.ids.filter((id) => this.refreshRow(id) === "yes").length;
      group.tally.textContent = `${done}/${group.ids.length}`;
      group.node.dataset.done = done === group.ids.length ? "yes" : "no";
    }
  }

  refreshRow(id) {
    const row = this.rows.get(id);
    const now = this.describe(id);
    const parts = [now.told ?? now.answer ?? (now.need ? null : tell("list.no_answer")), now.need ?? now.lacks, now.save === "saved" ? null : tell(`save.${now.save}`)];
    const told = tell("list.row", { label: row.label, state: parts.filter(Boolean).reduce(joined) });
    if (row.told === `${now.done} ${told}`) return now.done; // thousands of needless changes while somebody types
    row.told = `${now.done} ${told}`;
    row.button.dataset.done = now.done;
    row.button.dataset.save = now.save;
    row.button.setAttribute("aria-label", told);
    write(row.answer, now.answer ?? "");
    write(row.need, now.need ?? "");
    return now.done;
  }

  /** Show only what a refused submit asked for; null shows all again. */
  filter(rows) {
    const ids = rows && new Set([...rows].map(criterionOf));
    for (const [id, { button }] of this.rows) button.parentElement.hidden = ids !== null && !ids.has(id);
    for (const group of this.groups) group.node.hidden = ids !== null && !group.ids.some((id) => ids.has(id));
  }

  activate(row) {
    const id = (this.active = criterionOf(row));
    for (const [each, { button }] of this.rows) {
      button.tabIndex = each === id ? 0 : -1;
      if (each === id) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    this.intoView(this.rows.get(id)?.button);
  }

  /** scrollIntoView would also move the panes and the document. */
  intoView(button) {
    if (!button) return;
    const row = button.getBoundingClientRect();
    const box = this.root.getBoundingClientRect();
    const head = 32; // the group's name sticks to the top
    const below = Math.min(28, box.height / 4); // a glimpse of what comes next
    if (row.top < box.top + head) this.root.scrollTop -= box.top + head - row.top;
    else if (row.bottom > box.bottom - below) this.root.scrollTop += row.bottom - box.bottom + below;
  }

  arrows(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const buttons = [...this.rows.values()]
      .map(({ button }) => button)
      .filter((button) => !button.parentElement.hidden);
    const at = buttons.indexOf(event.composedPath()[0]);
    if (!step || at < 0) return;
    event.preventDefault();
    const next = buttons[Math.min(buttons.length - 1, Math.max(0, at + step))];
    next.focus({ preventScroll: true });
    this.intoView(next);
  }

  next(row, step) {
    const ids = [...this.rows.keys()];
    return ids[ids.indexOf(criterionOf(row)) + step] ?? row;
  }

  nextGroup(row, step) {
    const at = this.groups.findIndex(({ ids }) => ids.includes(criterionOf(row)));
    const group = this.groups[at + step];
    return group ? group.ids[0] : this.groups[at].ids[0];
  }
}
