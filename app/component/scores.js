// Scores: the numbers of a scale as buttons where they are few, else a field; below them what the scale says they mean.

const MOST_BUTTONS = 11;
const DIGIT_MS = 500; // a second digit within this time belongs to the first: "1", "0" is 10

class Scores {
  /** `tag` is put to the ids of its elements, where there are several; `meaning`: the id of the anchors that count. */
  constructor(page, { tag = "", meaning = `anchors${tag}` } = {}) {
    this.page = page;
    this.typed = ""; // digits that may still become a longer score
    this.buttons = new Radios({
      attributes: { class: "scores", "aria-describedby": meaning },
      choose: (id, by) => page.choose(id, by),
    });
    this.field = new ScoreField(page, tag, meaning);
    this.anchors = make("ul", { class: "anchors", id: `anchors${tag}`, "aria-label": tell("scores.meaning") });
    this.root = make("div", { class: "scoring", hidden: true }, this.field.root, this.buttons.root, this.anchors);
  }

  /** Another criterion; `also` are the answers beside the numbers, `not_applicable` or none. */
  ask({ id, text, scale, named }, also) {
    this.forget();
    this.values = scoresOf(scale);
    this.field.ask(id, asking(named, text), this.values.length ? null : scale);
    const columns = this.values.length <= 6 ? this.values.length : Math.ceil(this.values.length / 2);
    this.buttons.root.style.cssText = `--columns: ${columns}; --all: ${this.values.length}`;
    this.buttons.root.hidden = !this.values.length && !also.length;
    this.buttons.ask(named, text);
    this.buttons.fill([
      ...this.values.map((value) => ({ id: value, content: [icon("check"), make("span", {}, value)] })),
      ...also.map((choice) => ({ id: choice.id, content: [icon("check"), make("span", {}, choiceText(this.page.item, choice))] })),
    ]);
    const anchors = Object.entries(scale.anchors).sort(([a], [b]) => parseFloat(a) - parseFloat(b));
    this.anchors.hidden = !anchors.length;
    this.anchors.replaceChildren(
      ...anchors.map(([at, text]) => make("li", { "data-at": at }, make("b", {}, at), make("span", {}, make("bdi", {}, text)))),
    );
  }

  mark(value, fixed) {
    this.buttons.mark(value, fixed);
    this.field.mark(value, fixed);
    for (const anchor of this.anchors.children) anchor.classList.toggle("chosen", isAt(anchor.dataset.at, value));
  }

  focus() {
    if (this.field.asked) this.field.focus();
    else this.buttons.focus();
  }

  /** A digit pressed outside text. What may become a longer score is kept as typed text is, and moves on later. */
  type(key) {
    if (this.field.asked) return void this.field.begin(key);
    const typed = this.typed + key;
    const more = this.values.some((value) => value !== typed && value.startsWith(typed));
    if (this.values.includes(typed)) this.page.choose(typed, more ? "typing" : "key");
    if (!more) return;
    this.forget();
    this.typed = typed;
    this.timer = setTimeout(() => this.settle(), DIGIT_MS);
  }

  continuedBy(key) {
    return this.values.some((value) => value.startsWith(this.typed + key));
  }

  /** No further digit comes: go on as after any other choice. */
  settle() {
    const { typed } = this;
    this.forget();
    if (this.values.includes(typed)) this.page.onward();
  }

  forget() {
    clearTimeout(this.timer);
    this.typed = "";
  }
}

/** A number typed in full. It counts while it lies on the scale; why it does not is said once the field is left. */
class ScoreField {
  constructor(page, tag, meaning) {
    this.page = page;
    this.drafts = new Map(); // criterion -> what was typed and is no score
    this.input = make("input", {
      type: "number",
      class: "score",
      autocomplete: "off",
      "aria-describedby": `score-range${tag} ${meaning}`,
      "aria-errormessage": `score-refusal${tag}`,
      oninput: () => this.typed(),
      onchange: () => this.left(),
      onkeydown: (event) => this.pressed(event),
    });
    // turning the wheel over a focused number field would change the score unseen
    this.input.addEventListener("wheel", (event) => event.preventDefault(), { passive: false });
    this.range = make("span", { class: "score-range", id: `score-range${tag}` });
    this.refusal = make("p", { class: "problem", id: `score-refusal${tag}`, role: "alert", "aria-live": "assertive" });
    this.root = make(
      "div",
      { class: "score-field" },
      make("div", { class: "score-box" }, this.input, icon("check")),
      this.range,
      this.refusal,
    );
  }

