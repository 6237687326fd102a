// Find in both reports: one box, every hit marked where it stands, no change of the reports' DOM.

const SAME = { "’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‑": "-", "−": "-" };
const folds = new WeakMap();

class Find {
  constructor({ page, body, highlights }) {
    Object.assign(this, { page, highlights, hits: [], at: -1 });
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
    this.hits = [];
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
    this.hits = wanted.trim()
      ? [...this.page.reading.panes].flatMap(([side, { report }]) =>
          hitsIn(report, wanted).map((hit) => ({ side, ...hit })),
        )
      : [];
    this.mark();
  }

  mark() {
    const now = this.hits[this.at];
    const marked = this.hits.slice(0, MOST_MARKED).map(rangeOfHit);
    uncover([...this.page.reading.panes.values()].map(({ report }) => report), marked);
    this.highlights.set("found", marked, 1);
    this.highlights.set("found-now", now ? [rangeOfHit(now)] : [], 2);
    this.say();
  }

  say() {
    const words = this.page.item?.panes.map(({ side, name }) => {
      const n = this.hits.filter((hit) => hit.side === side).length;
      return `${paneTitle(name ?? side).toLowerCase()} ${n}`;
    });
    const hits = this.hits.length ? words?.reduce(joined) : tell("find.none");
    const said = this.at < 0 ? hits : tell("find.at", { n: this.at + 1, of: this.hits.length, hits });
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
    const first = this.hits.findIndex(({ side }) => side === active);
    if (first < 0) return 0;
    const own = this.hits.filter(({ side }) => side === active);
    let [low, high] = [0, own.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rangeOfHit(own[middle]).getBoundingClientRect().top < top) low = middle + 1;
      else high = middle;
    }
    return first + low;
  }
}

function select({ startContainer, startOffset, endContainer, endOffset }) {
  document.getSelection().setBaseAndExtent(startContainer, startOffset, endContainer, endOffset);
}

const rangeOfHit = ({ map, start, end }) => map.range(start, end);

/** [{map, start, end}] of `wanted`, a folded text, in the text of a report; hits do not overlap. */
function hitsIn(report, wanted) {
  const map = textOf(report);
  let known = folds.get(report);
  if (known?.of !== map.text) folds.set(report, (known = fold(map.text)));
  const { text, from } = known;
  const hits = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    let after = at + wanted.length;
    while (from[after] === from[at + wanted.length - 1]) after += 1; // half of a letter that became two
    hits.push({ map, start: from[at], end: from[after] });
  }
  return hits;
}

/**
 * A text without case, diacritics, kinds of quotes and dashes, and runs of white space: {of, text, from}.
 * `from[n]` is where unit n of `text` stands in `of`, its end included.
 */
function fold(of) {
  const [parts, from] = [[], []]; // a text that grows and is looked at would be copied whole for every word
  let at = 0;
  for (const letter of of) {
    let plain = SAME[letter] ?? letter;
    if (/\s/.test(plain)) plain = parts.at(-1)?.endsWith(" ") ? "" : " ";
    else if (plain > "\x7f") plain = plain.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
    else plain = plain.toLowerCase();
    for (let unit = 0; unit < plain.length; unit += 1) from.push(at);
    if (plain) parts.push(plain);
    at += letter.length;
  }
  from.push(at);
  return { of, text: parts.join(""), from };
}
