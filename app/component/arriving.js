// Arriving at an item: skeleton, one fetch, then the item at the place where the person left it.

const SAID_MS = 6000; // how long a short sentence stays

class Arriving {
  constructor(page) {
    this.page = page;
  }

  /**
   * The item at the place where the person left it; `item` is what is known of it already, else it is fetched behind a
   * skeleton. `pressed`: when the key or the button was pressed that led here from another item.
   */
  async open(aid, { item, pressed = -Infinity, focus } = {}) {
    const { page } = this;
    const generation = (page.generation += 1);
    const over = () => generation !== page.generation;
    page.leave();
    const actsFrom = pressed + FRESH_ITEM_MS;
    if (page.aid !== aid) {
      page.turn?.close();
      page.turn = new Turn(`${page.data.person}:${aid}`, (mine) => page.turned(mine));
    }
    page.aid = aid;
    if (aid !== page.data.aid) history.replaceState(history.state, "", location.pathname); // no longer the item the link named
    page.shell.phase("loading");
    if (!item) page.reading.skeleton();
    for (let attempt = 0; !over(); attempt += 1) {
      const { status, reply } = item
        ? { status: 200, reply: item }
        : await page.request(`/api/assignment/${encodeURIComponent(aid)}`).catch(() => ({ status: 0, reply: {} }));
      if (status === 200) await Promise.all([page.turn.ready, restored]);
      if (over()) return;
      if (status === 200) return void (await this.show(reply, { actsFrom, focus, over }));
      if (status && status < 500 && status !== 429) return void this.unavailable(status, reply);
      if (attempt)
        page.shell.phase("trouble", {
          title: tell("page.not_arrived"),
          text: tell("page.asked_again"),
          action: { text: tell("page.try_now"), run: () => page.open(aid) },
        });
      await pause(Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt));
    }
  }

  /** What was just handed in, for a while; on somebody's first item, how work goes here, until the first answer. */
  greet() {
    const { page } = this;
    page.header.refresh();
    page.sayWhere();
    if (page.handedIn) {
      const said = { text: tell("page.handed_in", { n: page.handedIn }), quiet: true, heard: true }; // by the heading in focus
      page.notices.set("handed_in", said);
      setTimeout(() => page.notices.get("handed_in") === said && page.notices.delete("handed_in") && page.refresh(), SAID_MS);
    }
    page.handedIn = null;
    const number = page.item.training?.item ?? (page.position?.done ?? 0) + 1;
    if (number === 1 && page.writable && !page.answers.begun)
      page.notices.set("first", { text: tell("page.first_item"), quiet: true });
    page.suggestBreak();
  }

  unavailable(status, reply) {
    const { page } = this;
    const action = { text: tell("page.load_again"), run: () => location.reload() };
    if (reply.code === "other_sign_in" && reply.person !== page.data.person) overtaken(page, reply);
    else if (status === 401)
      page.shell.phase("trouble", { title: tell("page.signed_out"), text: tell("page.open_link"), action });
    else
      page.shell.phase("trouble", {
        title: reply.text ? tellRefusal(reply.code, reply.text, "page.not_shown") : tell("page.not_shown"),
        text: tell("page.brings_current"),
        action,
      });
  }

  async show(item, { actsFrom, focus, over }) {
    const { page } = this;
    page.item = item;
    page.position = item.position ?? page.position;
    page.clock.begin(item.idle_s * 1000);
    page.rescue = new Rescue(page);
    page.outbox = new Outbox({
      person: page.data.person,
      aid: item.aid,
      page: item.page,
      post: (...request) => page.post(...request),
      changed: () => page.saveChanged(),
      accepted: (entry, ack) => {
        page.rescue.moved();
        page.answers.accepted(entry, ack);
        page.history.accepted(entry, ack);
      },
      refusedWork: (refusal) => page.refused(refusal),
    });
    page.answers = new Answers(item, page.outbox);
    page.preferences.set({ ...item.preferences, ...page.unsent });
    const place = page.outbox.entries.get("place")?.place ?? item.place ?? {};
    page.reading.show(item);
    page.bookmarks.show(place.bookmarks);
    page.form.show(item);
    page.go(
      page.answers.rowOf(focus) ??
        page.answers.rowOf(place.criterion) ??
        page.answers.nextOpen(page.answers.ids.at(-1)) ??
        page.answers.ids[0],
    );
    if (page.note) page.notices.set("note", { text: page.note, tone: "amber" });
    page.note = null;
    this.greet();
    page.shell.phase("item");
    page.refresh();
    if (item.training?.feedback) page.training.show(item.training.feedback);
    if (page.turn.mine) page.outbox.start([...page.answers.all.values()]);
    await nextFrame();
    await nextFrame(); // now it is on screen
    if (!over()) page.reading.restore(place);
    if (actsFrom > 0) await pause(Math.max(FRESHLY_SHOWN_MS, actsFrom - performance.now()));
    if (over()) return;
    page.ready = true;
    page.shell.ready(true);
    page.refresh(); // takes over what was typed before
    const unsaved = await sendLeftovers(page);
    if (over() || !unsaved) return;
    page.notices.set("leftovers", {
      text: tell("page.leftovers", { n: unsaved }),
      tone: "amber",
    });
    page.refresh();
  }
}
