// The component: builds the page once per mount, keeps it over reruns, and covers Streamlit's own page entirely.

const LAYOUT = { wide: 1280, two: 900 }; // px; below: the form docks at the bottom; one report at a time
const pages = new WeakMap();

/** The frame of the page: regions, layout, theme, phases. */
class Shell {
  constructor(parent) {
    this.header = make("header", { class: "header" });
    this.reading = make("div", { class: "reading" });
    this.form = make("section", { class: "form", "aria-label": tell("page.criteria") });
    this.message = make("div", { class: "message", role: "status" });
    this.menu = make("div", { class: "menu", popover: "auto" });
    // where the focus is on a new item: it says which, where the dialog's own words would be all that stands on the page
    this.start = make("h1", { class: "unseen", tabindex: -1, autofocus: true });
    if (parent === document.body) this.start.ariaLabel = tell("page.annotation"); // a packet's cover stands before any item
    const skip = make(
      "button",
      { type: "button", class: "skip", onclick: () => this.page.form.focusChoices() },
      tell("page.skip_link"),
    );
    // Streamlit's page has a main already, a packet none
    const body = (this.body = make(parent === document.body ? "main" : "div", { class: "body" }, this.reading, this.form, this.message));
    this.root = make(
      "dialog",
      {
        class: "calipers",
        tabindex: -1,
        closedby: "none",
        lang: language,
        dir: TEXTS[language].dir,
        "aria-label": tell("page.annotation"),
        "data-phase": "loading",
      },
      this.start,
      skip,
      this.header,
      body,
      this.menu,
    );
    parent.append(this.root);
    // A modal dialog lies above whatever Streamlit draws and makes all of it inert, also its own "Connection error",
    // which would otherwise take the focus, and with it what is being typed, while the server is away.
    this.root.showModal();
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.theme = "system";
    this.ends = new AbortController();
    const { signal } = this.ends;
    this.dark.addEventListener("change", () => this.paint(), { signal });
    this.size = new ResizeObserver(() => this.arrange());
    this.size.observe(this.root);
    this.root.addEventListener("cancel", (event) => this.cancelled(event), { signal });
    this.root.addEventListener("close", (event) => event.target === this.root && !this.gone && this.root.showModal(), {
      signal,
    });
  }

  /** A telephone's way back: out of a sheet, not out of the page. */
  cancelled(event) {
    if (event.target !== this.root) return;
    event.preventDefault();
    this.page?.dialogs.close();
  }

  apply({ font, theme, form }) {
    this.root.style.setProperty("--font", `${font}px`);
    Object.assign(this, { theme, place: form });
    this.paint();
    this.arrange();
  }

  paint() {
    const dark = this.theme === "dark" || (this.theme === "system" && this.dark.matches);
    this.root.dataset.theme = dark ? "dark" : "light";
  }

  arrange() {
    const width = this.root.clientWidth;
    const right = width >= LAYOUT.wide && this.place !== "bottom";
    this.root.dataset.layout = right ? "right" : width >= LAYOUT.two ? "dock" : "single";
  }

  /** `action`, the next step, is {text, run} or {text, href}; `also` is a quieter one; `code` is to be copied. */
  phase(name, { title, text, code, action, also } = {}) {
    const step = ({ text: words, run, href }, kind) =>
      href
        ? make("a", { class: `submit ${kind}`, href }, words)
        : make("button", { type: "button", class: `submit ${kind}`, onclick: run }, words);

    this.root.dataset.phase = name;
    this.root.setAttribute("aria-busy", String(name === "loading"));
    this.message.replaceChildren(
      ...(title
        ? [
            make("h2", {}, title),
            make("p", {}, text),
            ...(code ? [make("p", { class: "code" }, code)] : []),
            make("div", { class: "steps" }, step(action, "ready"), also && step(also, "")),
          ]
        : []),
    );
  }

  ready(yes) {
    this.root.dataset.ready = String(yes);
  }

  close() {
    this.gone = true;
    this.ends.abort();
    this.size.disconnect();
    this.root.remove();
  }
}

function mount(parent, Kind = Page) {
  const shell = new Shell(parent);
  const page = new Kind(shell);
  shell.page = page;
  const { signal } = shell.ends;
  listenToKeys(page, shell.root, signal);
  document.addEventListener(
    "visibilitychange",
    () => {
      if (document.visibilityState !== "hidden") return;
      page.clock.hidden();
      page.outbox?.flush();
    },
    { signal },
  );
  addEventListener(
    "pagehide",
    () => {
      page.clock.hidden();
      page.outbox?.farewell();
    },
    { signal },
  );
  addEventListener("blur", () => page.outbox?.flush(), { signal });
  addEventListener(
    "online",
    () => {
      page.outbox?.again();
      page.header.refresh();
    },
    { signal },
  );
  addEventListener("offline", () => page.header.refresh(), { signal });
  addEventListener(
    "beforeunload",
    (event) => {
      if (page.outbox?.unsaved && page.turn?.mine) event.preventDefault();
    },
    { signal },
  );
  page.close = () => {
    page.generation += 1;
    page.outbox?.farewell();
    page.outbox?.close();
    page.turn?.close();
    page.clock.close();
    page.highlights.close();
    shell.close();
    pages.delete(parent);
  };
  return page;
}

/**
 * Streamlit calls this after every change of `data` and runs only the newest cleanup when the component goes away;
 * the cleanup of a call that a newer one overtook must therefore leave the page alone.
 */
export default function annotate({ parentElement, data }, words) {
  speak(data.language, words);
  const page = pages.get(parentElement) ?? mount(parentElement);
  pages.set(parentElement, page);
  const call = (page.call = Symbol("call"));
  page.update(data);
  return () => {
    if (page.call === call) page.close();
  };
}
