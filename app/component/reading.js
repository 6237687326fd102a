// The reading panes: report text, which pane is active, scrolling together, places and what was read as fractions.

const HEAD_ROOM = 12; // px between the pane's edge and what one jumps to
const FIND_ROOM = 48; // px at a pane's upper edge where the find box may lie
const SYNC_OWNER_MS = 80; // while one pane drives, the other's own scroll events are echoes

const FULL_WIDTH = /^(zh|ja|ko)\b/i; // languages whose lines are counted in full-width characters

class Reading {
  /**
   * moved() after every scroll of either pane, laid() after text got another size; turned() when the active pane changes;
   * enlarge() shows a part large.
   */
  constructor({ root, moved, laid, turned, enlarge }) {
    this.root = root;
    this.moved = moved;
    this.turned = turned;
    this.enlarge = enlarge;
    this.sync = "off";
    this.owner = { side: null, at: -Infinity };
    this.panes = new Map();
    this.active = "left";
    this.watcher = new ResizeObserver(() => {
      this.markScrollers();
      laid();
    });
  }

  show(item) {
    this.probe?.root.remove();
    this.probe = item.probe && new PinnedProbe(item.probe, item.topic);
    if (!this.holds(item)) this.build(item);
    if (this.probe) this.root.prepend(this.probe.root);
    this.root.dataset.panes = item.panes.length;
  }

  /** The next probe of a report that is on screen leaves its text and its place alone. */
  holds({ panes, topic }) {
    const before = this.held;
    this.held = JSON.stringify([panes, topic.language]);
    return this.held === before;
  }

  build(item) {
    this.watcher.disconnect();
    this.panes.clear();
    this.clicked = null;
    this.root.closest(".calipers").dataset.script = FULL_WIDTH.test(item.topic.language) ? "wide" : "narrow";
    this.root.replaceChildren(...item.panes.map((each) => this.pane(each, item.topic)));
    this.alike = Alike.of(this.panes, item.passages);
    this.activate(item.panes[0]?.side ?? "left");
  }

  skeleton() {
    if (this.probe) return void this.probe.wait();
    this.held = null;
    this.watcher.disconnect();
    this.panes.clear();
    const widths = [62, 0, 96, 99, 93, 98, 71, 0, 97, 94, 99, 90, 45, 0, 98, 95, 99, 64];
    this.root.replaceChildren(
      ...["left", "right"].map((side) =>
        make(
          "div",
          { class: `side ${side === "left" ? "active" : ""}`, "data-side": side, "aria-hidden": "true" },
          make("div", { class: "side-name" }, make("div", {}, make("span", {}, paneTitle(side)))),
          make(
            "div",
            { class: "pane" },
            make(
              "div",
              { class: "report skeleton" },
              ...widths.map((width) => make("i", { style: `inline-size:${width}%` })),
            ),
          ),
        ),
      ),
    );
  }

  clear() {
    this.held = this.probe = null;
    this.panes.clear();
    this.root.replaceChildren();
  }

