// The form: the open criterion with its choices and rationale, the list of all, notices and Submit. It draws what the
// page knows and hands every edit to it.

const MAX_RATIONALE = 10_000;

class Form {
  constructor({ page, root }) {
    this.page = page;
    this.root = root;
    this.where = new Where();
    this.questions = make("div", { class: "questions" });
    this.choices = new Radios({
      attributes: { class: "choices" },
      choose: (id, by) => page.choose(id, by),
    });
    this.oneReport = this.scores = new Scores(page);
    this.twoReports = new ScoreRows(page); // instead, where the page says of which it asks
    this.confidence = new Radios({
      attributes: { class: "confidence", title: tell("form.confidence_title") },
      choose: (id, by) => page.confide(id && Number(id), by),
    });
    this.versions = new Versions(page);
    this.boxes = make("div", { class: "boxes" });
    this.quotes = new Quotes(page);
    this.others = new Others(page);
    this.whyReport = make("span", { class: "why-report" }); // of which report, where two are rated
    this.rule = new RationaleRule(page);
    this.saved = make("span", { class: "answer-save" });
    this.notice = new NoticeLine();
    this.rescue = make(
      "button",
      { type: "button", class: "quiet rescue", hidden: true, onclick: () => page.rescue.download() },
      tell("form.download_unsaved"),
    );
    this.ways = make("nav", { class: "ways", "aria-label": tell("ways.other_work"), hidden: true });
    this.submitText = make("span", {}, tell("form.submit"));
    this.submit = make(
      "button",
      { type: "button", class: "submit", onclick: () => page.leaving.submit(submitState(page).outcome) },
      this.submitText,
    );
    this.left = make("span", { class: "left-to-do" });
    this.listRoot = make("nav", { class: "list", "aria-label": tell("form.all_criteria") });
    this.list = new CriteriaList({
      root: this.listRoot,
      open: (id) => this.chosenInList(id),
      describe: (id) => page.answers.describe(id),
    });
    const step = (name, text, by) =>
      make("button", { type: "button", class: "tool", "aria-label": text, title: text, onclick: () => page.step(by) }, icon(name));
    const toggle = (name, text, flip) =>
      make("button", { type: "button", class: `tool ${name}-toggle`, "aria-label": text, title: text, onclick: flip }, icon(name));
    this.listToggle = toggle("list", tell("form.all_criteria"), () => this.showList(this.listToggle.ariaExpanded !== "true"));
    this.listToggle.ariaExpanded = "false";
    this.foldToggle = toggle("down", tell("form.question_and_rationale"), () => this.folds(this.foldToggle.ariaExpanded === "true"));
    this.foldToggle.ariaExpanded = "true";
    this.away = false;
    this.read = new Set(); // criteria whose question has been on screen
    this.ask = make(
      "section",
      { class: "ask", "aria-label": tell("form.open_criterion") },
      make(
        "div",
        { class: "ask-top" },
        this.where.root,
        this.where.said,
        page.undo.button,
        this.listToggle,
        this.foldToggle,
        step("back", tell("form.previous"), -1),
        step("on", tell("form.next"), 1),
      ),
      this.questions,
      this.versions.root,
      this.choices.root,
      this.oneReport.root,
      this.twoReports.root,
      this.confidence.root,
    );
    this.why = make(
      "section",
      { class: "why", "aria-label": tell("form.rationale") },
      make(
        "div",
        { class: "why-top" },
        make("span", {}, tell("form.rationale")),
        this.whyReport,
        this.rule.hint,
        page.history.button,
        page.earlier.button,
        this.saved,
      ),
      this.boxes,
      this.quotes.root,
      this.rule.next,
    );
    const foot = make("footer", { class: "foot" }, this.rescue, this.ways, make("div", { class: "foot-row" }, this.left, this.submit));
    new ResizeObserver(() => root.style.setProperty("--foot", `${foot.offsetHeight}px`)).observe(foot); // a notice sticks above it
    root.append(this.ask, this.others.root, this.why, this.listRoot, this.notice.root, foot);
    const stops = new ResizeObserver(() => [root, this.ask].forEach(stopWhereScrolled));
    for (const part of [root, this.ask, ...this.ask.children, this.why]) stops.observe(part);
  }

