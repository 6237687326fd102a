// A packet: the annotator's page in one file, without a server. The desk answers in its place; what leaves this
// computer is the ballot, and nothing else.

const PACKET_HOW =
  "Your answers are kept in this browser only. Save a ballot whenever you stop, and at the end, and send the newest " +
  "one to whoever gave you this file. Open a ballot to go on where it was saved, also on another computer.";

class PacketPage extends Page {
  take(desk) {
    this.desk = desk;
    this.bar = new PacketBar({
      desk,
      open: (aid) => aid !== this.aid && this.begun && this.open(aid),
      save: () => this.saveBallot(),
      load: (file) => this.openBallot(file),
    });
    this.shell.header.after(this.bar.root);
    this.shell.root.classList.add("in-packet");
    const { title, simulated } = desk.data.study;
    this.data = { person: desk.data.packet_id, study: { title, simulated }, status: "open" };
    this.preferences.recall(this.data.person);
    if (desk.met && desk.agreed) this.begin();
    else this.welcome();
  }

  async request(path, { body } = {}) {
    return this.desk.answer(path, body && JSON.parse(body));
  }

  get begun() {
    return this.data.aid !== undefined;
  }

  /** Task, instructions and consent, before the first item. */
  welcome() {
    const { study, items, consent, task, guidance_html } = this.desk.data;
    const begin = () => {
      if (!this.desk.agreed) this.desk.agree();
      this.begin();
    };
    const agrees = consent && !this.desk.agreed;
    this.shell.phase("empty", {
      title: study.title,
      text: `${count(items.length, "item")}, without a network`,
      action: { text: agrees ? "I agree, begin" : "Begin", run: begin },
    });
    const part = (name, ...content) =>
      make("section", { class: "packet-words", "aria-label": name }, make("h3", {}, name), ...content);
    const html = (name, sanitised) => {
      const words = make("div", { class: "guidance" });
      words.innerHTML = sanitised; // by annotation/rendering.py
      return part(name, words);
    };
    const steps = this.shell.message.querySelector(".steps");
    steps.before(
      part("Task", make("p", {}, task)),
      ...(guidance_html ? [html("Instructions", guidance_html)] : []),
      part("This file", make("p", {}, PACKET_HOW)),
      ...(consent ? [html("Consent", consent.html)] : []),
    );
    steps.querySelector("button").focus({ preventScroll: true });
    this.bar.wait(true);
    this.refresh();
  }

  begin() {
    const { desk } = this;
    const aid = desk.done === desk.items.size ? null : desk.at;
    this.update({ ...this.data, aid, position: desk.position(aid ?? desk.aids[0]) });
  }

  open(aid, options) {
    this.bar.wait(false);
    this.desk.at = aid;
    this.data = { ...this.data, aid };
    const opening = super.open(aid, options);
    this.bar.refreshAll(aid);
    return opening;
  }

  end() {
    super.end(true);
    this.bar.wait(false);
    const { due, items } = this.desk;
    this.shell.phase("finished", {
      title: `All done: ${count(items.size, "item")}.`,
      text: due
        ? "Save the ballot and send it to whoever gave you this file. Until then your answers are only here."
        : "Send the newest ballot to whoever gave you this file.",
      action: { text: due ? "Save ballot" : "Save ballot again", run: () => this.saveBallot() },
    });
    this.bar.refreshAll(null);
    this.bar.refresh(null, false);
  }

  refresh() {
    super.refresh();
    this.bar?.refresh(this.item?.aid, this.outbox?.unsaved > 0);
  }

  /** What the header says in place of the server's word. */
  keptState() {
    if (!this.item) return { state: "none", text: "" };
    if (!this.turn.mine) return { state: "read-only", text: "Read-only" };
    if (!this.desk.stored || !this.outbox.kept) return { state: "refused", text: "Not kept: save a ballot" };
    if (this.outbox.unsaved) return { state: "saving", text: "Keeping" };
    return { state: "saved", text: "Kept in this browser" };
  }

  /** Everything typed so far reaches the desk. */
  async settle() {
    this.clock.flush();
    if (this.outbox?.writer && !this.outbox.closed) await this.outbox.drained();
  }

  async saveBallot() {
    await this.settle();
    download(this.desk.ballot(), `ballot-${this.desk.data.packet_id.slice(0, 8)}-${fileTime()}.json`);
    if (this.aid === null) this.end();
    this.refresh();
  }

  async openBallot(file) {
    await this.settle();
    let counted = null;
    try {
      counted = this.desk.open(await file.text());
    } catch (error) {
      this.dialogs.show("Ballot not opened", make("p", {}, error.message));
      return;
    }
    const newer = counted.newer ? ` ${count(counted.newer, "answer")} here was newer and stayed.` : "";
    if (!this.desk.agreed) return void this.welcome();
    await this.open(this.desk.at ?? this.desk.aids[0]);
    const taken = count(counted.taken, "entry", "entries");
    this.notices.set("note", { text: `Ballot opened: ${taken} taken over.${newer}` });
    this.refresh();
  }
}

const skipKey = KEYS.findIndex(({ shown: [key] }) => key === "x"); // nobody else could take the item
KEYS.splice(skipKey, 1);
SINGLE.delete("x");

const packetPage = mount(document.body, PacketPage);
packetPage.take(new Desk(JSON.parse(document.getElementById("packet").textContent)));
addEventListener("beforeunload", (event) => {
  if (packetPage.desk.due || packetPage.outbox?.unsaved) event.preventDefault();
});
