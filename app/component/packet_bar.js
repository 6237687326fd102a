// The bar of a packet: its items with how far each is, and the ballot that carries the answers away.

class PacketBar {
  /** open(aid), save() and load(file) are what its buttons do. */
  constructor({ desk, open, save, load }) {
    this.desk = desk;
    this.chips = new Map(desk.aids.map((aid, n) => [aid, this.chip(n + 1, () => open(aid))]));
    this.tally = make("span", { class: "packet-tally" });
    this.state = make("span", { class: "packet-state", role: "status" });
    this.save = make("button", { type: "button", class: "submit", onclick: save }, tell("packet.save"));
    this.file = make("input", { type: "file", accept: ".json", class: "packet-file" });
    this.file.addEventListener("change", () => {
      const [file] = this.file.files;
      this.file.value = ""; // the same file can be chosen again
      if (file) load(file);
    });
    const other = make("button", { type: "button", class: "quiet", onclick: () => this.file.click() }, tell("packet.open"));
    this.root = make(
      "section",
      { class: "packet-bar", "aria-label": tell("packet.packet") },
      make(
        "nav",
        { class: "packet-items", "aria-label": tell("packet.of_this") },
        make("ol", {}, ...[...this.chips.values()].map(({ button }) => make("li", {}, button))),
      ),
      this.tally,
      this.state,
      this.file,
      other,
      this.save,
    );
  }

  /** On the first page there is no item to go to. */
  wait(yes) {
    this.root.classList.toggle("waiting", yes);
  }

  chip(number, open) {
    const share = make("i", { "aria-hidden": "true" });
    const attributes = { type: "button", class: "chip", onclick: open };
    const button = make("button", attributes, String(number), icon("check"), share);
    return { number, button, share };
  }

  refreshAll(current) {
    for (const aid of this.chips.keys()) this.refreshItem(aid, current);
    this.intoView(current);
  }

  refreshItem(aid, current) {
    const { number, button, share } = this.chips.get(aid);
    const { done, all, begun } = this.desk.tally(aid);
    const state = this.desk.submitted(aid) ? "done" : done === all ? "complete" : begun ? "begun" : "open";
    button.dataset.state = state;
    button.title = tell("packet.chip", { item: number, n: done, of: all, state: tell(`packet.chip_${state}`) });
    button.setAttribute("aria-label", button.title);
    share.style.inlineSize = `${(100 * done) / all}%`;
    if (aid === current) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }

  /** `unsaved`: something was typed that the desk has not got yet. */
  refresh(current, unsaved) {
    if (current) this.refreshItem(current, current);
    const { desk } = this;
    this.tally.textContent = tell("packet.tally", { n: desk.done, of: desk.items.size });
    const due = desk.due || unsaved;
    const [state, text] = due
      ? ["due", tell(desk.balloted ? "packet.older" : "packet.none")]
      : ["saved", desk.balloted ? tell("packet.saved") : ""];
    this.state.dataset.state = state;
    write(this.state, text);
    this.save.classList.toggle("ready", due);
  }

  intoView(aid) {
    const button = this.chips.get(aid)?.button;
    const strip = button?.closest(".packet-items");
    if (!strip) return;
    const [own, all] = [button.getBoundingClientRect(), strip.getBoundingClientRect()];
    strip.scrollLeft += own.left + own.width / 2 - all.left - all.width / 2;
  }
}
