// Which passage of the other report belongs beside the one being read. Places are px in the scrolled text of a pane,
// blocks are the children of its `.report`, as the server counted them (annotation/passages.py).

const READING_LINE = 0.2; // of a pane's height: where the eye rests, once one has scrolled that far
const NEAR = 3; // blocks; matches of neighbours lead to about the same place, or they are chance
const MARKED_MS = 1800;

class Alike {
  /** The passages of this item's two panes, or null where there are none or they are not those of these texts. */
  static of(panes, passages) {
    const fits = ([side, { report }]) => passages?.[side]?.length === report.children.length;
    return panes.size === 2 && [...panes].every(fits) ? new Alike(panes, passages) : null;
  }

  constructor(panes, passages) {
    Object.assign(this, { panes, passages });
    this.anchors = new Map([...panes.keys()].map((side) => [side, steady(passages[side])]));
  }

  /** The block of the other report that is most like block `index`, or null. */
  match(side, index) {
    return this.passages[side][index] ?? null;
  }

  /** Where the other pane must be scrolled to show what belongs beside the reading line of `side`: {top, block}. */
  follow(side) {
    const other = side === "left" ? "right" : "left";
    const [here, there] = [this.panes.get(side), this.panes.get(other)];
    const at = readingPlace(here.node);
    const index = blockAt(here, at);
    const anchors = this.anchors.get(side);
    if (!anchors.length) return null;
    const next = anchors.findIndex(([block]) => block > index);
    const before = next < 0 ? anchors.length - 1 : next - 1;
    const [from, to] = [anchors[Math.max(0, before)], anchors[before + 1]];
    const [start, target] = [topOf(here, from[0]), topOf(there, from[1])];
    let place = target + at - start;
    if (before >= 0 && to && to[1] >= from[1] && to[1] - from[1] <= to[0] - from[0] + NEAR) {
      const share = (at - start) / Math.max(1, topOf(here, to[0]) - start);
      place = target + share * (topOf(there, to[1]) - target);
    }
    return { top: scrollTopFor(there.node, place), block: from[1] };
  }
}

/** [block, its match] where a neighbour's match lies near; one passage alone must not throw the other pane about. */
function steady(matches) {
  const near = (a, b) => a !== undefined && a !== null && Math.abs(a - b) <= NEAR;
  return matches.flatMap((match, index) => {
    if (match === null) return [];
    const around = [...matches.slice(Math.max(0, index - NEAR), index), ...matches.slice(index + 1, index + 1 + NEAR)];
    return around.some((other) => near(other, match)) ? [[index, match]] : [];
  });
}

/** The place of the reading line: the top at the very top, so that the first block can be meant too. */
function readingPlace(node) {
  return node.scrollTop + Math.min(node.scrollTop, READING_LINE * node.clientHeight);
}

/** The scrollTop that puts `place` on the reading line. */
function scrollTopFor(node, place) {
  return Math.max(place / 2, place - READING_LINE * node.clientHeight);
}

function topOf({ node, report }, index) {
  return report.children[index].getBoundingClientRect().top - node.getBoundingClientRect().top + node.scrollTop;
}

/** Index of the block at `place`: the last that begins at or above it, else the first; -1 in an empty report. */
function blockAt(pane, place) {
  const count = pane.report.children.length;
  return Math.min(count - 1, Math.max(0, firstOf(count, (n) => topOf(pane, n) > place + 1) - 1));
}
