// Beside the rationale: how long it must be, and once it is long enough the way on.

class RationaleRule {
  constructor(page) {
    this.page = page;
    this.hint = make("span", { class: "hint", id: "rationale-hint" });
    this.key = make("kbd");
    this.next = make(
      "button",
      { type: "button", class: "onward", onclick: () => page.accept() },
      `${tell("form.onward")} `,
      this.key,
    );
  }

  /** `needs`: what a refusal, or a first Ctrl+Enter, found missing in `id`. */
  show(id, needs) {
    const { answers, writable } = this.page;
    this.hint.textContent = this.text(answers.of(id).rationale);
    this.hint.dataset.need = needs && needs !== "no_choice" ? "yes" : "no";
    const done = !answers.missing(id) && !answers.conflict(id);
    write(this.key, inscribed(pressedFor("Ctrl Enter")));
    this.next.style.visibility = writable && done && answers.nextOpen(id) ? "visible" : "hidden"; // keeps its place
  }

  text(rationale) {
    const { required, min_length: least } = this.page.item.rationale ?? {};
    if (!required) return tell("form.optional");
    const length = typedLength(rationale);
    if (least <= 1) return tell("form.required");
    if (length >= least) return ""; // room for what else stands there
    return tell(length ? "form.length" : "form.least", { length, n: least });
  }
}