  get asked() {
    return this.scale !== null;
  }

  arrived() {
    this.drafts.clear();
  }

  ask(id, named, scale) {
    this.id = id;
    this.scale = scale;
    this.root.hidden = !scale;
    this.input.value = this.drafts.get(id) ?? "";
    this.other = true;
    this.say("");
    if (!scale) return;
    const { min, max, step } = scale;
    for (const [name, value] of Object.entries({ min, max, step: step || "any", "aria-label": named }))
      this.input.setAttribute(name, value);
    const kind = step === 1 && Number.isInteger(min) ? "range_whole" : step ? "range_steps" : "range";
    this.range.textContent = tell(`scores.${kind}`, { min, max, step });
  }

  /** The score as it is stored, or null while what is typed is none. */
  read() {
    const text = scoreText(Number(this.input.value));
    return this.input.value !== "" && isOnScale(Number(text), this.scale) && !text.includes("e") ? text : null;
  }

  mark(value, fixed) {
    if (!this.asked) return;
    const score = value === null || Number.isNaN(Number(value)) ? null : value;
    const typing = hasFocus(this.input) && !this.other; // never into what is being typed
    if (this.read() !== score && !typing) this.input.value = score ?? "";
    Object.assign(this, { score, other: false });
    this.input.readOnly = fixed;
    this.root.dataset.scored = score === null ? "no" : "yes";
  }

  focus() {
    this.input.focus({ preventScroll: true });
    this.input.select();
  }

  begin(key) {
    if (!this.page.mayEdit(this.id)) return;
    this.focus();
    document.execCommand("insertText", false, key);
  }

  typed() {
    const score = this.read();
    if (!this.page.mayEdit(this.id)) return void (this.input.value = this.score ?? "");
    if (score === null && this.input.value) this.drafts.set(this.id, this.input.value);
    else this.drafts.delete(this.id);
    this.page.choose(score, "typing");
    if (this.refusal.textContent) this.complain();
  }

  left() {
    this.complain();
    this.page.outbox?.flush("text");
  }

  complain() {
    const { value, validity } = this.input;
    const bad = (value !== "" || validity.badInput) && this.read() === null;
    const range = this.range.textContent;
    this.say(bad ? tell(value ? "scores.not_on_scale" : "scores.none_on_scale", { value, range }) : "");
  }

  say(text) {
    this.refusal.textContent = text;
    this.range.hidden = text !== "";
    this.input.setAttribute("aria-invalid", String(text !== ""));
  }

  pressed(event) {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    event.preventDefault();
    this.left();
    if (this.read() !== null) this.page.onward();
  }
}

/** A scale's numbers as they are stored; none where they are too many for buttons. */
function scoresOf({ min, max, step }) {
  const most = step ? Math.floor((max - min) / step + 1e-9) + 1 : Infinity;
  return most > MOST_BUTTONS ? [] : Array.from({ length: most }, (_, n) => scoreText(min + n * step));
}

const scoreText = (number) => String(Number(number.toFixed(10)));

function isOnScale(number, { min, max, step }) {
  const steps = step ? (number - min) / step : 0;
  return number >= min && number <= max && Math.abs(steps - Math.round(steps)) < 1e-9;
}

/** Whether a score is what an anchor describes: one number, or a range such as "7-8". */
function isAt(anchor, value) {
  if (value === null || Number.isNaN(Number(value))) return false;
  const [, low, high] = anchor.match(/^\s*(-?[\d.]+)\s*(?:[-–]\s*(-?[\d.]+))?\s*$/) ?? [];
  return low !== undefined && Number(value) >= Number(low) && Number(value) <= Number(high ?? low);
}
