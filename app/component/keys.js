// The keyboard. Single keys act only outside text, without a modifier, once per press, when the item is on screen.

// shown, does: the line of the help sheet, does as the key of a text (none: not listed), where `asked` says so; `narrowed`:
// those that an item has; keys: event.key; run(page, key)
const KEYS = [
  {
    shown: ["1", "2", "3", "4"],
    does: "keys.choose",
    asked: (item) => item?.task_type !== "pointwise_rating",
    narrowed: (shown, item) => (item ? item.choices.map((_, n) => String(n + 1)) : shown),
    keys: [..."0123456789"],
    run: (page, key) => page.digit(key),
  },
  { shown: ["←", "→"], does: "keys.arrows" },
  { shown: ["0–9"], does: "keys.score", asked: (item) => item?.task_type === "pointwise_rating" },
  {
    shown: ["j", "k"],
    does: "keys.criterion",
    keys: ["j", "k"],
    run: (page, key) => page.step(key === "j" ? 1 : -1),
  },
  {
    shown: ["[", "]"],
    does: "keys.group",
    keys: ["[", "]"],
    run: (page, key) => page.stepGroup(key === "]" ? 1 : -1),
  },
  {
    shown: ["Enter", "Esc"],
    does: "keys.rationale",
    keys: ["Enter"],
    run: (page) => page.form.focusRationale(),
  },
  {
    shown: ["c"],
    does: "keys.confidence",
    keys: ["c"],
    asked: (item) => item?.confidence,
    run: (page) => page.item.confidence && page.form.confidence.focus(),
  },
  { shown: ["q"], does: "keys.quote", keys: ["q"], run: (page) => page.quoting.quote() },
  { shown: ["Ctrl Enter"], does: "keys.accept" },
  { shown: ["Ctrl Shift Enter"], does: "keys.submit" },
  {
    shown: ["Del"],
    does: "keys.clear",
    keys: ["Delete"],
    run: (page) => page.clear(),
  },
  { shown: ["Ctrl Z"], does: "keys.undo", asked: (item) => item?.aids.includes("undo") },
  {
    shown: ["d", "u"],
    does: "keys.scroll",
    keys: ["d", "u"],
    run: (page, key) => page.scrolling.halfScreen(key === "d" ? 1 : -1),
  },
  { shown: ["↑", "↓", "Space"], does: "keys.scroll_on" },
  { shown: ["Alt ↑", "Alt ↓"], does: "keys.scroll_inside" },
  { shown: ["w"], does: "keys.other_report", keys: ["w"], run: (page) => page.reading.switchPane() },
  {
    shown: ["s"],
    does: "keys.sync",
    keys: ["s"],
    run: (page) => page.preferences.next("sync"),
  },
  {
    shown: ["p"],
    does: "keys.alike",
    keys: ["p"],
    run: (page) => page.reading.showAlike(),
  },
  { shown: ["o"], does: "keys.outline", keys: ["o"], run: (page) => page.outline.open() },
  {
    shown: ["z"],
    does: "keys.enlarge",
    keys: ["z"],
    run: (page) => page.reading.panes.size && enlargeNearest(page.reading.panes.get(page.reading.active)),
  },
  { shown: ["/"], does: "keys.find", keys: ["/"], run: (page) => page.find.open() },
  {
    shown: ["+", "-"],
    does: "keys.text_size",
    keys: ["+", "=", "-"],
    run: (page, key) => page.preferences.font(key === "-" ? -1 : 1),
  },
  {
    shown: ["b"],
    does: "keys.bookmark",
    asked: (item) => item?.aids.includes("bookmarks"),
    keys: ["b"],
    run: (page) => page.bookmarks.toggle(),
  },
  {
    shown: ["n"],
    does: "keys.notes",
    asked: (item) => item?.aids.includes("notes"),
    keys: ["n"],
    run: (page) => page.dialogs.notes(),
  },
  { shown: ["f"], does: "keys.flag", keys: ["f"], run: (page) => page.writable && page.dialogs.flag() },
  { shown: ["m"], does: "keys.comment", keys: ["m"], run: (page) => page.writable && page.dialogs.comment() },
  { shown: ["x"], does: "keys.skip", asked: (item) => !item?.training, keys: ["x"], run: (page) => page.writable && !page.item.training && page.dialogs.skip() },
  { shown: ["?"], does: "keys.help", keys: ["?"], run: (page) => page.dialogs.help() },
];
// letters by the usual one, so that all lie under one hand; ctrl: the letter that with Ctrl does as Enter
const LETTERS = {
  usual: {},
  left: { j: "g", k: "t", "]": "G", "[": "T", u: "e", o: "r", p: "a", "/": "v", m: "F", n: "B", ctrl: "s" },
  right: { d: "h", w: "l", q: "y", c: "i", s: "L", z: "O", b: "H", f: "M", x: "N" },
};
const LETTER = /^[^\p{N}\p{Z}\p{C}\p{M}.,]$/u; // digits choose, and with these two signs type a score
const SINGLE = new Map(KEYS.flatMap((entry) => (entry.keys ?? []).map((key) => [key, entry])));

