// Leaving an item: submit, skip, reopen, log out. Each first empties the outbox.

const SUBMIT_TRIES = 4;

/** Of which the criteria that a submit was refused for are in want: answers, rationales, or some of either. */
function whatLacks(missing) {
  const answers = missing.filter(({ reason }) => reason === "no_choice").length;
  const what = answers === missing.length ? "lack_answers" : answers ? "incomplete" : "lack_rationales";
  return tell(`leaving.${what}`, { n: missing.length });
}

class Leaving {
  constructor(page) {
    this.page = page;
    this.ids = new Map(); // aid and outcome -> client_uuid: a repeated request must be known as the same one
    this.busy = false;
  }

  async submit(outcome = "submit", reason) {
    const { page } = this;
    if (this.busy || !page.ready || (outcome !== "reopen" && !page.writable)) return;
    this.pressed = performance.now();
    this.busy = true; // edits wait: one made now would differ from the revisions about to be sent
    for (const over of ["submit", "unfinished"]) page.notices.delete(over);
    page.refresh();
    try {
      await this.sendOutcome(outcome, reason);
    } finally {
      this.busy = false;
      page.refresh();
    }
  }

  async sendOutcome(outcome, reason) {
    const { page } = this;
    const { item, outbox, answers } = page;
    page.clock.flush();
    const state = outcome === "reopen" ? "saved" : await outbox.drained();
    if (item !== page.item) return;
    if (state === "offline")
      page.notices.set("submit", {
        text: tell("leaving.no_connection_yet"),
        tone: "amber",
      });
    if (state !== "saved") return;
    const key = `${item.aid} ${outcome}`;
    if (!this.ids.has(key)) this.ids.set(key, randomId());
    const body = { aid: item.aid, page: item.page, outcome, client_uuid: this.ids.get(key), revs: answers.revs(item.aid) };
    const { beside } = item;
    if (beside) body.beside = { aid: beside.aid, page: beside.page, revs: answers.revs(beside.aid) };
    if (reason) body.reason = reason;
    const { status, reply } = await this.persist("/api/submit", body);
    if (item !== page.item) return;
    if (status && status < 500) this.ids.delete(key);
    if (status === 200) this.left(outcome, item, reply);
    else if (status === 422 && reply.missing) this.incomplete(reply.missing);
    else if (status === 409 && reply.criteria) await this.differs(reply.criteria);
    else if (status === 401) signedOut(page);
    else
      page.notices.set("submit", {
        text: status
          ? (reply.text ? tellRefusal(reply.code, reply.text, "leaving.not_submitted") : tell("leaving.not_submitted"))
          : tell("leaving.no_connection"),
        tone: status ? "red" : "amber",
      });
  }

  async persist(path, body) {
    let last = { status: 0, reply: {} };
    for (let attempt = 0; attempt < SUBMIT_TRIES; attempt += 1) {
      if (attempt) await pause(500 * 2 ** (attempt - 1));
      try {
        last = await this.page.post(path, body);
        if (last.status < 500 && last.status !== 429) return last;
      } catch {
        last = { status: 0, reply: {} };
      }
    }
    return last;
  }

  left(outcome, item, reply) {
    const { page } = this;
    const { done } = page.position ?? {};
    page.handedIn = outcome === "submit" && !item.training && done !== undefined ? done + 1 : null;
    page.position = reply.position ?? page.position;
    page.outbox.clear();
    this.busy = false;
    if (outcome === "reopen") page.open(item.aid, { item: reply.item });
    else if (outcome === "submit" && item.guess && !reply.feedback) {
      page.leave(); // no key acts on what is handed in, nor before the next item is there
      page.dialogs.guess(item, () => this.onward(reply));
    } else if (reply.feedback) page.training.show(reply.feedback, () => this.onward(reply));
    else this.onward(reply, this.pressed);
  }

  /** To the next item, to what keeps one from it, or to the end. */
  onward(reply, pressed = performance.now()) {
    const { page } = this;
    if (reply.gate) location.assign("/");
    else if (reply.next) page.open(reply.next, { item: reply.item, pressed });
    else if (page.data.participant) location.reload(); // a platform's participant ends with a code
    else page.end(true);
  }

  incomplete(missing) {
    const { page } = this;
    page.answers.asked = new Set(missing.map((one) => page.answers.rowOf(one)));
    page.form.list.filter(page.answers.asked);
    page.notices.set("submit", {
      text: whatLacks(missing),
      tone: "amber",
      action: { text: tell("leaving.show_all"), run: () => this.showAll() },
    });
    page.go(page.answers.rowOf(missing[0]));
    page.refresh();
    this.toWhatIsMissing(missing[0].reason);
  }

  /** The list is whole again; what is missing stays marked. */
  showAll() {
    const { page } = this;
    page.form.list.filter(null);
    page.notices.set("submit", { ...page.notices.get("submit"), action: null });
    page.refresh();
  }

  /** Of what was asked for, after an answer: the notice counts what is left, and goes with the last. */
  stillMissing() {
    const { page } = this;
    const missing = [...page.answers.asked].map((id) => ({ reason: page.answers.missing(id) })).filter(({ reason }) => reason);
    const said = page.notices.get("submit");
    if (!missing.length) this.allGiven();
    else if (said) page.notices.set("submit", { ...said, text: whatLacks(missing) });
  }

  allGiven() {
    const { page } = this;
    page.answers.asked = new Set();
    page.form.list.filter(null);
    page.notices.delete("submit");
  }

  /** The open criterion was begun: say what it lacks before it is left. */
  notYet() {
    const { page } = this;
    const missing = page.answers.missing(page.current);
    page.answers.asked.add(page.current);
    page.notices.set("unfinished", { text: tell(`unfinished.${missing}`), tone: "amber" });
    page.refresh();
    this.toWhatIsMissing(missing);
  }

  toWhatIsMissing(reason) {
    if (reason === "no_choice") this.page.form.focusChoices();
    else this.page.form.focusRationale();
  }

  /** Something stored is newer than what this page shows: show what is stored, and let the person submit that. */
  async differs(criteria) {
    const { page } = this;
    await page.open(page.item.aid, { focus: criteria[0] });
    page.notices.set("submit", {
      text: tell("leaving.differs", { n: criteria.length }),
      tone: "amber",
    });
    page.refresh();
  }

  async logout() {
    const { page } = this;
    page.clock.flush();
    const state = page.outbox && page.writable ? await page.outbox.drained() : "saved";
    const n = page.outbox?.unsaved ?? 0;
    if (state !== "saved" && n && !(await page.dialogs.sureToLose(n))) return;
    try {
      const { status, reply } = await page.post("/api/logout", {});
      if (status !== 200 && status !== 401) throw new Error(reply.text ?? "refused");
    } catch {
      page.notices.set("submit", { text: tell("leaving.not_logged_out"), tone: "amber" });
      page.refresh();
      return;
    }
    if (page.turn?.mine) page.outbox?.clear(); // another tab may still hold unsaved answers there
    const waits = keptEntries(page.data.person).some(({ kind }) => WORK.has(kind)); // of another tab, or lost knowingly
    page.preferences.forget();
    location.assign(n || waits ? "/?out=left" : "/?out=saved");
  }
}
