// What is said about the state of the page: one short line in the header, one notice above Submit. Nothing here decides.

const WENT_BACK = {
  skipped: "notice.skipped",
  closed: "notice.study_closed",
  stale: "notice.stale",
  withdrawn: "notice.withdrawn",
  packet: "notice.packet",
};
const TROUBLE_AFTER = 3; // failures in a row: a short fault is told by the save state alone

/** What the server refused, as a sentence of its own; `otherwise` is the key of what is said where it said nothing. */
function sentence({ code, text }, otherwise) {
  if (!text) return tell(otherwise);
  return language === "en" ? `${text[0].toUpperCase()}${text.slice(1)}.` : tellRefusal(code, text, otherwise);
}

/** Seconds as "42 min" or "2 h 05 min". */
function minutes(seconds) {
  const all = Math.floor(seconds / 60);
  if (all < 60) return tell("time.minutes", { m: all });
  return tell("time.hours", { h: Math.floor(all / 60), m: String(all % 60).padStart(2, "0") });
}

/** "12 min · 3 h 05 min in all · 21 min an item": the last of those that were handed in, once one was. */
function pace({ position }, { item, study }) {
  const done = position?.done ?? 0;
  const each = done ? tell("time.each", { time: minutes((study - item) / done) }) : null;
  return [minutes(item), tell("time.in_all", { time: minutes(study) }), each].filter(Boolean).join(" · ");
}

/** Why there is nothing to do, and whether to come back, as {title, text}; `status` is the study's. */
function waitingFor(status) {
  const key = isTold(`waiting.${status}`) ? `waiting.${status}` : "waiting.nothing";
  return { title: tell(key), text: tell(`${key}_text`) };
}

/** The save state of the whole item: {state, text}. */
function saveState(page) {
  if (page.desk) return page.keptState();
  const { outbox, item } = page;
  if (!item) return { state: "none", text: "" };
  const n = outbox.unsaved;
  if (["signed_out", "replaced"].includes(page.closedBy?.code)) return { state: "refused", text: tell("save.head_signed_out", { n }) };
  if (item.status !== "taken") {
    const stored = item.status === "submitted" || item.status === "locked";
    return { state: stored ? "saved" : "read-only", text: tell(`save.${item.status}`) };
  }
  if (!page.turn.mine) return { state: "read-only", text: tell("save.read_only") };
  const state = outbox.state();
  if (state === "refused") return { state, text: tell("save.head_refused", { n }) };
  if (state === "offline")
    return { state, text: tell(outbox.lastStatus ? "save.head_retrying" : "save.head_offline", { n }) };
  if (state === "saving") return { state, text: tell(outbox.kept ? "save.head_saving" : "save.head_saving_here") };
  return navigator.onLine
    ? { state, text: tell("save.head_saved") }
    : { state: "offline", text: tell("save.head_offline_saved") };
}

/** The one notice to show, the gravest first; {} for none. */
function notice(page) {
  const { item, outbox, closedBy, leaving, turn, notices } = page;
  if (!item) return {};
  const reload = { text: tell("page.load_again"), run: () => location.reload() };
  const kept = outbox.unsaved ? ` ${tell("notice.kept", { n: outbox.unsaved })}` : "";
  if (closedBy?.code === "signed_out")
    return { text: tell("notice.signed_out") + kept, tone: "red" };
  if (closedBy?.code === "replaced") return ofReplaced(closedBy, kept, reload);
  if (closedBy?.code === "returned")
    return { text: sentence(closedBy, "notice.returned") + kept, tone: "red", action: reload };
  if (closedBy)
    return { text: sentence(closedBy, "notice.closed") + kept, tone: "red", action: reload };
  if (item.status === "locked") return { text: tell("notice.locked") };
  if (item.status === "submitted")
    return { text: notices.get("submit")?.text ?? tell("notice.submitted") };
  if (item.status === "returned")
    return { text: tell(WENT_BACK[item.returned] ?? WENT_BACK.stale) };
  if (item.status !== "taken") return { text: tell("notice.taken_out") };
  if (!turn.mine)
    return {
      text: tell("notice.other_tab"),
      tone: "amber",
      action: { text: tell("notice.take_over"), run: () => turn.takeOver() },
    };
  if (outbox.stopped)
    return {
      text: sentence(outbox.stopped, "notice.stopped") + kept,
      tone: "red",
      action: reload,
    };
  if (leaving.busy) return {};
  const stale = page.answers.ids.find((id) => page.answers.conflict(id));
  if (stale)
    return {
      text: tell("notice.two_versions"),
      tone: "amber",
      action: { text: tell("notice.show_it"), run: () => page.move(stale) },
    };
  const [refusal] = outbox.refused.values();
  if (refusal)
    return {
      text: sentence(refusal, "notice.refused"),
      tone: "red",
      action: { text: tell("notice.show_it"), run: () => page.move(page.answers.rowOf(refusal.entry)) },
    };
  if (outbox.trouble && outbox.failures >= TROUBLE_AFTER)
    return { text: sentence({ text: outbox.trouble }, "notice.trouble"), tone: "amber" };
  const shown = ["unfinished", "submit", "remark", "note", "leftovers", "break", "handed_in", "first"].find((kind) => notices.has(kind));
  return notices.get(shown) ?? {};
}

/** Where to go from an item that can only be read: [{text, href}]. */
function waysOn({ item, links, position, desk }) {
  if (item.status === "taken" || desk) return [];
  const { done, of } = position ?? {};
  const next = done < of ? [{ text: tell("ways.continue", { n: done + 1 }), href: "/" }] : [];
  return [...links.map(({ back, href }) => ({ text: back, href })), ...next];
}

function submitState(page) {
  const { item, answers, leaving } = page;
  const [done, all] = answers.tally();
  const reopens = item.status === "submitted";
  return {
    hidden: !["taken", "submitted"].includes(item.status) || (!reopens && !page.turn.mine) || Boolean(page.closedBy),
    busy: leaving.busy,
    ready: !reopens && done === all,
    toDo: item.status !== "taken" ? "" : done === all ? tell("form.all_answered") : tell("form.to_go", { n: all - done }),
    text: tell(leaving.busy ? "form.submitting" : reopens ? "form.reopen" : "form.submit"),
    outcome: reopens ? "reopen" : "submit",
  };
}
