// The header: where one is, what is stored, and the few tools. Every state has its place, so nothing moves.

class Header {
  constructor({ page, root, menu }) {
    this.page = page;
    this.position = make("b", { class: "position" });
    this.done = make("span", { class: "done" });
    this.time = make("span", { class: "time", role: "timer", "aria-label": tell("header.active_time") });
    this.saveText = make("span", {});
    this.save = make("span", { class: "save" }, make("i", { class: "dot" }), this.saveText);
    this.said = make("span", { class: "unseen", role: "status" }); // what of the save state is worth an interruption
    this.topicTitle = make("span", { class: "topic-title" });
    this.topicPrompt = make("span", { class: "topic-prompt", "aria-hidden": "true" }); // all of it is in the sheet
    this.topic = make(
      "button",
      { type: "button", class: "topic", title: tell("header.show_topic"), onclick: () => page.dialogs.topic() },
      this.topicTitle,
      this.topicPrompt,
    );
    this.simulated = make(
      "span",
      { class: "simulated", hidden: true, title: tell("header.simulated_title") },
      tell("header.simulated"),
    );
    const reader = (name, attributes, run) =>
      make("button", { type: "button", class: "tool needs-item reads", ...attributes, onclick: run }, icon(name));
    this.outline = reader(
      "outline",
      { "aria-label": tell("header.outline"), title: tell("header.outline_title"), "aria-haspopup": "dialog", "aria-expanded": "false" },
      () => page.outline.toggle(),
    );
    this.find = reader(
      "find",
      { "aria-label": tell("header.find"), title: tell("header.find_title"), "aria-expanded": "false" },
      () => page.find.toggle(),
    );
    this.sync = reader("sync", { "aria-pressed": "false" }, () => page.preferences.next("sync"));
    this.theme = make(
      "button",
      { type: "button", class: "tool needs-item", onclick: () => page.preferences.next("theme") },
      icon("theme"),
    );
    this.sides = make(
      "div",
      { class: "sides needs-item", role: "group", "aria-label": tell("header.report_shown") },
      ...["left", "right"].map((side) =>
        make(
          "button",
          { type: "button", class: "tool words", "data-side": side, onclick: () => page.reading.activate(side, true) },
          paneTitle(side),
        ),
      ),
    );
    this.files = make(
      "button",
      { type: "button", class: "tool words needs-item", onclick: () => page.dialogs.topic() },
    );
    const tool = (text, name, run) =>
      make(
        "button",
        { type: "button", class: "tool words needs-item", dir: "ltr", "aria-label": name.includes(text) ? name : `${text} ${name}`, title: name, onclick: run },
        text,
      );
    this.moreButton = make(
      "button",
      {
        type: "button",
        class: "tool",
        "aria-label": tell("header.menu"),
        title: tell("header.menu"),
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
      make("div", { class: "head-left" }, this.position, this.done, this.time, this.save, this.said),
      make("div", { class: "head-middle" }, this.topic, this.simulated),
      make(
        "div",
        { class: "head-right" },
        this.files,
        this.sides,
        this.outline,
        this.find,
        this.sync,
        tool("A−", tell("header.smaller"), () => page.preferences.font(-1)),
        tool("A+", tell("header.larger"), () => page.preferences.font(1)),
        this.theme,
        tool("?", tell("header.help"), () => page.dialogs.help()),
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
    this.position.title = training ? tell("header.training_title") : "";
    this.position.textContent = training
      ? tell("header.training", training)
      : of
        ? working
          ? tell("header.item", { item: Math.min(done + 1, of), of })
          : tell(page.desk ? "header.done" : "header.submitted", { n: done, of })
        : "";
    const [complete, all] = item ? page.answers.tally() : [0, 0];
    this.done.textContent = item ? tell("header.answered", { n: complete, of: all }) : "";
    this.showTime(item && page.activeTime);
    this.progress.style.setProperty("inline-size", all ? `${(100 * complete) / all}%` : "0");
    this.showTopic(item?.topic);
    this.files.hidden = !item?.brought;
    this.files.textContent = paneTitle(item?.brought?.name ?? "");
    this.files.title = paneLabel(item?.brought?.name ?? "");
    this.simulated.hidden = !(item?.study ?? page.data?.study)?.simulated;
    this.showSync(page.reading.together);
    this.find.setAttribute("aria-expanded", String(page.find.isOpen));
    this.theme.title = tell("header.theme", { theme: tell(`header.theme_${preferences.theme}`) });
    this.theme.setAttribute("aria-label", this.theme.title);
    if (item) this.showPanes(item.panes);
    this.showSave();
  }

  /** Its title, and below it as much of what was asked as there is room for. */
  showTopic(topic) {
    this.topic.hidden = !topic;
    const { title = "", prompt, language: lang = "", dir = "" } = topic ?? {};
    const asked = prompt && prompt !== title ? prompt : "";
    for (const [node, words] of [[this.topicTitle, title], [this.topicPrompt, asked]]) {
      write(node, words);
      Object.assign(node, { lang, dir });
    }
  }

  /** Which of two panes one reads; with one there is nothing to switch or to scroll together. */
  showPanes(panes) {
    for (const button of this.sides.children) {
      write(button, paneTitle(panes.find(({ side }) => side === button.dataset.side)?.name ?? ""));
      button.setAttribute("aria-pressed", String(button.dataset.side === this.page.reading.active));
    }
    this.sides.hidden = this.sync.hidden = panes.length < 2;
  }

  showSync(how) {
    const words = { how: tell(`header.sync_${how}`) };
    this.sync.setAttribute("aria-pressed", String(how !== "off"));
    this.sync.setAttribute("aria-label", tell("header.sync", words));
    this.sync.title = tell("header.sync_title", words);
    if (this.sync.dataset.how !== how) this.sync.replaceChildren(icon(how === "matching" ? "match" : "sync"));
    this.sync.dataset.how = how;
  }

  outlineOpen(open) {
    this.outline.setAttribute("aria-expanded", String(open));
  }

  showTime(spent) {
    const text = spent ? (this.page.preferences.values.pace && this.page.may("pace") ? pace(this.page, spent) : minutes(spent.item)) : "";
    write(this.time, text);
    this.time.title = spent ? tell("header.active_spent", { item: minutes(spent.item), study: minutes(spent.study) }) : "";
  }

  showSave() {
    const { state, text } = saveState(this.page);
    this.save.dataset.save = state;
    write(this.saveText, text);
    this.tellException(state, text);
  }

  /** To a screen reader: once that answers are no longer stored, once that they are again, never that all is well. */
  tellException(state, text) {
    const wrong = ["offline", "refused"].includes(state);
    if (wrong && this.told !== state) this.said.textContent = text;
    else if (this.told && state === "saved") this.said.textContent = tell("save.back");
    if (wrong || state === "saved") this.told = wrong ? state : null;
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
        key ? make("kbd", { "aria-hidden": "true" }, pressedFor(key)) : null,
      );
    const { form, keys, theme, pace: shown } = page.preferences.values;
    this.menu.replaceChildren(
      ...[
        page.writable && entry(tell("menu.flag"), () => page.dialogs.flag(), "f"),
        page.writable && entry(tell("menu.comment"), () => page.dialogs.comment(), "m"),
        page.writable && !page.desk && !training && entry(tell("menu.skip"), () => page.dialogs.skip(), "x"),
        page.item && page.shell.root.dataset.layout === "single" && entry(page.item.brought ? paneLabel(page.item.brought.name) : tell("header.show_topic"), () => page.dialogs.topic()),
        page.item && entry(tell("menu.outline"), () => page.outline.open(), "o"),
        page.item && entry(tell("menu.find"), () => page.find.open(), "/"),
        page.reading.alike && entry(tell("menu.alike"), () => page.reading.showAlike(), "p"),
        page.writable && page.may("bookmarks") && entry(tell("menu.bookmark"), () => page.bookmarks.toggle(), "b"),
        page.may("notes") && entry(tell("menu.notes"), () => page.dialogs.notes(), "n"),
        page.item && make("hr"),
        entry(tell("menu.help"), () => page.dialogs.help(), "?", "narrow"),
        entry(tell("menu.larger"), () => page.preferences.font(1), "+", "narrow"),
        entry(tell("menu.smaller"), () => page.preferences.font(-1), "-", "narrow"),
        page.item && entry(tell("header.theme", { theme: tell(`header.theme_${theme}`) }), () => page.preferences.next("theme"), null, "narrow"),
        page.writable && make("hr", { class: "narrow" }),
        entry(tell("menu.form", { place: tell(`menu.form_${form}`) }), () =>
          page.preferences.next("form"),
        ),
        page.may("pace") && entry(tell(shown ? "menu.pace_on" : "menu.pace_off"), () => page.preferences.choose({ pace: !shown })),
        entry(tell(keys ? "menu.keys_on" : "menu.keys_off"), () => page.preferences.choose({ keys: !keys })),
        !page.desk && make("hr"),
        signedInAs(page) && make("p", { class: "signed-in" }, tell("menu.signed_in", { name: signedInAs(page) })),
        ...page.links.map(({ text, href }) => make("a", { href }, text)),
        !page.desk && entry(tell("menu.log_out"), () => page.leaving.logout()),
      ].filter(Boolean),
    );
  }
}
