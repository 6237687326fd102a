// One item at a time: loading and showing it, what the person does on it, and what is said about that.

const TIMEOUT_MS = 8000;
// a key press meant for the item just submitted must not answer the next one: so long after it was pressed that went there, and so long
// after the next one is on screen
const FRESH_ITEM_MS = 200;
const FRESHLY_SHOWN_MS = 60;

class Page {
  constructor(shell) {
    this.shell = shell;
    this.preferences = new Preferences({
      apply: (values) => this.arrange(values),
      keep: (change) => this.outbox?.put("preferences", { kind: "preferences", preferences: { ...this.unsent, ...change } }, "preferences"),
    });
    this.notices = new Map();
    this.links = []; // [{text, href}]: where else one can go, in the menu and as the next step
    this.ready = false;
    this.generation = 0;
    this.arriving = new Arriving(this);
    this.leaving = new Leaving(this);
    this.highlights = new Highlights(); // quoted passages and found words, in either report
    this.reading = new Reading({
      root: shell.reading,
      moved: () => {
        if (this.find.isOpen) this.find.markSeen();
        this.placeMoved();
      },
      laid: () => this.find.isOpen && this.find.markSeen(),
      turned: () => {
        if (!shell.reading.offsetHeight) this.form?.fold(true); // the question had all the window
        this.header?.refresh();
      },
      enlarge: (...part) => this.dialogs.enlarge(...part),
    });
    this.quoting = new Quoting({ page: this, root: shell.root, signal: shell.ends.signal });
    this.scrolling = new Scrolling(this.reading);
    this.bookmarks = new Bookmarks(this);
    this.history = new AnswerHistory(this);
    this.earlier = new EarlierReasons(this);
    this.undo = new Undo(this);
    this.form = new Form({ page: this, root: shell.form });
    this.training = new Training(this);
    this.dialogs = new Dialogs({ page: this, root: shell.root });
    this.outline = new Outline({ page: this, root: shell.root });
    this.find = new Find({ page: this, body: shell.body, highlights: this.highlights });
    this.header = new Header({ page: this, root: shell.header, menu: shell.menu });
    this.clock = new Clock({
      root: shell.root,
      about: () => (this.answers?.begun ? this.current : null),
      send: (intervals) => this.item?.status === "taken" && spent(this, intervals),
    });
  }

  /** `data` comes again with every rerun of the script; only another aid than before moves the page. */
  update(data) {
    const before = this.data;
    if (before && before.person !== data.person) return void overtaken(this, data);
    this.data = data;
    this.links = data.links ?? [];
    if (!before) this.preferences.recall(data.person);
    if (!before) this.note = data.note;
    if (before && (data.aid === before.aid || data.aid === this.aid)) return;
    this.position = data.position;
    if (data.aid) this.open(data.aid);
    else this.end(data.finished);
  }

  get writable() {
    return (
      Boolean(this.item) &&
      this.item.status === "taken" &&
      this.turn.mine === true &&
      !this.leaving.busy &&
      !this.training.open &&
      !this.closedBy
    );
  }

  /** Whether the study's owner lets annotators have this aid. */
  may(aid) {
    return Boolean(this.item?.aids.includes(aid));
  }

  /** What the person changed about the page and the server has not acknowledged. */
  get unsent() {
    return this.outbox?.entries.get("preferences")?.preferences;
  }

  get asksRationale() {
    return Boolean(this.item?.rationale?.required);
  }

  /** Whether the open criterion is answered, and its reason is still to be written. */
  get lacksRationale() {
    return this.mayEdit(this.current) && /_rationale$/.test(this.answers.missing(this.current));
  }

  async request(path, options) {
    const answer = await fetch(path, {
      credentials: "same-origin",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...options,
      headers: { ...options?.headers, "X-Calipers-Token": this.data.csrf },
    });
    const reply = await answer.json().catch(() => ({}));
    if (reply.code === "other_sign_in") replaced(this, reply);
    return { status: answer.status, reply };
  }

