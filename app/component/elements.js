// Making elements. Text enters through textContent only; what the server sanitised (panes[].html, panes[].formulas and guidance_html)
// is the one thing that is ever parsed as HTML, in reading.js, formulas.js and dialogs.js.

const ICONS = {
  check: "M3 8.5 6.5 12 13 4.5",
  back: "M10 3 5 8l5 5",
  on: "M6 3l5 5-5 5",
  close: "M4.5 4.5l7 7M11.5 4.5l-7 7",
  list: "M5.5 4H14M5.5 8H14M5.5 12H14M2 4h.5M2 8h.5M2 12h.5",
  sync: "M4.5 13V3M2 5.5 4.5 3 7 5.5M11.5 3v10M9 10.5l2.5 2.5 2.5-2.5",
  swap: "M11 2.5 13.5 5 11 7.5M13 5H2.5M5 8.5 2.5 11 5 13.5M3 11h10.5",
  match: "M2 4h3M2 12h3M11 4h3M11 12h3M5.5 4l5 8M5.5 12l5-8",
  outline: "M2.5 3.5h9M5 8h8.5M5 12.5h6",
  find: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3 14 14",
  up: "M3 10.5 8 5.5l5 5",
  down: "M3 5.5l5 5 5-5",
  close: "M4 4l8 8M12 4l-8 8",
  enlarge: "M9.5 2.5h4v4M13.5 2.5 9 7M6.5 13.5h-4v-4M2.5 13.5 7 9",
  undo: "M6 3 2.5 6.5 6 10M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6.5",
  bookmark: "M4.5 2.5h7V13L8 10l-3.5 3Z",
  theme: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM8 2v12",
  more: "M3 8h.01M8 8h.01M13 8h.01",
};

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** make("button", {class: "row", onclick: f}, "text", node): null, undefined and false leave an attribute or child out. */
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** WebKit counts no click where the text that was pressed is another node at release, be it the same words. */
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** An id of 128 random bits; crypto.randomUUID is missing on plain http, where laboratories do run this. */
function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const nextFrame = () => new Promise((done) => requestAnimationFrame(() => done()));
const isTextField = (node) =>
  node instanceof Element &&
  (node.matches("textarea, input:not([type=checkbox]):not([type=radio]), select") || node.isContentEditable);
/** What is scrolled must be reachable by keyboard; else it is no tab stop. */
const stopWhereScrolled = (box) =>
  box.scrollHeight > box.clientHeight + 1 ? box.setAttribute("tabindex", "0") : box.removeAttribute("tabindex");
const hasFocus = (node) => node.getRootNode().activeElement === node;
