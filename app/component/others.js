// For an adjudicator: what the raters of this item said to the open criterion, turned to the sides of this page.

class Others {
  constructor(page) {
    this.page = page;
    this.count = make("span", { class: "others-count" });
    this.said = make("ol", { class: "others-said" });
    this.scroller = make(
      "div",
      { class: "others-body", role: "region", "aria-label": tell("others.said"), tabindex: 0 },
      this.said,
    );
    this.root = make(
      "section",
      { class: "others", "aria-label": tell("others.raters"), hidden: true },
      make("div", { class: "others-top" }, make("span", {}, tell("others.raters")), this.count),
      this.scroller,
    );
  }

  /** Another item; one that is no adjudication shows nothing of this. */
  show(item) {
    this.item = item;
    this.id = null;
    this.root.hidden = !item.others;
    this.page.shell.root.classList.toggle("adjudicating", Boolean(item.others));
    if (!item.others) this.page.highlights.clear("others");
  }

  activate(id) {
    if (!this.item.others || this.id === id) return;
    this.id = id;
    const said = this.item.others[criterionOf(id)] ?? [];
    this.count.textContent = said.length ? this.tally(said) : tell("others.nobody");
    this.said.replaceChildren(...said.map((one) => this.one(one)));
    this.scroller.scrollTop = 0;
    const spans = said.flatMap(({ evidence }) => evidence);
    this.page.highlights.set("others", spans.map((span) => this.page.form.quotes.found(span)).filter(Boolean), -1);
  }

  /** "2 Left, 1 Tie", in the order of the choices, scores by size. */
  tally(said) {
    const counts = new Map();
    const scores = said.map(({ choice }) => choice).sort((one, other) => one - other);
    const order = [...this.item.choices.map(({ id }) => id), ...scores];
    for (const choice of order) counts.set(choice, said.filter((one) => one.choice === choice).length);
    const given = [...counts].filter(([, n]) => n);
    const times = this.page.form.isRating ? " ×" : ""; // "1 × 7"
    return given.map(([choice, n]) => `${n}${times} ${this.page.answers.text(choice)}`).reduce(joined);
  }

  /** The lines that quoting wrote name the rater's own side: their passages stand below, on the side of this page. */
  words(rationale, evidence) {
    const quoted = new Set(evidence.map(({ quote }) => quote.replace(/\s+/g, " ")));
    const isQuote = (line) => quoted.has(/^> [^:]+: [“„«](.*)[”“»]$/.exec(line)?.[1]); // of this language, or of English
    const lines = rationale.split("\n").filter((line) => !isQuote(line));
    return lines.join("\n").trim();
  }

  one({ rater: n, choice, rationale, swapped, confidence, evidence }) {
    const rater = tell("others.rater", { n });
    const words = this.words(rationale, evidence);
    return make(
      "li",
      { class: "other" },
      make(
        "p",
        { class: "other-top" },
        make("b", {}, this.page.answers.text(choice)),
        make("span", {}, confidence ? tell("others.confidence", { rater, n: confidence }) : rater),
      ),
      swapped &&
        make(
          "p",
          { class: "other-swapped" },
          icon("swap"),
          tell("others.swapped"),
        ),
      words && make("p", { class: "other-why", lang: this.item.language, dir: "auto" }, words),
      evidence.length > 0 &&
        make(
          "ul",
          { class: "other-quotes", "aria-label": tell("others.quoted", { rater }) },
          ...evidence.map((span) => this.page.form.quotes.chip(span)),
        ),
    );
  }
}
