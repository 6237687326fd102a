// The header: where one is, what is stored, and the few tools. Every state has its place, so nothing moves.

class Header {
  constructor({ page, root, menu }) {
    this.page = page;
    this.position = make("b", { class: "position" });
    this.done = make("span", { class: "done" });
    this.time = make("span", { class: "time", role: "timer", "aria-label": "Active time on this item" });
    this.saveText = make("span", {});
    this.save = make(
      "span",
      { class: "save", role: "status", "aria-live": "polite" },
      make("i", { class: "dot" }),
      this.saveText,
    );
    this.topicTitle = make("span", {});
    this.topic = make(
      "button",
      { type: "button", class: "topic", title: "Show the topic", onclick: () => page.dialogs.topic() },
      this.topicTitle,
    );
    this.simulated = make(
      "span",
      { class: "simulated", hidden: true, title: "Labels of this study are simulated" },
      "Simulated study",
    );
    const reader = (name, attributes, run) =>
      make("button", { type: "button", class: "tool needs-item reads", ...attributes, onclick: run }, icon(name));
    this.outline = reader(
      "outline",
      { "aria-label": "Outline", title: "Outline (o)", "aria-haspopup": "dialog", "aria-expanded": "false" },
      () => page.outline.toggle(),
    );
    this.find = reader(
      "find",
      { "aria-label": "Find in both reports", title: "Find in both reports (/)", "aria-expanded": "false" },
      () => page.find.toggle(),
    );
    this.sync = reader("sync", { "aria-pressed": "false" }, () => page.preferences.next("sync"));
    this.theme = make(
      "button",
      { type: "button", class: "tool", onclick: () => page.preferences.next("theme") },
      icon("theme"),
    );
    this.sides = make(
      "div",
      { class: "sides needs-item", role: "group", "aria-label": "Report shown" },
      ...["left", "right"].map((side) =>
        make(
          "button",
          { type: "button", class: "tool words", "data-side": side, onclick: () => page.reading.activate(side, true) },
          side === "left" ? "Left" : "Right",
        ),
      ),
    );
    const tool = (text, name, run) =>
      make(
        "button",
        { type: "button", class: "tool words needs-item", "aria-label": name, title: name, onclick: run },
        text,
      );
    this.moreButton = make(
      "button",
      {
        type: "button",
        class: "tool",
        "aria-label": "Menu",
        title: "Menu",
        "aria-haspopup": "true",
        "aria-expanded": "false",
        onclick: () => this.menu.togglePopover(),
      },
      icon("more"),
    );
    this.menu = menu;
    menu.addEventListener("beforetoggle", (event) => event.newState === "open" && this.fillMenu());
    menu.addEventListener("toggle", (event) => {
      const open = event.newState === "open";
      this.moreButton.ariaExpanded = String(open);
      if (open) menu.querySelector("button, a")?.focus();
    });
    root.append(
      make("div", { class: "head-left" }, this.position, this.done, this.time, this.save),
      make("div", { class: "head-middle" }, this.topic, this.simulated),
      make(
        "div",
        { class: "head-right" },
        this.sides,
        this.outline,
        this.find,
        this.sync,
        tool("A−", "Smaller text (-)", () => page.preferences.font(-1)),
        tool("A+", "Larger text (+)", () => page.preferences.font(1)),
        this.theme,
        tool("?", "Help and keys (?)", () => page.dialogs.help()),
        this.moreButton,
      ),
    );
    this.progress = make("i", { class: "progress", "aria-hidden": "true" });
    root.append(this.progress);
  }

