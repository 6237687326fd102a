// Quoting: a selected passage goes into the open rationale, and a span of the report's text is kept beside it. Offsets
// are UTF-16 units over the text of the pane's `.report`; the server counts the same text (annotation/labels/evidence.py).

const MAX_QUOTE = 2000; // characters
const MAX_SPANS = 20; // of one answer

/** The small button at the selection, and what it does. */
class Quoting {
  constructor({ page, root, signal }) {
    this.page = page;
    this.root = root;
    this.dragging = false;
    this.button = make(
      "button",
      {
        type: "button",
        class: "quote-button",
        hidden: true,
        title: tell("quote.title"),
        onpointerdown: (event) => event.preventDefault(), // the selection and the focus stay where they are
        onclick: () => this.quote(),
      },
      tell("quote.quote"),
      make("kbd", { "aria-hidden": "true" }, "q"),
    );
    root.append(this.button);
    const dragging = (yes) => (event) => {
      if (event.composedPath().includes(this.button)) return;
      this.dragging = yes;
      this.offer();
    };
    root.addEventListener("pointerdown", dragging(true), { signal });
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, dragging(false), { signal });
    document.addEventListener("selectionchange", () => this.offer(), { signal });
    const again = () => this.button.hidden || this.offer();
    root.addEventListener("scroll", again, { signal, capture: true, passive: true });
    const size = new ResizeObserver(again); // the window, or the form's place
    size.observe(page.shell.reading);
    signal.addEventListener("abort", () => size.disconnect());
  }

  /** {side, start, end, quote}: what is selected of one report, without blanks at its ends; or null. */
  selected() {
    const tree = this.root.getRootNode();
    const shadowRoots = tree instanceof ShadowRoot ? [tree] : [];
    const [range] = document.getSelection().getComposedRanges?.({ shadowRoots }) ?? [];
    if (!range || range.collapsed) return null;
    for (const [side, { report }] of this.page.reading.panes) {
      const part = offsetsOf(report, range);
      const raw = part ? textOf(report).text.slice(part.start, part.end) : "";
      const quote = raw.trim();
      const start = part?.start + raw.indexOf(quote);
      if (quote) return { side, start, end: start + quote.length, quote };
    }
    return null;
  }

  offer() {
    const span = this.dragging || !this.page.current || !this.page.mayEdit(this.page.current) ? null : this.selected();
    this.button.hidden = !span;
    write(this.button.lastChild, pressedFor("q"));
    if (span) this.place(span);
  }

  /** Below the end of the selection; above its start where there is no room; nowhere while that is scrolled away. */
  place({ side, start, end }) {
    const { node, report } = this.page.reading.panes.get(side);
    const rects = rangeOf(report, start, end)?.getClientRects() ?? [];
    if (!rects.length) return;
    const [first, last] = [rects[0], rects[rects.length - 1]];
    const pane = node.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.button;
    const below = last.bottom + 6;
    const top = below + height <= pane.bottom ? below : first.top - height - 6;
    const left = Math.min(Math.max(last.right - width / 2, pane.left + 4), pane.right - width - 4);
    this.button.hidden = top < pane.top || top + height > pane.bottom;
    this.button.style.top = `${top}px`;
    this.button.style.left = `${left}px`;
  }

  quote() {
    const { page } = this;
    const span = this.selected();
    if (!page.mayEdit(page.current)) return;
    if (!span) return void this.refuse(tell("quote.nothing"));
    const { evidence, rationale } = page.answers.of(page.current);
    const same = evidence.some((one) => ["side", "start", "end"].every((name) => one[name] === span[name]));
    const block = `> ${paneName(page, span.side)}: ${inQuotes(span.quote.replace(/\s+/g, " "))}`;
    let refused = null;
    if (span.quote.length > MAX_QUOTE) refused = tell("quote.too_long", { n: MAX_QUOTE });
    else if (!same && evidence.length >= MAX_SPANS) refused = tell("quote.too_many", { n: MAX_SPANS });
    else if (rationale.length + block.length + 2 > MAX_RATIONALE) refused = tell("quote.no_room");
    if (refused) return void this.refuse(refused);
    document.getSelection().removeAllRanges();
    insertLine(page.form.textareas.get(page.current), block); // first, so that text and span leave as one entry
    if (!same) page.answers.edit(page.current, { evidence: [...evidence, span] }, "now");
    page.edited();
    page.form.quotes.showLast();
  }

  refuse(text) {
    this.page.notices.set("remark", { text, tone: "amber" });
    this.page.refresh();
  }
}