  post(path, body, { keepalive = false } = {}) {
    const headers = { "Content-Type": "application/json" };
    return this.request(path, { method: "POST", headers, keepalive, body: JSON.stringify(body) });
  }

  open(aid, options) {
    return this.arriving.open(aid, options);
  }

  /** {item, study}: seconds, the server's and what this page counted since; only the tab that writes is counted. */
  get activeTime() {
    const { item, study } = this.item.active_s ?? { item: 0, study: 0 };
    const here = this.item.status === "taken" && this.turn.mine ? this.clock.counted / 1000 : 0;
    return { item: item + here, study: study + here };
  }

  leave() {
    this.clock.flush();
    this.outline.close();
    this.find.close();
    this.training.close();
    this.ready = false;
    this.shell.ready(false);
    this.outbox?.close();
    this.undo.forget();
    this.notices.clear();
    this.item = this.outbox = this.answers = this.closedBy = this.current = null;
    this.header.refresh();
    this.sayWhere();
    this.shell.start.focus({ preventScroll: true }); // not on a button of the item that went
  }

  /** What the focus is on when an item comes: "Item 1 handed in. Item 2 of 9". */
  sayWhere() {
    const handedIn = this.handedIn ? `${tell("page.handed_in", { n: this.handedIn })} ` : "";
    const words = handedIn + (this.header.position.textContent || tell("page.annotation"));
    if (this.shell.start.ariaLabel !== words) this.shell.start.ariaLabel = words;
  }

  end(finished) {
    this.generation += 1;
    this.leave();
    this.turn?.close();
    this.aid = this.turn = null;
    this.reading.clear();
    showEnd(this, finished);
    this.header.refresh();
    const { generation } = this;
    void sendLeftovers(this).then((n) => {
      if (!n || generation !== this.generation) return;
      this.note = tell("page.leftovers", { n });
      showEnd(this, finished);
    });
  }

  /** This tab may write from now on, or no longer. The other tab's edits are in localStorage and on the server. */
  turned(mine) {
    if (mine) this.open(this.aid);
    else {
      this.outbox?.close();
      this.refresh();
    }
  }

  choose(choice, by) {
    const id = this.current;
    const same = this.answers.of(id).choice === choice;
    if (!this.mayEdit(id) || (same && choice === null)) return;
    if (!same) {
      this.undo.note(id, "choice", choice, by);
      this.answers.edit(id, { choice }, by === "typing" ? "text" : "now");
      this.edited(choice === null && by !== "typing");
    }
    // by touch, the screen keyboard would cover the reports; a score that is being typed may grow; whoever clicks and
    // may write a reason, but need not, stays where the box is
    const stays = ["arrow", "touch", "typing"].includes(by) || (by === "mouse" && !this.asksRationale);
    if (choice !== null && !stays) this.form.where.answered(this.answers.text(choice), () => this.onward(by));
  }

  /** After an answer: how sure, where that is asked; then its rationale where one is required, else the next criterion. */
  onward(by) {
    const unsure = this.item.confidence && this.answers.of(this.current).confidence === null;
    if (unsure && by !== "mouse") this.form.confidence.focus();
    else if (this.asksRationale) this.form.focusRationale();
    else if (this.answers.openBeside(this.current)) this.move(this.answers.openBeside(this.current));
    else this.step(1);
  }

  digit(key) {
    if (this.form.asksConfidence) this.confide(Number(key), "key");
    else if (this.form.isRating) this.form.scores.type(key);
    else this.chooseNth(Number(key) - 1);
  }

  chooseNth(n) {
    if (this.item.choices[n]) this.choose(this.item.choices[n].id, "key");
  }

  /** 1 to 5, or null for no statement. */
  confide(confidence, by) {
    const same = confidence === null && this.answers.of(this.current).confidence === null;
    if (!this.mayEdit(this.current) || same || confidence === 0 || confidence > 5) return;
    this.undo.note(this.current, "confidence", confidence, by);
    this.answers.edit(this.current, { confidence }, "now");
    this.edited(confidence === null);
    if (by === "key" && confidence !== null) this.onward();
  }