  show(item) {
    this.item = item;
    this.id = null;
    this.textareas = new Map();
    this.held = new Set(); // rows whose box holds what could not be handed on yet
    this.boxes.replaceChildren();
    this.quotes.forget();
    this.page.history.arrived(item);
    this.others.show(item);
    this.questions.replaceChildren(
      ...item.criteria.map(({ id, label, text }) =>
        make(
          "div",
          { class: "question", "data-criterion": id },
          make("h2", { lang: item.language, dir: item.dir }, label),
          make("p", { lang: item.language, dir: item.dir }, text),
        ),
      ),
    );
    const choice = (text, key) => [
      icon("check"),
      make("span", { class: "choice-text" }, text),
      make("kbd", { "aria-hidden": "true" }, key),
    ];
    this.choices.fill(
      item.choices.map((one, n) => ({ id: one.id, key: String(n + 1), content: choice(choiceText(item, one), String(n + 1)) })),
    );
    this.choices.root.style.setProperty("--choices", Math.min(item.choices.length, 4));
    this.choices.root.dataset.shape = answersStack(item.choices) ? "column" : "row";
    this.scores.root.hidden = true;
    this.scores = item.rates ? this.twoReports : this.oneReport;
    this.scores.field.arrived();
    this.confidence.fill(
      ["1", "2", "3", "4", "5"].map((n) => ({ id: n, content: [n] })),
      make("span", { class: "confidence-end", "aria-hidden": "true" }, tell("form.confidence_low")),
    );
    this.confidence.root.append(make("span", { class: "confidence-end", "aria-hidden": "true" }, tell("form.confidence_high")));
    this.why.hidden = !item.rationale;
    this.list.show(item.criteria);
    this.list.filter(null);
  }

  get isRating() {
    return this.item.task_type === "pointwise_rating";
  }

  /** Whether the keyboard is in the scale of confidence. */
  get asksConfidence() {
    return this.confidence.root.contains(this.root.getRootNode().activeElement);
  }

  /** Where the open criterion is answered. */
  get answering() {
    return this.isRating ? this.scores : this.choices;
  }

  activate(id) {
    if (this.id !== id) this.fold(this.away && this.read.has(criterionOf(id))); // what is asked for the first time is seen
    this.read.add(criterionOf(id));
    this.id = id;
    this.root.scrollTop = 0;
    const criteria = this.item.criteria;
    const at = criteria.findIndex((criterion) => criterion.id === criterionOf(id));
    const { side } = this.page.answers.rows.get(id);
    const { label, text, category, subcategory } = criteria[at];
    const group = subcategory || category;
    const where = tell("form.where", { n: at + 1, of: criteria.length });
    this.where.show(group, where);
    for (const node of this.questions.children) node.classList.toggle("open", node.dataset.criterion === criterionOf(id));
    this.whyReport.textContent = side ? tell(`pane.${side}_region`) : "";
    const named = tell("form.named", { label, where }); // what the focus lands on says where one is
    this.choices.ask(named, text);
    this.confidence.ask(nameOf(tell("form.confidence_title"), side));
    if (this.isRating) this.scores.ask({ ...criteria[at], named }, this.item.choices);
    this.where.arrived(id, asking(nameOf(named, side), text), this.answering.root.contains(this.root.getRootNode().activeElement));
    if (!this.textareas.has(id)) this.textareas.set(id, this.textarea(id, nameOf(label, side)));
    for (const [each, box] of this.textareas) box.hidden = each !== id;
    this.list.activate(id);
    this.page.history.activate(id);
    this.others.activate(id);
    this.refresh(id);
  }

