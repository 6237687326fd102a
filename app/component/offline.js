// A packet: the annotator's page in one file, without a server. The desk answers in its place; what leaves this
// computer is the ballot, and nothing else.

class PacketPage extends Page {
  take(desk) {
    this.desk = desk;
    this.bar = new PacketBar({
      desk,
      open: (aid) => aid !== this.aid && this.begun && this.open(aid),
      save: () => this.saveBallot(),
      load: (file) => this.openBallot(file),
    });
    if (!desk.data.opens) this.shell.header.after(this.bar.root);
    this.shell.root.classList.add("in-packet");
    const { title, simulated } = desk.data.study;
    this.data = { person: desk.data.packet_id, study: { title, simulated }, status: "open" };
    this.preferences.recall(this.data.person);
    if (desk.data.opens === "item" || (desk.met && desk.agreed)) this.begin(); // so it says only where a protocol is tried out
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
    const { study, items, consent, task, guidance_html, language: lang, dir, opens } = this.desk.data;
    const begin = () => {
      if (!this.desk.agreed) this.desk.agree();
      this.begin();
    };
    const agrees = consent && !this.desk.agreed;
    this.shell.phase("empty", {
      title: study.title,
      text: opens ? "" : tell("packet.items", { n: items.length }),
      action: { text: tell(agrees ? "packet.agree_begin" : "packet.begin"), run: begin },
    });
    const part = (name, ...content) =>
      make("section", { class: "packet-words", "aria-label": name }, make("h3", {}, name), ...content);
    const html = (name, sanitised) => {
      const words = make("div", { class: "guidance", lang, dir });
      words.innerHTML = sanitised; // by annotation/rendering.py
      return part(name, words);
    };
    const steps = this.shell.message.querySelector(".steps");
    steps.before(
      part(tell("packet.task"), make("p", { lang, dir }, task)),
      ...(guidance_html ? [html(tell("packet.instructions"), guidance_html)] : []),
      ...(opens ? [] : [part(tell("packet.this_file"), make("p", {}, tell("packet.how")))]),
      ...(consent ? [html(tell("packet.consent"), consent.html)] : []),
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
      title: tell("packet.all_done", { n: items.size }),
      text: tell(due ? "packet.send_due" : "packet.send"),
      action: { text: tell(due ? "packet.save" : "packet.save_again"), run: () => this.saveBallot() },
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
    if (!this.item || this.desk.data.opens) return { state: "none", text: "" };
    if (!this.turn.mine) return { state: "read-only", text: tell("save.read_only") };
    if (!this.desk.stored || !this.outbox.kept) return { state: "refused", text: tell("packet.not_kept") };
    if (this.outbox.unsaved) return { state: "saving", text: tell("packet.keeping") };
    return { state: "saved", text: tell("packet.kept") };
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
      this.dialogs.show(tell("packet.not_opened"), make("p", {}, error.message));
      return;
    }
    const newer = counted.newer ? ` ${tell("packet.newer", { n: counted.newer })}` : "";
    if (!this.desk.agreed) return void this.welcome();
    await this.open(this.desk.at ?? this.desk.aids[0]);
    this.notices.set("note", { text: tell("packet.opened", { n: counted.taken }) + newer });
    this.refresh();
  }
}

const skipKey = KEYS.findIndex(({ shown: [key] }) => key === "x"); // nobody else could take the item
KEYS.splice(skipKey, 1);
SINGLE.delete("x");

const packet = JSON.parse(document.getElementById("packet").textContent);
speak(packet.data.language);
const packetPage = mount(document.body, PacketPage);
restored.then(() => packetPage.take(new Desk(packet)));
addEventListener("beforeunload", (event) => {
  if (packet.data.opens) return;
  if (packetPage.desk?.due || packetPage.outbox?.unsaved) event.preventDefault();
});