const PLACES = { Slash: "/", BracketLeft: "[", BracketRight: "]", Minus: "-", Equal: "=" };

/** The key; on a keyboard of another script what a Latin one has in its place, unless it is one of the person's own. */
function latin({ key, code, shiftKey }) {
  if (key === "؟") return "?";
  if (!/^[\p{L}\p{Nd}]$/u.test(key) || /[\p{Script=Latin}\d]/u.test(key) || Object.values(ownKeys).includes(key)) return key;
  const place = /^(?:Key|Digit|Numpad)([A-Z\d])$/.exec(code)?.[1] ?? PLACES[code] ?? key;
  return shiftKey ? place : place.toLowerCase();
}

function listenToKeys(page, root, signal) {
  const pressed = (event) => {
    const key = latin(event);
    event.stopPropagation(); // Streamlit would rerun the page at "r" and offer to clear its cache at "c"
    if (event.isComposing || event.defaultPrevented || root.querySelector(":popover-open")) return;
    const enters = (event.key === "Enter" || key.toLowerCase() === ownKeys.ctrl) && (event.ctrlKey || event.metaKey) && !event.altKey;
    if (page.dialogs.open) {
      if (event.key !== "Escape" && !enters) return;
      event.preventDefault(); // the page itself is a dialog that must stay
      if (!enters) page.dialogs.close();
      else if (!event.repeat && !event.shiftKey) page.dialogs.confirm();
      return;
    }
    const { scores } = page.form;
    const settles = scores.typed && !scores.continuedBy(key);
    if (settles) scores.settle(); // which may move the focus into the rationale, before this key acts
    const target = settles ? (root.getRootNode().activeElement ?? root) : event.composedPath()[0];
    const inText = isTextField(target);
    if (enters) {
      event.preventDefault();
      if (event.repeat || !page.ready) return;
      if (event.shiftKey) page.leaving.submit();
      else page.accept();
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (page.find.isOpen && !inText) page.find.close();
      else if (target === scores.field.input) root.focus({ preventScroll: true });
      else if (inText) page.form.focusChoices();
    } else if (/^z$/i.test(key) && (event.ctrlKey || event.metaKey) && !event.shiftKey && !isWritten(target)) {
      event.preventDefault();
      if (!event.repeat) page.undo.back();
    } else if (page.scrolling.pressed(event, target)) event.preventDefault();
    else if (!inText) single(page, event, target);
  };
  root.addEventListener("keydown", pressed, { signal });
  // focus falls back to the document when the focused control disappears; everything else there is inert
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.target !== document.body) return;
      root.focus({ preventScroll: true });
      pressed(event);
    },
    { signal, capture: true },
  );
  for (const name of ["keyup", "keypress"]) root.addEventListener(name, (event) => event.stopPropagation());
}

/** From now on; what is on screen already, too. */
function takeLetters(own, root) {
  const before = ownKeys;
  ownKeys = own;
  for (const node of root.querySelectorAll(".tool, .figure, .enlarge, .quote-button"))
    for (const name of ["title", "aria-label"]) if (node.hasAttribute(name)) node.setAttribute(name, withOwnKey(node.getAttribute(name), before));
}

/** The letters with one more moved; whatever had that key takes the place of the moved one. */
function moved(usual, key) {
  const other = usualOf(key);
  return { ...ownKeys, ...(other && SINGLE.has(other) ? { [other]: pressedFor(usual) } : {}), [usual]: key };
}

/** A text with something of its own to undo; a box where a choice led, and nothing was typed, has not. */
const isWritten = (target) => isTextField(target) && !(target.matches("textarea") && !target.value && !target.dataset.typed);

function single(page, event, target) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !page.ready) return;
  const named = event.key.length > 1; // Enter and Delete belong to the focused control, they are no letters to switch off
  const inForm = target.closest?.("[role=radiogroup]");
  if (!named && !page.preferences.values.keys) return;
  if (event.key === "Enter" && !inForm && target.closest?.("button, a, summary")) return;
  if (event.key === "Delete" && !inForm) return;
  if (/^\p{L}$/u.test(event.key) && page.form.asksConfidence && page.lacksRationale) return void page.form.focusRationale(); // which it begins
  const key = usualOf(latin(event));
  const entry = SINGLE.get(key);
  if (!entry) return;
  event.preventDefault();
  entry.run(page, key);
}
