// The sheets over the page: help and keys, topic, flag, comment, skip, one question before something is lost.

const MAX_NOTES = 10_000;
// Whatever the focus leaves stays that long: where its place goes first, Orca in Firefox takes the next one in silence. A
// time, for a page is told of no event when a screen reader, a program of its own, has followed.
const FOLLOWED_MS = 300;

/** What was said before a sheet came is not said again as it goes: Chromium tells what stands where one may go again. */
function saidBefore(root) {
  const regions = [...root.querySelectorAll("[role=status], [role=alert]")].filter((one) => one.textContent);
  for (const one of regions) {
    const { ariaLive } = one;
    one.ariaLive = "off";
    setTimeout(() => one.ariaLive === "off" && (one.ariaLive = ariaLive), FOLLOWED_MS);
  }
}

/** A sheet's node is taken out, and Firefox's caret before it: Orca follows one that goes with it out of the page. */
function taken(node) {
  const selection = getSelection();
  if (node.contains(selection.anchorNode)) selection.removeAllRanges();
  node.remove();
}

class Dialogs {
  constructor({ page, root }) {
    this.page = page;
    this.root = root;
    this.node = null;
  }

  get open() {
    return Boolean(this.node?.open);
  }

  close() {
    this.node?.close();
  }

  /** Do what its one prominent button does, where it has one. */
  confirm() {
    this.node.querySelector(".submit")?.click();
  }

  show(title, ...content) {
    this.close();
    const node = make(
      "dialog",
      { class: "sheet", "aria-labelledby": "sheet-title", "aria-modal": "true", tabindex: -1 }, // it scrolls: no stop of its own
      make(
        "div",
        { class: "sheet-head" },
        make("h2", { id: "sheet-title" }, make("bdi", {}, title)),
        make("button", { type: "button", class: "quiet", onclick: () => node.close() }, tell("dialog.close")),
      ),
      make("div", { class: "sheet-body" }, ...content),
    );
    this.lay(node);
    return node;
  }

  /** Over the page, which is out of reach until it closes. It is no modal dialog: Firefox takes the page away at once then. */
  lay(node) {
    this.node?.remove();
    this.node = node;
    const page = [...this.root.children];
    const behind = make("div", { class: "behind", onclick: () => node.close() });
    const held = ({ target, relatedTarget }) => {
      if (!node.contains(target)) (node.contains(relatedTarget) ? relatedTarget : node.querySelector("button")).focus();
    };
    node.close = () => {
      this.root.removeEventListener("focusin", held);
      saidBefore(this.root);
      for (const part of page) part.inert = false; // the focus goes back there
      behind.remove();
      HTMLDialogElement.prototype.close.call(node);
    };
    node.addEventListener("close", () => setTimeout(() => taken(node), FOLLOWED_MS));
    this.root.append(behind, node);
    node.show();
    this.root.addEventListener("focusin", held);
    setTimeout(() => page.forEach((part) => (part.inert = node.open)), FOLLOWED_MS);
  }

  /** A figure with its caption, or a table, over the whole page; a click shows a figure in its own size, and back. */
  enlarge(title, part, { language, dir }, formulas) {
    const large = part.cloneNode(true);
    const caption = part.closest(".captioned")?.cloneNode(true);
    for (const figure of caption?.querySelectorAll(".figure") ?? []) figure.remove();
    const shown = caption?.textContent.trim() ? [large, caption] : [large];
    for (const each of shown) typeset(each, formulas);
    large.classList.toggle("own-size", innerWidth < 600); // a telephone's page is no larger than the pane was
    large.addEventListener("click", () => large.classList.toggle("own-size"));
    this.show(title, make("div", { class: "report large", lang: language, dir, tabindex: 0 }, ...shown)).classList.add("wide");
  }

