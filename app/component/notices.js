// Lines of the form that say something: which criterion is open, and the one notice above Submit.

/** "Structure, 3 of 39", of which the numbers are never cut off. */
class Where {
  constructor() {
    this.group = make("span", { class: "where-group", dir: "auto" });
    this.at = make("span", { class: "where-at" });
    this.root = make("span", { class: "where" }, this.group, this.at);
    this.said = make("span", { class: "unseen", role: "status" });
  }

  show(group, at) {
    this.group.textContent = group || "";
    this.at.textContent = at;
  }

  /** Where the focus stays on one and the same group, nothing else would tell that it asks something else by now. */
  arrived(id, words, focusStays) {
    if (this.id !== id) this.said.textContent = focusStays ? words : "";
    this.id = id;
  }

  /** What was answered, before the next criterion, if going `on` says that. */
  answered(words, on) {
    this.said.textContent = "";
    on();
    if (this.said.textContent) this.said.textContent = `${words}. ${this.said.textContent}`;
  }
}

class NoticeLine {
  constructor() {
    // with aria-live, for Firefox tells an alert when it appears, and not when its words change
    this.text = make("p", { class: "notice-text", role: "alert", "aria-live": "assertive" });
    this.said = make("p", { class: "notice-text", role: "status" }); // what need not interrupt a screen reader
    this.action = make("button", { type: "button", class: "quiet", hidden: true });
    this.root = make("div", { class: "notice" }, this.text, this.said, this.action);
  }

  say({ text = "", tone = "plain", action, quiet = false, heard = false } = {}) {
    this.root.dataset.tone = tone;
    for (const [node, words, live] of [[this.text, quiet ? "" : text, "assertive"], [this.said, quiet ? text : "", heard ? "off" : "polite"]]) {
      if (node.textContent !== words) node.ariaLive = live;
      write(node, words);
    }
    this.action.hidden = !action;
    write(this.action, action?.text ?? "");
    this.action.onclick = action?.run ?? null;
  }
}