  pane({ side, name, html, formulas }, topic) {
    const report = make("div", { class: "report", lang: topic.language, dir: topic.dir });
    report.innerHTML = html; // sanitised by the server (annotation/rendering.py)
    typeset(report, formulas);
    for (const box of report.querySelectorAll("table")) {
      const scroller = make("div", { class: "scroller", "data-what": tell("pane.table") });
      box.replaceWith(scroller);
      scroller.append(box);
    }
    for (const code of report.querySelectorAll("pre")) code.dataset.what = tell("pane.code");
    for (const formula of report.querySelectorAll(".displayed")) formula.dataset.what = tell("pane.formula");
    enlargeable(report, formulas, (title, part, drawn) => this.enlarge(title, part, topic, drawn));
    const heading = make(
      "button",
      { type: "button", tabindex: -1, onclick: () => this.activate(side, true) },
      make("span", {}, paneTitle(name)),
    );
    const scrolled = make("i", { class: "scrolled", "aria-hidden": "true" });
    const read = make("span", { dir: "ltr", title: tell("pane.read") });
    const said = make("span", { role: "status" });
    const title = make("h2", { class: "unseen" }, paneLabel(name)); // the report's own begin at h3
    const node = make("div", { class: "pane", role: "region", "aria-label": paneLabel(name), tabindex: 0 }, title, report);
    const frame = make(
      "div",
      { class: "side", "data-side": side },
      make("div", { class: "side-name" }, heading, make("div", { class: "read" }, said, read), scrolled),
      node,
    );
    node.addEventListener("scroll", () => this.scrolled(side), { passive: true });
    for (const event of ["focusin", "pointerdown", "wheel"])
      node.addEventListener(event, () => this.activate(side), { passive: true });
    report.addEventListener("click", (event) => {
      const index = [...report.children].findIndex((block) => block.contains(event.target));
      this.clicked = index < 0 ? null : { side, index };
    });
    this.panes.set(side, { node, frame, report, scrolled, read, said, furthest: 0, put: NaN });
    for (const sized of [node, report]) this.watcher.observe(sized);
    return frame;
  }

  /** What scrolls sideways must be reachable by keyboard, by a name of its own; else it is no tab stop. */
  markScrollers() {
    let count = 0;
    for (const { report } of this.panes.values()) {
      for (const box of report.querySelectorAll(".scroller, pre, .displayed")) {
        const scrolls = box.scrollWidth > box.clientWidth + 1;
        if (scrolls) count += 1;
        for (const [name, value] of [
          ["tabindex", "0"],
          ["role", "region"],
          ["aria-label", `${box.dataset.what} (${count})`],
        ]) {
          if (scrolls) box.setAttribute(name, value);
          else box.removeAttribute(name);
        }
      }
    }
  }

  activate(side, focus = false) {
    if (!this.panes.has(side)) return;
    this.active = side;
    this.root.dataset.active = side;
    for (const [name, { frame }] of this.panes) frame.classList.toggle("active", name === side);
    if (focus) this.panes.get(side).node.focus({ preventScroll: true });
    this.turned(side);
  }

  switchPane() {
    this.activate(this.active === "left" ? "right" : "left", true);
  }

  fraction(side) {
    const node = this.panes.get(side)?.node;
    const way = node ? node.scrollHeight - node.clientHeight : 0;
    return way > 0 ? Math.min(1, Math.max(0, node.scrollTop / way)) : 0;
  }

  scrollTo(side, fraction) {
    const node = this.panes.get(side)?.node;
    if (node) this.put(side, fraction * (node.scrollHeight - node.clientHeight));
  }

  /** Scroll a pane without making it lead the other: the scroll event that follows is known by its place. */
  put(side, top) {
    const pane = this.panes.get(side);
    pane.node.scrollTop = top;
    pane.put = pane.node.scrollTop;
  }

  scrolled(side) {
    const pane = this.panes.get(side);
    if (!pane) return;
    const fraction = this.fraction(side);
    this.noteRead(side);
    const now = performance.now();
    const echo =
      Math.abs(pane.node.scrollTop - pane.put) < 1 || (this.owner.side !== side && now - this.owner.at < SYNC_OWNER_MS);
    if (!echo) {
      pane.put = NaN;
      if (this.clicked?.side === side) this.clicked = null;
      this.owner = { side, at: now };
      this.lead(side, fraction);
    }
    this.moved();
    pane.scrolled.style.setProperty("inline-size", `${(fraction * 100).toFixed(2)}%`); // last: it is another layout
  }

  /** How the panes scroll together on this item: matching needs passages. */
  get together() {
    return this.sync === "matching" && !this.alike ? "proportional" : this.sync;
  }

  lead(side, fraction) {
    const other = this.other(side);
    if (!other || this.together === "off") return;
    if (this.together === "proportional") return void this.scrollTo(other, fraction);
    const beside = this.alike.follow(side);
    if (!beside) return;
    const { node } = this.panes.get(other);
    const before = node.scrollTop;
    this.put(other, beside.top);
    if (Math.abs(node.scrollTop - before) > node.clientHeight) this.point(other, beside.block);
  }