  /** One box per criterion: undo and the input method stay with their own text. */
  textarea(id, label) {
    const box = make("textarea", {
      "data-name": tell("form.rationale_of", { label }),
      "aria-describedby": "rationale-hint",
      rows: 3,
      maxlength: MAX_RATIONALE,
      spellcheck: String(this.page.may("spell_check")),
      lang: this.item.language,
      dir: "auto",
    });
    box.value = this.page.answers.of(id).rationale;
    const grow = () => {
      if (CSS.supports("field-sizing", "content")) return;
      box.style.blockSize = "auto";
      box.style.blockSize = `${box.scrollHeight + 2}px`;
    };
    box.addEventListener("input", () => {
      box.dataset.typed = "yes";
      this.page.write(id, box.value);
      grow();
    });
    box.addEventListener("blur", () => this.page.outbox?.flush("text"));
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !box.value && !event.ctrlKey && !event.metaKey) event.preventDefault(); // it led here
    });
    this.boxes.append(box);
    grow();
    return box;
  }

  refreshAll() {
    this.list.refresh();
    if (this.id) this.refresh(this.id);
    this.notice.say(notice(this.page));
    this.rescue.hidden = !this.page.rescue.offered;
    this.showWays(waysOn(this.page));
    this.showSubmit(submitState(this.page));
  }

  refresh(id) {
    if (id !== this.id) return;
    const answer = this.page.answers.of(id);
    const { save } = this.page.answers.describe(id);
    const fixed = !this.page.writable;
    const two = this.versions.show(id);
    this.choices.root.hidden = two || this.isRating;
    this.scores.root.hidden = two || !this.isRating;
    this.confidence.root.hidden = two || !this.item.confidence;
    this.answering.mark(answer.choice, fixed);
    this.confidence.mark(String(answer.confidence), fixed);
    const box = this.textareas.get(id);
    box.setAttribute("aria-label", [box.dataset.name, this.page.answers.text(answer.choice)].filter(Boolean).reduce(joined)); // for who hears the box alone
    this.fill(id, box, answer.rationale);
    box.readOnly = fixed;
    this.quotes.show(id);
    this.page.history.show(id);
    this.page.earlier.show();
    this.page.undo.show();
    const needs = this.page.answers.asked.has(id) ? this.page.answers.missing(id) : null;
    this.rule.show(id, needs);
    this.answering.root.dataset.need = needs === "no_choice" ? "yes" : "no";
    this.saved.textContent = answer.rev || save !== "saved" ? tell(`save.${save}`) : "";
    this.saved.dataset.save = save;
  }

  /** A box that has the focus is never written into; what was typed while nothing could be edited is the newest edit. */
  fill(id, box, rationale) {
    if (box.value === rationale) this.held.delete(id);
    else if (this.held.has(id)) this.page.ready && this.page.writable && this.page.write(id, box.value);
    else if (!hasFocus(box)) box.value = rationale;
  }

  /** Of two versions another was picked. */
  replaceText(id) {
    const box = this.textareas.get(id);
    if (box) box.value = this.page.answers.of(id).rationale;
  }

  showWays(ways) {
    this.ways.hidden = !ways.length;
    const told = JSON.stringify(ways);
    if (this.waysTold !== told) this.ways.replaceChildren(...ways.map(({ text, href }) => make("a", { href }, text)));
    this.waysTold = told;
  }

  showSubmit({ hidden, busy, ready, toDo, text }) {
    this.submit.hidden = hidden;
    this.submit.classList.toggle("ready", ready);
    this.submit.setAttribute("aria-disabled", String(busy));
    write(this.submitText, text);
    this.left.textContent = toDo;
  }

  chosenInList(id) {
    this.page.go(this.page.answers.rowOf(id));
    this.showList(false);
    this.focusChoices();
  }

  showList(open) {
    this.listToggle.ariaExpanded = String(open);
    this.root.style.setProperty("--list-end", `${this.root.offsetHeight}px`); // where the form begins
    this.root.classList.toggle("list-open", open);
  }

  /** Leave the reports more room: of the form, its answers stay, on every question that was read. */
  folds(away) {
    this.away = away;
    this.fold(away);
  }

  fold(away) {
    this.foldToggle.ariaExpanded = String(!away);
    this.root.classList.toggle("folded", away);
    this.root.classList.remove("reasoned");
  }

  hasFocus() {
    return this.root.contains(this.root.getRootNode().activeElement);
  }

  focusChoices() {
    if (this.answering.root.hidden) this.versions.focus();
    else this.answering.focus();
  }

  focusRationale() {
    const box = this.textareas.get(this.id);
    if (this.why.hidden || !box) return;
    this.root.classList.add("reasoned"); // shown where the question stays folded away
    box.focus({ preventScroll: true });
    box.setSelectionRange(box.value.length, box.value.length);
    this.root.scrollTop = this.why.offsetTop - this.ask.firstChild.offsetHeight; // where it is not on screen; the bar stays above it
  }
}
