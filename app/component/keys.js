// The keyboard. Single keys act only outside text, without a modifier, once per press, when the item is on screen.

// shown, does: the line of the help sheet (none: not listed); keys: event.key; run(page, key)
const KEYS = [
  {
    shown: ["1", "2", "3", "4"],
    does: "choose, or type the score; then write the rationale",
    keys: [..."0123456789"],
    run: (page, key) => page.digit(key),
  },
  {
    shown: ["j", "k"],
    does: "next, previous criterion",
    keys: ["j", "k"],
    run: (page, key) => page.step(key === "j" ? 1 : -1),
  },
  {
    shown: ["[", "]"],
    does: "previous, next group",
    keys: ["[", "]"],
    run: (page, key) => page.stepGroup(key === "]" ? 1 : -1),
  },
  {
    shown: ["Enter", "Esc"],
    does: "into the rationale, out of it",
    keys: ["Enter"],
    run: (page) => page.form.focusRationale(),
  },
  { shown: ["q"], does: "quote the selected text", keys: ["q"], run: (page) => page.quoting.quote() },
  { shown: ["Ctrl Enter"], does: "accept, go to the next unanswered criterion" },
  { shown: ["Ctrl Shift Enter"], does: "submit" },
  {
    shown: ["Del"],
    does: "on the choices: clear the answer",
    keys: ["Delete"],
    run: (page) => page.choose(null, "key"),
  },
  {
    shown: ["d", "u"],
    does: "half a screen down, up",
    keys: ["d", "u"],
    run: (page, key) => page.reading.halfScreen(key === "d" ? 1 : -1),
  },
  { shown: ["w"], does: "the other report", keys: ["w"], run: (page) => page.reading.switchPane() },
  {
    shown: ["s"],
    does: "scroll together: off, in proportion, by alike passages",
    keys: ["s"],
    run: (page) => page.preferences.next("sync"),
  },
  {
    shown: ["p"],
    does: "the alike passage of the other report",
    keys: ["p"],
    run: (page) => page.reading.showAlike(),
  },
  { shown: ["o"], does: "outline of both reports", keys: ["o"], run: (page) => page.outline.open() },
  { shown: ["/"], does: "find in both reports", keys: ["/"], run: (page) => page.find.open() },
  {
    shown: ["+", "-"],
    does: "text size",
    keys: ["+", "=", "-"],
    run: (page, key) => page.preferences.font(key === "-" ? -1 : 1),
  },
  { shown: ["f"], does: "flag a problem", keys: ["f"], run: (page) => page.writable && page.dialogs.flag() },
  { shown: ["m"], does: "comment", keys: ["m"], run: (page) => page.writable && page.dialogs.comment() },
  { shown: ["x"], does: "skip this item", keys: ["x"], run: (page) => page.writable && !page.item.training && page.dialogs.skip() },
  { shown: ["?"], does: "this sheet", keys: ["?"], run: (page) => page.dialogs.help() },
];
const SINGLE = new Map(KEYS.flatMap((entry) => (entry.keys ?? []).map((key) => [key, entry])));

function listenToKeys(page, root, signal) {
  const pressed = (event) => {
    event.stopPropagation(); // Streamlit would rerun the page at "r" and offer to clear its cache at "c"
    if (event.isComposing || event.defaultPrevented || page.dialogs.open || root.querySelector(":popover-open"))
      return;
    const { scores } = page.form;
    const settles = scores.typed && !scores.continuedBy(event.key);
    if (settles) scores.settle(); // which may move the focus into the rationale, before this key acts
    const target = settles ? (root.getRootNode().activeElement ?? root) : event.composedPath()[0];
    const inText = isTextField(target);
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.altKey) {
      event.preventDefault();
      if (event.repeat || !page.ready) return;
      if (event.shiftKey) page.leaving.submit();
      else page.accept();
    } else if (event.key === "Escape") {
      event.preventDefault(); // the page itself is a dialog that must stay
      if (page.find.isOpen && !inText) page.find.close();
      else if (target === scores.field.input) root.focus({ preventScroll: true });
      else if (inText) page.form.focusChoices();
    } else if (!inText) single(page, event, target);
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

function single(page, event, target) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !page.ready) return;
  const named = event.key.length > 1; // Enter and Delete belong to the focused control, they are no letters to switch off
  const inForm = target.closest?.("[role=radiogroup]");
  if (!named && !page.preferences.values.keys) return;
  if (event.key === "Enter" && !inForm && target.closest?.("button, a, summary")) return;
  if (event.key === "Delete" && !inForm) return;
  const entry = SINGLE.get(event.key);
  if (!entry) return;
  event.preventDefault();
  entry.run(page, event.key);
}