  clear() {
    if (this.form.asksConfidence) this.confide(null);
    else this.choose(null, "key");
  }

  write(id, rationale) {
    if (!this.ready || !this.writable) return void this.form.held.add(id);
    this.form.held.delete(id);
    this.answers.edit(id, { rationale }, "text");
    this.edited();
  }

  mayEdit(id) {
    return this.ready && this.writable && !this.answers.conflict(id);
  }

  edited(cleared = false) {
    for (const over of ["remark", "note", "first", "unfinished"]) this.notices.delete(over);
    if (cleared) this.undo.cleared();
    if (this.answers.asked.size) this.leaving.stillMissing();
    else this.notices.delete("submit");
    this.suggestBreak();
    this.placeMoved();
    this.refresh();
  }

  /** After an answer, or on another item: an hour at a screen is long. */
  suggestBreak() {
    const worked = this.may("breaks") && this.clock.breakDue();
    if (worked) this.notices.set("break", { text: tell("page.break", { time: minutes(worked / 1000) }), quiet: true });
    else this.notices.delete("break");
  }

  resolve(id, which) {
    this.answers.resolve(id, which);
    this.form.replaceText(id);
    this.refresh();
    this.form.focusChoices();
  }

  go(id) {
    if (this.current !== id) {
      this.outbox.flush("text");
      this.wasComplete = Boolean(this.current) && !this.answers.missing(id); // gone back to, not where a reload left off
      this.notices.delete("unfinished");
    }
    this.current = id;
    this.form.activate(id);
    if (this.ready) this.placeMoved();
  }

  step(by) {
    this.move(this.form.list.next(this.current, by));
  }

  stepGroup(by) {
    this.move(this.form.list.nextGroup(this.current, by));
  }

  move(to) {
    const id = this.answers.rowOf(to);
    const follow = this.form.hasFocus();
    this.go(id);
    if (follow) this.form.focusChoices();
  }

  /**
   * Ctrl+Enter: on to the next open criterion; the one that completes the item also submits it. One that was begun and
   * lacks something is left at the second press.
   */
  accept() {
    if (this.writable && this.answers.isPart(this.current) && !this.notices.has("unfinished")) return void this.leaving.notYet();
    const next = this.answers.nextOpen(this.current);
    if (next && (next !== this.current || this.answers.conflict(next))) {
      this.go(next);
      this.form.focusChoices();
    } else if (!this.writable || (!next && this.wasComplete)) this.form.submit.focus();
    else this.leaving.submit(); // which says what the only open one lacks
  }

  remark(kind, fields) {
    if (!this.writable) return;
    this.notices.set("remark", { text: tell(kind === "flag" ? "page.flag_noted" : "page.comment_noted") });
    this.outbox.put(`${kind}:${randomId()}`, { kind, ...fields });
  }

  placeMoved(pace = "place") {
    if (!this.ready || !this.writable) return;
    const place = { criterion: criterionOf(this.current), ...this.reading.place(), bookmarks: this.bookmarks.kept };
    this.outbox.put("place", { kind: "place", place }, pace);
  }

  /** Another size or layout keeps the place in the text. */
  arrange(values) {
    const place = this.reading.place();
    this.reading.sync = values.sync;
    takeLetters(values.letters, this.shell.root);
    this.shell.apply(values);
    this.reading.restore(place);
    this.header.refresh();
  }

  refused({ code, text }) {
    if (["locked", "returned", "not_found"].includes(code)) this.closedBy = { code, text };
    this.refresh();
  }

  saveChanged() {
    if (!this.item) return;
    this.rescue.changed();
    if (this.outbox.stopped?.status === 401) signedOut(this);
    if (this.stale) return;
    this.stale = true; // one edit reports several changes
    queueMicrotask(() => this.stale && this.refresh());
  }

  refresh() {
    this.stale = false;
    if (this.item) this.form.refreshAll();
    this.header.refresh();
  }
}
