// Find in both reports: one box, all hits counted, those in sight marked where they stand, no change of the reports' DOM.

const SAME = { "’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‑": "-", "−": "-" };
const folds = new WeakMap();
const letters = new Map(); // letters beyond ASCII, folded

class Find {
  constructor({ page, body, highlights }) {
    Object.assign(this, { page, highlights, found: new Map(), at: -1 }); // found: side -> its hits
    this.input = make("input", {
      type: "text",
      "aria-label": tell("header.find"),
      placeholder: tell("find.placeholder"),
      autocomplete: "off",
      spellcheck: "false",
      enterkeyhint: "next",
      oninput: () => this.search(),
    });
    this.count = make("span", { class: "find-count", role: "status" });
    const tool = (name, text, run) =>
      make("button", { type: "button", class: "tool", "aria-label": text, title: text, onclick: run }, icon(name));
    this.node = make(
      "div",
      { class: "find", role: "search", hidden: true },
      this.input,
      this.count,
      tool("up", tell("find.previous"), () => this.walk(-1)),
      tool("down", tell("find.next"), () => this.walk(1)),
      tool("close", tell("find.close"), () => this.close()),
    );
    this.node.addEventListener("keydown", (event) => this.pressed(event));
    body.prepend(this.node);
  }

  get isOpen() {
    return !this.node.hidden;
  }

  /** All of them, the left report's first. */
  get hits() {
    return [...this.found.values()].flat();
  }

  open() {
    if (!this.page.item) return;
    const { activeElement } = this.node.getRootNode();
    if (!this.node.contains(activeElement)) this.back = activeElement;
    this.node.hidden = false;
    this.input.focus();
    this.input.select();
    this.search();
    this.page.header.refresh();
  }

  close() {
    if (!this.isOpen) return;
    const within = this.node.contains(this.node.getRootNode().activeElement);
    const now = this.hits[this.at];
    this.node.hidden = true;
    this.found.clear();
    this.mark();
    if (within) {
      const { active, panes } = this.page.reading;
      const back = this.at >= 0 || !this.back?.isConnected ? panes.get(active)?.node : this.back;
      back?.focus({ preventScroll: true });
      if (now) select(rangeOfHit(now)); // as browsers leave it: to be quoted, or widened by Shift and the arrows
    }
    this.page.header.refresh();
  }

  toggle() {
    if (this.isOpen) this.close();
    else this.open();
  }

  pressed(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter" && event.target === this.input) this.walk(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
  }

  search() {
    const wanted = fold(this.input.value).text;
    this.at = -1;
    this.found.clear();
    if (wanted.trim())
      for (const [side, { report }] of this.page.reading.panes) this.found.set(side, hitsIn(side, report, wanted));
    this.mark();
  }

  mark() {
    const now = this.hits[this.at];
    for (const [side, { report }] of this.page.reading.panes) uncover(report, this.found.get(side) ?? []);
    this.highlights.set("found-now", now ? [rangeOfHit(now)] : [], 2);
    this.markSeen();
    this.say();
  }

  /** Mark the hits of the blocks on screen, and of those a screen above and below: each one marked costs layout work. */
  markSeen() {
    const seen = [...this.found].flatMap(([side, hits]) => {
      const pane = this.page.reading.panes.get(side);
      const { scrollTop, clientHeight } = pane.node;
      const [from, to] = [scrollTop - clientHeight, scrollTop + 2 * clientHeight].map((place) => blockAt(pane, place));
      const blocks = hits[0]?.map.blocks ?? [];
      const first = firstOf(hits.length, (n) => hits[n].end > blocks[from]);
      return hits.slice(first, firstOf(hits.length, (n) => hits[n].start >= blocks[to + 1])).map(rangeOfHit);
    });
    this.highlights.set("found", seen, 1);
  }

  say() {
    const { length } = this.hits;
    const words = this.page.item?.panes.map(
      ({ side, name }) => `${paneTitle(name ?? side).toLowerCase()} ${this.found.get(side)?.length ?? 0}`,
    );
    const hits = length ? words?.reduce(joined) : tell("find.none");
    const said = this.at < 0 ? hits : tell("find.at", { n: this.at + 1, of: length, hits });
    this.count.textContent = this.input.value.trim() && this.isOpen ? said : "";
  }

  /** To the next or previous hit, first from where one reads; all hits of the left report come before the right's. */
  walk(by) {
    const { hits } = this;
    if (!hits.length) return;
    if (this.at >= 0) this.at = (this.at + by + hits.length) % hits.length;
    else {
      const from = this.firstFromHere();
      this.at = by > 0 ? from % hits.length : (from - 1 + hits.length) % hits.length;
    }
    this.mark();
    this.page.reading.reveal(hits[this.at].side, rangeOfHit(hits[this.at]));
  }

  /** Index of the first hit that is not above what the active pane shows; beyond its last one, of the next pane's. */
  firstFromHere() {
    const { active, panes } = this.page.reading;
    const top = panes.get(active).node.getBoundingClientRect().top;
    const own = this.found.get(active) ?? [];
    if (!own.length) return 0;
    const from = firstOf(own.length, (n) => rangeOfHit(own[n]).getBoundingClientRect().top >= top);
    return this.hits.indexOf(own[0]) + from;
  }
}

function select({ startContainer, startOffset, endContainer, endOffset }) {
  document.getSelection().setBaseAndExtent(startContainer, startOffset, endContainer, endOffset);
}

const rangeOfHit = ({ map, start, end }) => map.range(start, end);

/** [{side, map, start, end}] of `wanted`, a folded text, in the text of a report; hits do not overlap. */
function hitsIn(side, report, wanted) {
  const map = textOf(report);
  let known = folds.get(report);
  if (known?.of !== map.text) folds.set(report, (known = fold(map.text)));
  const { text, from } = known;
  const hits = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    let after = at + wanted.length;
    while (from[after] === from[at + wanted.length - 1]) after += 1; // half of a letter that became two
    hits.push({ side, map, start: from[at], end: from[after] });
  }
  return hits;
}

/**
 * A text without case, diacritics, kinds of quotes and dashes, and runs of white space: {of, text, from}.
 * `from[n]` is where unit n of `text` stands in `of`, its end included.
 */
function fold(of) {
  const parts = []; // a text that grows and is looked at would be copied whole for every word
  const add = (text, index, by = 0) => text && parts.push({ text, index, by });
  for (const { 0: run, index } of of.matchAll(/[!-~]+(?: [!-~]+)*|\s+|[^\s!-~]+/gu)) {
    if (/^[!-~]/.test(run)) add(run.toLowerCase(), index, 1);
    else if (/^\s/.test(run)) add(parts.at(-1)?.text.endsWith(" ") ? "" : " ", index);
    else {
      let at = index;
      for (const letter of run) {
        if (!letters.has(letter)) letters.set(letter, (SAME[letter] ?? letter.toLowerCase()).normalize("NFKD").replace(/\p{M}/gu, ""));
        add(letters.get(letter), at);
        at += letter.length;
      }
    }
  }
  const text = parts.map((part) => part.text).join("");
  const from = new Int32Array(text.length + 1).fill(of.length);
  let at = 0;
  for (const part of parts) for (let unit = 0; unit < part.text.length; unit += 1) from[at++] = part.index + unit * part.by;
  return { of, text, from };
}
