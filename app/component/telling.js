// Telling: every word of the interface comes from the catalogues (app/texts). English is in TEXTS before this part,
// {dir, words} by language; a packet has the study's there as well, a page fetches it beside the component (loading.js).
// A page speaks one language: the study's, where there is a catalogue of it, else English.

// full-width characters, as annotation/texts/scripts.py has them
const WIDE =
  /[\u1100-\u115f\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3ffff}]/u;
const FROM_THE_RIGHT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
let language = "en";
let plural = new Intl.PluralRules(language);

/** From now on, which must be before anything is drawn; `tag` is the study's language, `words` what was fetched. */
function speak(tag = "en", words = {}) {
  Object.assign(TEXTS, words);
  const named = (wanted) => Object.keys(TEXTS).find((name) => name.toLowerCase() === wanted.toLowerCase());
  language = named(tag) ?? named(tag.split("-")[0]) ?? "en";
  plural = new Intl.PluralRules(language);
}

let ownKeys = {}; // the person's own by the usual ones; ctrl: which with Ctrl does as Enter

/** What a key means where letters are moved: the usual key; null for a letter that was given away. */
const usualOf = (key, own = ownKeys) => Object.keys(own).find((usual) => usual !== "ctrl" && own[usual] === key) ?? (key in own ? null : key);

/** What this person presses for a usual key. */
const pressedFor = (key) => ownKeys[key] ?? (ownKeys.ctrl && /^Ctrl.*Enter$/.test(key) ? key.replace("Enter", ownKeys.ctrl.toUpperCase()) : key);

/** A key as keyboards of the page's language name it: "Strg Eingabe". */
const inscribed = (key) => key.replace(/[A-Z][a-z]+/g, (name) => (isTold(`keyboard.${name.toLowerCase()}`) ? tell(`keyboard.${name.toLowerCase()}`) : name));

/** A text that ends with a key, "Find (/)", and names this person's. `before`: the letters that it was told with. */
const withOwnKey = (text, before = {}) => text.replace(/\((\D)\)$/u, (_, key) => `(${pressedFor(usualOf(key, before) ?? key)})`);

/** The text of `key`, with {name} filled in; where it has forms, the one of the number `n`. */
function tell(key, values = {}) {
  const text = TEXTS[language].words[key] ?? TEXTS.en.words[key];
  const form = typeof text === "string" ? text : (text[plural.select(values.n)] ?? text.other);
  return withOwnKey(form).replace(/\{(\w+)\}/g, (_, name) => apart(values[name]));
}

/** What runs against the page's direction, as a date does from the right, set apart: else it turns over or draws the numbers beside it. */
function apart(value) {
  const text = String(value);
  const against = TEXTS[language].dir === "rtl" ? /\p{L}|\D\d/u.test(text) && !FROM_THE_RIGHT.test(text) : FROM_THE_RIGHT.test(text);
  return against ? `\u2068${text}\u2069` : text;
}

/** Characters of what was typed, a full-width one counted as two; annotation/texts/scripts.py counts the same. */
const typedLength = (text) => [...text.trim()].reduce((sum, letter) => sum + (WIDE.test(letter) ? 2 : 1), 0);

/** What comes after what, in a list: for `reduce`. */
const joined = (before, next) => tell("list.joined", { before, next });

/** "Clear, 1 of 2: Which is clearer?": what is heard where a question is to be answered. A description would be told twice by Chromium, as changed too. */
const asking = (named, text) => tell("list.row", { label: named, state: text });

const isTold = (key) => key in TEXTS.en.words;

/** What the server refused, by its code; in English the server's own sentence, which says more. */
function tellRefusal(code, text, otherwise = "refusal.other") {
  if (text && language === "en") return text;
  return tell(isTold(`refusal.${code}`) ? `refusal.${code}` : otherwise);
}

/** A pane's title; the server names it in English (annotation/items/shown.py). */
function paneTitle(name) {
  const key = `pane.${name.toLowerCase()}`;
  return isTold(key) ? tell(key) : name;
}

/** "Left report", "Reference report"; "Report" and "Sources" say enough by themselves. */
function paneLabel(name) {
  const key = `pane.${name.toLowerCase()}_region`;
  return isTold(key) ? tell(key) : paneTitle(name);
}
