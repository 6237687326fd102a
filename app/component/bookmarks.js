// Bookmarks: passages that a reader wants to find again. They are kept with the place in the reports, and the outline
// lists them; nothing is put into the text, whose offsets quotes count by.

const BOOKMARKS_MAX = 40;

class Bookmarks {
  constructor(page) {
    this.page = page;
    this.kept = []; // {side, block}
  }

  /** Another item, with what is kept of it. */
  show(kept = []) {
    this.kept = kept;
    for (const { side, block } of kept) this.block(side, block)?.classList.add("bookmarked");
  }

  block(side, index) {
    return this.page.reading.panes.get(side)?.report.children[index];
  }

  /** The blocks of one report that are marked. */
  of(side) {
    return this.kept.filter((one) => one.side === side).map(({ block }) => block);
  }

  /** Mark the passage one means, or take its mark away. */
  toggle() {
    const { page } = this;
    const { active: side } = page.reading;
    const block = page.reading.meant();
    if (!page.may("bookmarks") || !page.writable || block < 0) return;
    const others = this.kept.filter((one) => one.side !== side || one.block !== block);
    const marks = others.length === this.kept.length;
    if (marks && others.length === BOOKMARKS_MAX) return void page.reading.say(side, tell("bookmarks.too_many", { n: BOOKMARKS_MAX }));
    this.kept = marks ? [...others, { side, block }] : others;
    this.block(side, block).classList.toggle("bookmarked", marks);
    page.reading.say(side, tell(marks ? "bookmarks.set" : "bookmarks.removed"));
    page.placeMoved("now");
  }
}