  help() {
    const { item, preferences } = this.page;
    const theirs = { lang: item?.language, dir: item?.dir };
    const guidance = make("div", { class: "guidance", ...theirs });
    guidance.innerHTML = item?.guidance_html ?? ""; // sanitised by the server
    const single = make("input", {
      type: "checkbox",
      onchange: (event) => preferences.choose({ keys: event.target.checked }),
    });
    single.checked = preferences.values.keys;
    const rows = make("tbody");
    const names = { usual: tell("letters.usual"), left: tell("letters.left"), right: tell("letters.right"), own: tell("letters.own") };
    const set = make("select", { onchange: () => (set.value === "own" ? draw() : take(LETTERS[set.value])) });
    set.append(...Object.entries(names).map(([value, words]) => make("option", { value }, words)));
    const same = (one, other) => Object.keys({ ...one, ...other }).every((key) => one[key] === other[key]);
    set.value = Object.keys(LETTERS).find((name) => same(LETTERS[name], ownKeys)) ?? "own";
    const take = (own) => {
      preferences.choose({ letters: own });
      draw();
    };
    const own = (usual) => {
      const input = make("input", { maxlength: 1, "data-usual": usual, "aria-label": tell("letters.instead", { key: usual }), autocapitalize: "off", autocomplete: "off" });
      input.value = pressedFor(usual);
      input.addEventListener("focus", () => input.select());
      input.addEventListener("change", () => {
        if (!LETTER.test(input.value)) return void (input.value = pressedFor(usual));
        preferences.choose({ letters: moved(usual, input.value) });
        for (const each of rows.querySelectorAll("input")) each.value = pressedFor(each.dataset.usual);
      });
      return input;
    };
    const line = ({ shown, does, keys: pressed = [], narrowed = (all) => all }) => {
      const isOwn = (key) => set.value === "own" && pressed.includes(key) && LETTER.test(key);
      const keys = narrowed(shown, item).map((key) => (isOwn(key) ? own(key) : make("kbd", {}, inscribed(pressedFor(key)))));
      return make("tr", {}, make("th", { scope: "row" }, ...keys), make("td", {}, tell(does)));
    };
    const draw = () => rows.replaceChildren(...KEYS.filter((key) => key.does && (key.asked?.(item) ?? true)).map(line));
    draw();
    this.show(
      tell("dialog.help"),
      make(
        "div",
        { class: "columns" },
        make("section", {}, make("h3", {}, tell("dialog.task")), make("p", { class: "task", ...theirs }, item?.task ?? ""), guidance),
        make(
          "section",
          {},
          make("h3", {}, tell("dialog.keys")),
          make("table", { class: "keys" }, rows),
          make("label", { class: "switch" }, single, ` ${tell("dialog.single_keys")}`),
          make("label", { class: "switch" }, `${tell("letters.name")} `, set),
          make("p", { class: "soft" }, tell("dialog.ctrl_keys")),
        ),
      ),
    );
  }

  topic() {
    const { topic, task, brought, language: lang, dir } = this.page.item;
    const files = make("div", { class: "report brought", lang: topic.language, dir: topic.dir });
    files.innerHTML = brought?.html ?? ""; // sanitised by the server (annotation/rendering.py)
    typeset(files, brought?.formulas);
    this.show(
      topic.title,
      make(
        "div",
        { class: "prompt", lang: topic.language, dir: topic.dir },
        topic.prompt || tell("dialog.no_prompt"),
      ),
      make("p", { class: "soft", lang, dir }, task),
      ...(brought ? [make("h3", {}, paneLabel(brought.name)), files] : []),
    );
  }

  /** What a person writes down for themselves; saved while it is typed. */
  notes() {
    const { page } = this;
    if (!page.may("notes")) return;
    const text = make("textarea", { rows: 12, maxlength: MAX_NOTES, dir: "auto", spellcheck: "true" });
    text.value = page.preferences.notes;
    text.readOnly = !page.writable;
    text.addEventListener("input", () => page.preferences.write(text.value));
    this.show(tell("notes.title"), make("p", {}, tell("notes.explain")), make("label", { class: "field" }, tell("notes.name"), text));
    text.focus();
  }

