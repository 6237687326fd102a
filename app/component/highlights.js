// Marks in a report without touching its DOM (CSS Custom Highlight API), and offsets in its text to Ranges and back.
// Offsets are UTF-16 units over `root.textContent`; `root` is the `.report` element of a pane; its text never changes.

/** The marks of one page, by name: `::highlight(name)` in CSS paints them. Without the API nothing is marked. */
class Highlights {
  constructor() {
    this.own = new Map(); // name -> Highlight; CSS.highlights belongs to the whole document
  }

  /** Mark exactly these ranges of any pane under `name`; where marks overlap the higher priority is painted. */
  set(name, ranges, priority = 0) {
    if (typeof Highlight === "undefined") return;
    const mark = new Highlight(...ranges.slice(0, MOST_MARKED));
    mark.priority = priority;
    this.own.set(name, mark);
    CSS.highlights.set(name, mark);
  }

  clear(name) {
    if (this.own.has(name) && CSS.highlights.get(name) === this.own.get(name)) CSS.highlights.delete(name);
    this.own.delete(name);
  }

  close() {
    for (const name of [...this.own.keys()]) this.clear(name);
  }
}

const MOST_MARKED = 5000; // ranges under one name; every one costs layout work
const texts = new WeakMap();

/**
 * The text of `root`: {text, range(start, end), startOf(text node), blocks}; `range` is null outside the text or if empty,
 * `blocks` is where the text of each child begins.
 */
function textOf(root) {
  const known = texts.get(root);
  const text = root.textContent;
  if (known?.text === text) return known;
  const nodes = [];
  const starts = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let at = 0, node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push(node);
    starts.push(at);
    at += node.length;
  }
  const nodeAt = (offset) => firstOf(starts.length, (n) => starts[n] > offset) - 1;
  const range = (start, end) => {
    if (!(start >= 0 && start < end && end <= text.length)) return null;
    const [first, last] = [nodeAt(start), nodeAt(end - 1)];
    const found = document.createRange();
    found.setStart(nodes[first], start - starts[first]);
    found.setEnd(nodes[last], end - starts[last]);
    return found;
  };
  const places = new Map(nodes.map((node, n) => [node, starts[n]]));
  const blocks = [];
  let at = 0;
  for (const child of root.childNodes) {
    if (child instanceof Element) blocks.push(at);
    at += child.textContent.length;
  }
  const map = { text, range, startOf: (node) => places.get(node), blocks };
  texts.set(root, map);
  return map;
}

/** Index of the first of `count` for which `holds`, as it does for all that follow; `count` where there is none. */
function firstOf(count, holds) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The Range of root.textContent.slice(start, end), or null where there is no such text. */
const rangeOf = (root, start, end) => textOf(root).range(start, end);

/** {start, end} of the part of a Range or StaticRange that lies in `root`; null when that is no text. */
function offsetsOf(root, range) {
  const offset = (node, at) => {
    const before = document.createRange();
    before.selectNodeContents(root);
    before.setEnd(node, at);
    return before.toString().length;
  };
  const starts = root.contains(range.startContainer);
  const ends = root.contains(range.endContainer);
  if (!starts && !ends) return null;
  const start = starts ? offset(range.startContainer, range.startOffset) : 0;
  const end = ends ? offset(range.endContainer, range.endOffset) : root.textContent.length;
  return start < end ? { start, end } : null;
}
