// Taking back what was chosen or cleared last on this item. Nothing is unmade: what stood before is stored once more, as
// one further revision.

const ONE_SCORE_MS = 2000; // digits typed within this time are one score

class Undo {
  constructor(page) {
    this.page = page;
    this.acts = []; // {id, name, before, after, by, at}, oldest first
    this.words = make("span", { class: "undo-words" });
    this.button = make(
      "button",
      { type: "button", class: "tool undo", "aria-keyshortcuts": "Control+Z", onclick: () => this.back() },
      icon("undo"),
      this.words,
    );
  }

  /** Another item: nothing of the former can be taken back here. */
  forget() {
    this.acts = [];
  }

  /** Before an edit of `name`, the choice or the confidence of row `id`. */
  note(id, name, after, by) {
    const before = this.page.answers.of(id)[name];
    const last = this.acts.at(-1);
    const at = performance.now();
    if (by === "typing" && last?.by === by && last.id === id && at - last.at < ONE_SCORE_MS) Object.assign(last, { after, at });
    else if (before !== after) this.acts.push({ id, name, before, after, by, at });
  }

  /** What was cleared is said in words, with the way back. */
  cleared() {
    const { id, name, before } = this.acts.at(-1);
    this.page.notices.set("remark", {
      text: tell("undo.cleared", { what: this.told(id, name, before) }),
      quiet: true,
      action: this.page.may("undo") && { text: tell("undo.undo"), run: () => this.back() },
    });
  }

  back() {
    const { page } = this;
    const act = this.acts.at(-1);
    if (!act || !page.may("undo") || !page.mayEdit(act.id)) return;
    this.acts.pop();
    if (page.current !== act.id) page.go(act.id);
    page.answers.edit(act.id, { [act.name]: act.before }, "now");
    page.edited();
    page.notices.set("remark", { text: tell("undo.done", { what: this.told(act.id, act.name, act.before) }), quiet: true });
    page.refresh();
    page.form.focusChoices();
  }

  show() {
    const act = this.acts.at(-1);
    const shown = act && this.page.may("undo") && this.page.mayEdit(act.id);
    this.button.style.visibility = shown ? "visible" : "hidden"; // keeps its place
    if (!shown) return;
    const { id, name, before, after } = act;
    const done = after === null ? tell("undo.clearing", { what: this.told(id, name, before) }) : this.told(id, name, after);
    write(this.words, tell("undo.undo"));
    this.button.title = tell("undo.title", { what: done });
    this.button.setAttribute("aria-label", this.button.title);
  }

  /** "Left, Criterion 3", "confidence 4, Criterion 3", "no answer, Criterion 3". */
  told(id, name, value) {
    const { item, answers } = this.page;
    const { label } = item.criteria.find((criterion) => criterion.id === criterionOf(id));
    const { side } = answers.rows.get(id);
    const said = name === "choice" ? answers.text(value) : value && tell("history.confidence", { n: value });
    return tell("undo.what", { label: nameOf(label, side), answer: said ?? tell("list.no_answer") });
  }
}
