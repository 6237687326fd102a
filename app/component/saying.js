// What is said about the state of the page: one short line in the header, one notice above Submit. Nothing here decides.

const STATUS_WORDS = { submitted: "Submitted", locked: "Locked", returned: "Went back", void: "Taken out" };

const WENT_BACK = {
  skipped: "You skipped this item, so it went to the others.",
  closed: "The study was closed before you submitted this item.",
  stale: "This item waited too long, so it went to the others.",
  withdrawn: "You left the study, so this item went to the others.",
  packet: "The packet that this item was in was withdrawn.",
};
const TROUBLE_AFTER = 3; // failures in a row: a short fault is told by the save state alone

/** What the server says, as a sentence of its own. */
function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

/** Seconds as "42 min" or "2 h 05 min". */
function minutes(seconds) {
  const all = Math.floor(seconds / 60);
  return all < 60 ? `${all} min` : `${Math.floor(all / 60)} h ${String(all % 60).padStart(2, "0")} min`;
}

/** Why there is nothing to do, and whether to come back, as {title, text}; `status` is the study's. */
function waitingFor(status) {
  const words = {
    draft: ["This study has not begun yet.", "Come back with the same link when you are told that it is open."],
    paused: ["This study is paused.", "What you handed in is stored. Come back later with the same link."],
    held: ["Your work is paused.", "What you handed in is stored. Whoever sent you your link can say why."],
    closed: ["This study is closed.", "What you handed in is stored; work that was not handed in went back."],
    locked: ["This study is closed.", "What you handed in is stored. Thank you."],
  };
  const [title, text] = words[status] ?? ["No item is waiting for you.", "New ones may be given out later."];
  return { title, text };
}

/** The save state of the whole item: {state, text}. */
function saveState(page) {
  if (page.desk) return page.keptState();
  const { outbox, item } = page;
  if (!item) return { state: "none", text: "" };
  const n = outbox.unsaved;
  if (page.closedBy?.code === "signed_out") return { state: "refused", text: `Signed out, ${n} unsaved` };
  if (item.status !== "taken") {
    const stored = item.status === "submitted" || item.status === "locked";
    return { state: stored ? "saved" : "read-only", text: STATUS_WORDS[item.status] };
  }
  if (!page.turn.mine) return { state: "read-only", text: "Read-only" };
  const state = outbox.state();
  if (state === "refused") return { state, text: `${n} not saved` };
  if (state === "offline")
    return { state, text: outbox.lastStatus ? `${n} unsaved, retrying` : `Offline, ${n} unsaved` };
  if (state === "saving") return { state, text: outbox.kept ? "Saving" : "Saving, keep this tab" };
  return navigator.onLine ? { state, text: "Saved" } : { state: "offline", text: "Offline, all saved" };
}

/** The one notice to show, the gravest first; {} for none. */
function notice(page) {
  const { item, outbox, closedBy, leaving, turn, notices } = page;
  if (!item) return {};
  const reload = { text: "Load the page again", run: () => location.reload() };
  const kept = outbox.unsaved
    ? ` ${count(outbox.unsaved, "unsaved answer stays", "unsaved answers stay")} in this browser.`
    : "";
  if (closedBy?.code === "signed_out")
    return { text: `You are signed out. Open your invite link again.${kept}`, tone: "red" };
  if (closedBy?.code === "returned")
    return { text: sentence(closedBy.text ?? "This item went back to the others") + kept, tone: "red", action: reload };
  if (closedBy)
    return { text: sentence(closedBy.text ?? "This item can no longer be changed") + kept, tone: "red", action: reload };
  if (item.status === "locked") return { text: "The study is locked; this item can no longer be changed." };
  if (item.status === "submitted")
    return { text: notices.get("submit")?.text ?? "Submitted. To change an answer, reopen the item." };
  if (item.status === "returned")
    return { text: `${WENT_BACK[item.returned] ?? WENT_BACK.stale} What you wrote is kept; here it can only be read.` };
  if (item.status !== "taken") return { text: "This item was taken out of the study; it can only be read." };
  if (!turn.mine)
    return {
      text: "This item is open in another tab; here it is read-only.",
      tone: "amber",
      action: { text: "Take over", run: () => turn.takeOver() },
    };
  if (outbox.stopped)
    return {
      text: sentence(outbox.stopped.text ?? "The server refuses this page's answers") + kept,
      tone: "red",
      action: reload,
    };
  if (leaving.busy) return {};
  const stale = page.answers.ids.find((id) => page.answers.conflict(id));
  if (stale)
    return {
      text: "An answer has two versions; pick one.",
      tone: "amber",
      action: { text: "Show it", run: () => page.move(stale) },
    };
  const [refusal] = outbox.refused.values();
  if (refusal)
    return {
      text: sentence(refusal.text ?? "An answer was refused"),
      tone: "red",
      action: { text: "Show it", run: () => page.move(refusal.entry.criterion) },
    };
  if (outbox.trouble && outbox.failures >= TROUBLE_AFTER)
    return { text: sentence(outbox.trouble), tone: "amber" };
  return notices.get("submit") ?? notices.get("remark") ?? notices.get("note") ?? notices.get("leftovers") ?? {};
}

/** Where to go from an item that can only be read: [{text, href}]. */
function waysOn({ item, links, position, desk }) {
  if (item.status === "taken" || desk) return [];
  const { done, of } = position ?? {};
  const next = done < of ? [{ text: `Continue with item ${done + 1}`, href: "/" }] : [];
  return [...links.map(({ text, href }) => ({ text: `Back to ${text.toLowerCase()}`, href })), ...next];
}

function submitState(page) {
  const { item, answers, leaving } = page;
  const [done, all] = answers.tally();
  const reopens = item.status === "submitted";
  return {
    hidden: !["taken", "submitted"].includes(item.status) || (!reopens && !page.turn.mine) || Boolean(page.closedBy),
    busy: leaving.busy,
    ready: !reopens && done === all,
    toDo: item.status !== "taken" ? "" : done === all ? "All answered" : `${all - done} to go`,
    text: leaving.busy ? "Submitting" : reopens ? "Reopen" : "Submit",
    outcome: reopens ? "reopen" : "submit",
  };
}
