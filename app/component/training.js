// After a training item: what was agreed beside what was answered, in the form's place, so that both texts stay readable.

class Training {
  constructor(page) {
    this.page = page;
    this.root = make("section", { class: "told", role: "dialog", "aria-labelledby": "told-title", hidden: true });
    page.shell.body.append(this.root);
  }

  get open() {
    return !this.root.hidden;
  }

  /** `go`: what Continue does; without it the item was opened again, from the list of one's own work. */
  show(feedback, go) {
    const { item, of, answers } = feedback;
    const title = make("h2", { id: "told-title", tabindex: -1 }, tell("training.title", { item, of }));
    const step = { type: "button", class: "submit ready", onclick: () => go() };
    const [home] = this.page.links;
    const on = go
      ? make("button", step, tell(feedback.result === "again" ? "training.try_again" : "training.continue"))
      : home && make("a", { class: "submit ready", href: home.href }, home.back);
    this.root.replaceChildren(
      make("div", { class: "told-head" }, title, make("p", { class: "told-score" }, this.score(feedback))),
      make("ul", { class: "told-list", tabindex: 0, "aria-label": tell("training.answers") }, ...answers.map((one) => this.line(one))),
      make("div", { class: "told-foot" }, make("p", {}, this.ending(feedback)), on),
    );
    this.root.hidden = false;
    this.page.shell.root.dataset.told = "true";
    this.page.refresh();
    title.focus({ preventScroll: true });
  }

  close() {
    this.root.hidden = true;
    delete this.page.shell.root.dataset.told;
  }

  line({ criterion, yours, agreed, matches, reason }) {
    const { answers, item } = this.page;
    const { label } = item.criteria.find(({ id }) => id === criterion) ?? { label: criterion };
    const said = (who, choice) => make("span", {}, make("i", {}, who.endsWith("：") ? who : `${who} `), make("b", {}, answers.text(choice) ?? "–"));
    return make(
      "li",
      { "data-matches": String(matches) },
      icon(matches ? "check" : "close"),
      make("h3", {}, label),
      make(
        "p",
        { class: "told-answers" },
        ...(matches ? [said(tell("training.as_agreed"), agreed)] : [said(tell("training.you"), yours), said(tell("training.agreed"), agreed)]),
      ),
      reason && make("p", { class: "told-why" }, reason),
    );
  }

  score({ matching, verdicts, pass_mark }) {
    return tell("training.score", { matching, n: verdicts, needed: Math.round(100 * pass_mark) });
  }

  ending({ result, attempt, attempts }) {
    const key = `training.${result}`;
    return ["passed", "again", "failed"].includes(result) ? tell(key, { n: attempts - attempt }) : "";
  }
}