/** The quotes of the open criterion: one chip each under its rationale, and their marks in the reports. */
class Quotes {
  constructor(page) {
    this.page = page;
    this.root = make("ul", { class: "quotes", "aria-label": tell("quote.passages"), hidden: true });
  }

  /** Another item: nothing that is shown still holds. */
  forget() {
    this.shown = null;
  }

  show(id) {
    const { evidence } = this.page.answers.of(id);
    const fixed = !this.page.writable;
    const now = JSON.stringify([id, fixed, evidence]);
    if (now === this.shown) return;
    this.shown = now;
    this.root.hidden = !evidence.length;
    this.root.replaceChildren(...evidence.map((span, n) => this.chip(span, !fixed && (() => this.remove(id, n)))));
    this.page.highlights.set("evidence", evidence.map((span) => this.found(span)).filter(Boolean));
  }

  showLast() {
    this.root.scrollTop = this.root.scrollHeight;
  }

  /** The Range that a span quotes, or null where the report says something else there. */
  found({ side, start, end, quote }) {
    const report = this.page.reading.panes.get(side)?.report;
    return report && textOf(report).text.slice(start, end) === quote ? rangeOf(report, start, end) : null;
  }

  /** One quote as a line of a list, leading to its passage; `remove`: what its cross does, where it may go. */
  chip(span, remove) {
    const short = span.quote.replace(/\s+/g, " ").slice(0, 160);
    const lost = !this.found(span);
    return make(
      "li",
      { class: "quote-chip" },
      make(
        "button",
        {
          type: "button",
          class: "quote-go",
          "aria-disabled": lost && "true",
          title: lost ? tell("quote.lost_title") : tell("quote.show", { text: short }),
          onclick: () => this.go(span),
        },
        make("b", {}, paneName(this.page, span.side)),
        make("span", { dir: "auto" }, ` ${inQuotes(short)}`),
        lost && make("i", {}, ` ${tell("quote.lost")}`),
      ),
      remove &&
        make(
          "button",
          {
            type: "button",
            class: "quote-remove",
            "aria-label": tell("quote.remove_this", { text: short }),
            title: tell("quote.remove"),
            onclick: remove,
          },
          icon("close"),
        ),
    );
  }

  go(span) {
    const range = this.found(span);
    if (!range) return;
    this.page.reading.reveal(span.side, range);
  }

  /** The span goes; the words in the rationale are the person's. */
  remove(id, n) {
    if (!this.page.mayEdit(id)) return;
    const evidence = this.page.answers.of(id).evidence.filter((_, each) => each !== n);
    this.page.answers.edit(id, { evidence }, "now");
    this.page.edited();
    const rest = this.root.querySelectorAll(".quote-remove");
    if (rest.length) rest[Math.min(n, rest.length - 1)].focus({ preventScroll: true });
    else this.page.form.focusRationale();
  }
}

const paneName = (page, side) =>
  paneTitle(page.item.panes.find((pane) => pane.side === side)?.name ?? side);

/** Between the quotation marks of the page's language; the words stay as they are. */
const inQuotes = (words) => tell("quote.marks").replace("…", () => words);

/** A line of its own at the caret, or at the end where the caret never was; undo takes it out again. */
function insertLine(box, line) {
  const at = box.selectionEnd;
  const before = box.value.slice(0, at);
  box.focus({ preventScroll: true });
  box.setSelectionRange(at, at);
  document.execCommand("insertText", false, `${before && !before.endsWith("\n") ? "\n" : ""}${line}\n`);
}