  refresh() {
    const { page } = this;
    const { item } = page;
    const preferences = page.preferences.values;
    const { done, of } = page.position ?? {};
    const working = item ? item.status === "taken" : page.aid !== null;
    const { training } = item ?? {};
    this.position.toggleAttribute("data-training", Boolean(training));
    this.position.title = training ? "Training: what was agreed is shown after you submit; it is no label" : "";
    this.position.textContent = training
      ? `Training ${training.item} of ${training.of}`
      : of
        ? working
          ? `Item ${Math.min(done + 1, of)} of ${of}`
          : `${done} of ${of} ${page.desk ? "done" : "submitted"}`
        : "";
    const [complete, all] = item ? page.answers.tally() : [0, 0];
    this.done.textContent = item ? `${complete}/${all} answered` : "";
    this.showTime(item && page.activeTime);
    this.progress.style.setProperty("inline-size", all ? `${(100 * complete) / all}%` : "0");
    this.topic.hidden = !item;
    this.topicTitle.textContent = item?.topic.title ?? "";
    this.simulated.hidden = !(item?.study ?? page.data?.study)?.simulated;
    this.showSync(page.reading.together);
    this.find.setAttribute("aria-expanded", String(page.find.isOpen));
    this.theme.title = `Theme: ${preferences.theme}`;
    this.theme.setAttribute("aria-label", this.theme.title);
    if (item) this.showPanes(item.panes);
    this.showSave();
  }

  /** Which of two panes one reads; with one there is nothing to switch or to scroll together. */
  showPanes(panes) {
    for (const button of this.sides.children) {
      button.textContent = panes.find(({ side }) => side === button.dataset.side)?.name ?? "";
      button.setAttribute("aria-pressed", String(button.dataset.side === this.page.reading.active));
    }
    this.sides.hidden = this.sync.hidden = panes.length < 2;
  }

  showSync(how) {
    const words = { off: "off", proportional: "in proportion", matching: "by alike passages" }[how];
    this.sync.setAttribute("aria-pressed", String(how !== "off"));
    this.sync.setAttribute("aria-label", `Scroll both reports together: ${words}`);
    this.sync.title = `Scroll both reports together: ${words} (s)`;
    this.sync.replaceChildren(icon(how === "matching" ? "match" : "sync"));
  }

  outlineOpen(open) {
    this.outline.setAttribute("aria-expanded", String(open));
  }

  showTime(spent) {
    const text = spent ? minutes(spent.item) : "";
    if (this.time.textContent !== text) this.time.textContent = text;
    this.time.title = spent ? `Active time: ${text} on this item, ${minutes(spent.study)} in this study` : "";
  }

  showSave() {
    const { state, text } = saveState(this.page);
    this.save.dataset.save = state;
    if (this.saveText.textContent !== text) this.saveText.textContent = text;
  }

  fillMenu() {
    const { page } = this;
    const { training } = page.item ?? {};
    const entry = (text, run, key, kind) =>
      make(
        "button",
        {
          type: "button",
          class: kind,
          onclick: () => {
            this.menu.hidePopover();
            run();
          },
        },
        make("span", {}, text),
        key ? make("kbd", { "aria-hidden": "true" }, key) : null,
      );
    const { form, keys, theme } = page.preferences.values;
    this.menu.replaceChildren(
      ...[
        page.writable && entry("Flag a problem", () => page.dialogs.flag(), "f"),
        page.writable && entry("Comment", () => page.dialogs.comment(), "m"),
        page.writable && !page.desk && !training && entry("Skip this item", () => page.dialogs.skip(), "x"),
        page.item && entry("Outline", () => page.outline.open(), "o"),
        page.item && entry("Find in both reports", () => page.find.open(), "/"),
        page.reading.alike && entry("Show the alike passage", () => page.reading.showAlike(), "p"),
        page.item && make("hr"),
        entry("Help and keys", () => page.dialogs.help(), "?", "narrow"),
        entry("Larger text", () => page.preferences.font(1), "+", "narrow"),
        entry("Smaller text", () => page.preferences.font(-1), "-", "narrow"),
        entry(`Theme: ${theme}`, () => page.preferences.next("theme"), null, "narrow"),
        page.writable && make("hr"),
        entry(`Form: ${{ auto: "automatic", right: "right", bottom: "bottom" }[form]}`, () =>
          page.preferences.next("form"),
        ),
        entry(`Single-key shortcuts: ${keys ? "on" : "off"}`, () => page.preferences.choose({ keys: !keys })),
        !page.desk && make("hr"),
        ...page.links.map(({ text, href }) => make("a", { href }, text)),
        !page.desk && entry("Log out", () => page.leaving.logout()),
      ].filter(Boolean),
    );
  }
}
