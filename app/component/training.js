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
    const title = make("h2", { id: "told-title", tabindex: -1 }, `Training ${item} of ${of}: what was agreed`);
    const step = { type: "button", class: "submit ready", onclick: () => go() };
    const [home] = this.page.links;
    const on = go
      ? make("button", step, feedback.result === "again" ? "Try again" : "Continue")
      : home && make("a", { class: "submit ready", href: home.href }, `Back to ${home.text.toLowerCase()}`);
    this.root.replaceChildren(
      make("div", { class: "told-head" }, title, make("p", { class: "told-score" }, this.score(feedback))),
      make("ul", { class: "told-list", tabindex: 0, "aria-label": "Answers" }, ...answers.map((one) => this.line(one))),
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
    const said = (who, choice) => make("span", {}, make("i", {}, `${who} `), make("b", {}, answers.text(choice) ?? "–"));
    return make(
      "li",
      { "data-matches": String(matches) },
      icon(matches ? "check" : "close"),
      make("h3", {}, label),
      make(
        "p",
        { class: "told-answers" },
        ...(matches ? [said("As agreed:", agreed)] : [said("You:", yours), said("Agreed:", agreed)]),
      ),
      reason && make("p", { class: "told-why" }, reason),
    );
  }

  score({ matching, verdicts, pass_mark }) {
    return `${matching} of ${count(verdicts, "answer")} as agreed so far; ${Math.round(100 * pass_mark)} % are needed.`;
  }

  ending({ result, attempt, attempts }) {
    const left = attempts - attempt;
    return {
      passed: "You passed the training. What follows counts.",
      again: `That was below the mark. You have ${count(left, "more attempt", "more attempts")}, with the same items.`,
      failed: "That was below the mark, and it was the last attempt.",
    }[result] ?? "";
  }
}
