// Keys that scroll the report in use. A browser would scroll only what has the focus, and that is the question; from
// inside a text the same keys do so with Alt.

const LINE_PX = 40; // as browsers scroll at an arrow
const SCREEN = 0.875; // of a pane's height, as they do at Page Down
const GLIDE_MS = 400; // a second press within this time goes on from where the first will have led
const LINES = { ArrowDown: 1, ArrowUp: -1 };
const SCREENS = { PageDown: 1, PageUp: -1 };

/** Where a key leads in a pane: a place from its top in px, or null for a key that scrolls nothing. */
function scrolledBy({ key, shiftKey, altKey }, { top, height, length }) {
  if (shiftKey && key !== " ") return null; // widens what is selected
  if (key in LINES) return top + LINES[key] * LINE_PX;
  if (key in SCREENS) return top + SCREENS[key] * SCREEN * height;
  if (altKey) return null;
  if (key === " ") return top + (shiftKey ? -1 : 1) * SCREEN * height;
  return { Home: 0, End: length }[key] ?? null;
}

/** Whether the focused control does something else at this key: a box is written in, a button pressed, a region scrolled. */
function isTaken({ key, altKey }, target) {
  if (altKey) return false;
  if (isTextField(target)) return true;
  const scrolled = ".pane, [tabindex='0']:not(button, .ask, .form), :is(.ask, .form):focus"; // from its answers the report is
  return Boolean(target.closest?.(key === " " ? `button, a, summary, ${scrolled}` : scrolled));
}

class Scrolling {
  constructor(reading) {
    this.reading = reading;
    this.goal = { node: null, top: 0, at: -Infinity };
  }

  /** True where the key scrolled. */
  pressed(event, target) {
    const node = this.reading.panes.get(this.reading.active)?.node;
    if (!node || event.ctrlKey || event.metaKey || isTaken(event, target)) return false;
    const top = scrolledBy(event, { top: this.from(node), height: node.clientHeight, length: node.scrollHeight });
    if (top === null) return false;
    this.glide(node, top, event.repeat || event.key in LINES || ["Home", "End"].includes(event.key));
    return true;
  }

  halfScreen(direction) {
    const node = this.reading.panes.get(this.reading.active)?.node;
    if (node) this.glide(node, this.from(node) + (direction * node.clientHeight) / 2);
  }

  /** Where the pane is, or will be once it has stopped. */
  from(node) {
    const { goal } = this;
    return goal.node === node && performance.now() - goal.at < GLIDE_MS ? goal.top : node.scrollTop;
  }

  glide(node, top, atOnce = false) {
    if (!node.clientHeight) this.reading.turned();
    const calm = atOnce || matchMedia("(prefers-reduced-motion: reduce)").matches;
    const to = Math.min(Math.max(0, top), node.scrollHeight - node.clientHeight);
    this.goal = { node, top: to, at: performance.now() };
    node.scrollTo({ top: to, behavior: calm ? "instant" : "smooth" });
  }
}