  other(side) {
    return [...this.panes.keys()].find((name) => name !== side);
  }

  /** The block one means: the one clicked last, or the one on the reading line of the active pane; -1 for none. */
  meant() {
    if (this.clicked?.side === this.active) return this.clicked.index;
    const pane = this.panes.get(this.active);
    return pane ? blockAt(pane, readingPlace(pane.node)) : -1;
  }

  /** Show the passage of the other report that is most like the one meant, or say that there is none. */
  showAlike() {
    const [side, other, index] = [this.active, this.other(this.active), this.meant()];
    const match = index < 0 ? null : (this.alike?.match(side, index) ?? null);
    if (match === null) return void this.say(other, tell("pane.none_alike"));
    const [here, there] = [this.panes.get(side), this.panes.get(other)];
    const height = topOf(here, index) - here.node.scrollTop;
    const line = READING_LINE * there.node.clientHeight;
    this.put(other, topOf(there, match) - Math.min(line, Math.max(HEAD_ROOM, height)));
    this.point(side, index);
    this.point(other, match);
    if (this.root.closest(".calipers").dataset.layout === "single") this.activate(other, true);
  }

  /** Words in the head of a pane, for a moment. */
  say(side, words) {
    const pane = this.panes.get(side);
    if (!pane) return;
    pane.said.textContent = words;
    setTimeout(() => pane.said.replaceChildren(), MARKED_MS);
  }

  /** Mark a block for a moment, and no other of its report. */
  point(side, index) {
    const { report } = this.panes.get(side);
    const block = report.children[index];
    for (const other of report.querySelectorAll(".pointed")) other.classList.remove("pointed");
    block.classList.add("pointed");
    clearTimeout(this.pointing?.[side]);
    this.pointing = { ...this.pointing, [side]: setTimeout(() => block.classList.remove("pointed"), MARKED_MS) };
  }

  /** Bring a Range of a pane into view, sideways too; a pane that shows it already does not move. */
  reveal(side, range) {
    const { node } = this.panes.get(side);
    this.activate(side);
    const box = range.startContainer.parentElement.closest(".scroller, pre");
    const [own, edge] = [range.getBoundingClientRect(), (box ?? node).getBoundingClientRect()];
    const hidden = box && (own.left < edge.left || own.right > edge.right);
    if (hidden) box.scrollLeft += own.left - edge.left - edge.width / 3;
    const from = own.top - node.getBoundingClientRect().top;
    if (from < FIND_ROOM || from + own.height > node.clientHeight - HEAD_ROOM)
      node.scrollTop += from - READING_LINE * node.clientHeight;
  }

  /** Go to a block of a report. */
  jump(side, block) {
    this.activate(side, true);
    const { node } = this.panes.get(side);
    node.scrollTop += block.getBoundingClientRect().top - node.getBoundingClientRect().top - HEAD_ROOM;
  }

  /** Keep the furthest point that was on screen, as a share of the text. */
  noteRead(side, before = 0) {
    const pane = this.panes.get(side);
    const { node, report } = pane;
    const end = report.lastElementChild?.getBoundingClientRect().bottom ?? 0;
    const shown = node.getBoundingClientRect().bottom;
    const length = end - report.getBoundingClientRect().top;
    const share = length > 0 ? 1 - (end - shown) / length : 1;
    pane.furthest = Math.min(1, Math.max(pane.furthest, before, share));
    const percent = `${Math.floor(100 * pane.furthest + 0.001)} %`;
    write(pane.read, percent); // else a layout for every scroll
  }

  place() {
    const place = {};
    for (const [side, { furthest }] of this.panes) {
      place[side] = Number(this.fraction(side).toFixed(4));
      place[`${side}_read`] = Number(furthest.toFixed(4));
    }
    return place;
  }

  restore(place) {
    for (const side of this.panes.keys()) {
      if (place[side]) this.scrollTo(side, place[side]);
      this.noteRead(side, place[`${side}_read`]);
    }
  }
}
