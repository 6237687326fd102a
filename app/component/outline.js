// The outline: the headings of each report over its own pane, to go there.

const OUTLINED = "h3, h4, h5, h6, p:has(> strong:only-child)"; // a line in bold alone is a heading too
const HEADING_MAX = 120; // characters; longer lines in bold are text

class Outline {
  constructor({ page, root }) {
    Object.assign(this, { page, root });
    this.node = make("div", { class: "outline", popover: "auto", role: "dialog", "aria-label": tell("header.outline") });
    this.node.addEventListener("toggle", ({ newState }) => {
      if (newState === "closed") this.giveBack();
      page.header.outlineOpen(newState === "open");
    });
    this.node.addEventListener("keydown", (event) => this.pressed(event));
    root.append(this.node);
  }

  open() {
    if (!this.page.item) return;
    this.back = this.root.getRootNode().activeElement;
    this.node.replaceChildren(
      ...[...this.page.reading.panes].map(([side, pane]) => this.column(side, pane, pane.node.ariaLabel)),
    );
    this.node.showPopover();
    this.focusCurrent(); // at once: the toggle event comes later, and a second "o" in between must find the focus in here
  }

  close() {
    if (this.node.matches(":popover-open")) this.node.hidePopover();
  }

  toggle() {
    if (this.node.matches(":popover-open")) this.close();
    else this.open();
  }

  column(side, pane, name) {
    const marked = this.page.bookmarks.of(side);
    const headings = headingsOf(pane.report, marked);
    const top = Math.min(...headings.map(({ level }) => level));
    const at = readingPlace(pane.node);
    const current = headings.findLast(({ index }) => topOf(pane, index) <= at + 2 * HEAD_ROOM);
    const entry = ({ block, index, level, text }) =>
      make(
        "li",
        {},
        make(
          "button",
          {
            type: "button",
            class: "row",
            style: `--level:${Math.min(level - top, 3)}`,
            "aria-current": block === current?.block && "true",
            onclick: () => this.go(side, block),
          },
          make("span", {}, text),
          marked.includes(index) && icon("bookmark"),
          marked.includes(index) && make("span", { class: "unseen" }, tell("bookmarks.bookmark")),
        ),
      );
    return make(
      "nav",
      { "aria-label": name, "data-side": side },
      headings.length
        ? make("ol", { lang: pane.report.lang, dir: pane.report.dir }, ...headings.map(entry))
        : make("p", {}, tell("pane.no_headings")),
    );
  }

  go(side, block) {
    this.close();
    this.page.reading.jump(side, block);
  }

  focusCurrent() {
    const column = this.node.querySelector(`[data-side=${this.page.reading.active}]`) ?? this.node;
    (column.querySelector("[aria-current]") ?? this.node.querySelector("button"))?.focus();
  }

  /** The focus goes where it was, unless it is somewhere already. */
  giveBack() {
    const now = this.root.getRootNode().activeElement;
    if (!now || now === this.root || this.node.contains(now)) this.back?.focus({ preventScroll: true });
  }

  pressed(event) {
    const columns = [...this.node.querySelectorAll("nav")].map((nav) => [...nav.querySelectorAll("button")]);
    const from = columns.findIndex((column) => column.includes(event.target));
    const column = columns[from] ?? [];
    const at = column.indexOf(event.target);
    const next = {
      ArrowDown: () => column[at + 1],
      ArrowUp: () => column[at - 1],
      ArrowRight: () => columns[from + 1]?.find((_, n, all) => n >= at || n === all.length - 1),
      ArrowLeft: () => columns[from - 1]?.find((_, n, all) => n >= at || n === all.length - 1),
      Home: () => column[0],
      End: () => column.at(-1),
    }[event.key];
    if (next) next()?.focus();
    else if (event.key === "o" && !event.repeat) this.close();
    else return;
    event.preventDefault();
  }
}

/** [{block, index, level, text}] of the blocks of a report that head something, or are among those `marked`. */
function headingsOf(report, marked = []) {
  return [...report.children].flatMap((block, index) => {
    const text = block.textContent.trim();
    if (marked.includes(index) && !block.matches("h3, h4, h5, h6"))
      return [{ block, index, level: 6, text: text.length > HEADING_MAX ? `${text.slice(0, HEADING_MAX)}…` : text }];
    if (!text || !block.matches(OUTLINED)) return [];
    if (block.tagName !== "P") return [{ block, index, level: Number(block.tagName[1]), text }];
    const whole = block.firstElementChild.textContent.trim() === text && text.length <= HEADING_MAX;
    return whole ? [{ block, index, level: 6, text }] : [];
  });
}