  /** One text with Send; `kinds` are radio buttons above it, of which one must be chosen. */
  ask(title, { explain, kinds = [], name, needText, send, confirm }) {
    const text = make("textarea", { rows: 4, maxlength: 2000 });
    const problem = make("p", { class: "problem", role: "alert", "aria-live": "assertive" });
    const options = kinds.map(([id, words]) => {
      const radio = make("input", { type: "radio", name: "kind", value: id });
      return [radio, make("label", { class: "switch" }, radio, ` ${words}`)];
    });
    const go = () => {
      const kind = options.find(([radio]) => radio.checked)?.[0].value;
      const lacks = kinds.length && !kind ? options[0][0] : needText && !text.value.trim() ? text : null;
      if (lacks) {
        problem.textContent = lacks === text ? tell("dialog.needed", { name }) : tell("dialog.choose");
        lacks.focus();
        return;
      }
      this.close();
      send(text.value.trim(), kind);
    };
    this.show(
      title,
      make("p", {}, explain),
      ...options.map(([, label]) => label),
      make("label", { class: "field" }, name, text),
      problem,
      make("button", { type: "button", class: "submit ready", onclick: go }, confirm),
    );
    (options[0]?.[0] ?? text).focus();
  }

  flag() {
    this.ask(tell("flag.title"), {
      name: tell("flag.name"),
      explain: tell("flag.explain"),
      kinds: [
        ["broken_text", tell("flag.broken_text")],
        ["reveals_author", tell("flag.reveals_author")],
        ["other", tell("flag.other")],
      ],
      confirm: tell("flag.send"),
      send: (text, flag) => this.page.remark("flag", { flag, text }),
    });
  }

  comment() {
    this.ask(tell("comment.title"), {
      name: tell("comment.name"),
      needText: true,
      explain: tell("comment.explain"),
      confirm: tell("comment.send"),
      send: (text) => this.page.remark("comment", { text }),
    });
  }

  /** After an item is handed in: which kind of writer each report has, if one was recognised. Any way out goes `on`. */
  guess(item, on) {
    const { kinds, sides } = item.guess;
    const told = (kind) => (kind === "person" ? tell("guess.person") : kind);
    const lists = sides.map((side) => {
      const option = (value, words) => make("option", { value }, words);
      const list = make("select", { name: side }, option("?", tell("guess.unsaid")), option("", tell("guess.none")), ...kinds.map((kind) => option(kind, told(kind))));
      return [side, list];
    });
    const node = this.show(
      tell("guess.title"),
      make("p", {}, tell("guess.explain")),
      ...lists.map(([side, list]) => make("label", { class: "field" }, tell(sides.length > 1 ? `pane.${side}_region` : "pane.report"), list)),
      make("button", { type: "button", class: "submit ready", onclick: () => node.close() }, tell("guess.on")),
    );
    lists[0][1].focus();
    node.addEventListener("close", () => {
      const said = lists.filter(([, list]) => list.value !== "?").map(([side, list]) => [side, list.value]);
      const entry = { kind: "guess", aid: item.aid, page: item.page, client_uuid: randomId(), client_ts: new Date().toISOString(), ...Object.fromEntries(said) };
      if (said.length) storage.set(`calipers:${this.page.data.person}:${item.aid}:entry:guess`, JSON.stringify(entry));
      on(); // where what an item left unsent is sent
    });
  }

  skip() {
    this.ask(tell("skip.title"), {
      name: tell("skip.name"),
      needText: true,
      explain: tell("skip.explain"),
      confirm: tell("skip.send"),
      send: (text) => this.page.leaving.submit("skip", text),
    });
  }

  /** Whether to log out all the same, with n answers unsent; they can be taken as a file first. */
  sureToLose(n) {
    return new Promise((done) => {
      let yes = false;
      const button = (text, onclick, kind = { class: "quiet" }) => make("button", { type: "button", onclick, ...kind }, text);
      const node = this.show(
        tell("leaving.log_out"),
        make("p", {}, tell("leaving.would_be_lost", { n })),
        button(tell("sign_out.stay"), () => node.close(), { class: "submit ready" }),
        button(tell("sign_out.download"), () => this.page.rescue.download()),
        button(tell("leaving.lose_them"), () => {
          yes = true;
          node.close();
        }),
      );
      node.addEventListener("close", () => done(yes));
    });
  }
}
