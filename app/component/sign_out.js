// "Log out" on a page without the annotator's component: the same POST, the same care for what is not saved yet.

class SignOut {
  constructor(root, data) {
    this.data = data;
    this.problem = make("span", { role: "alert" });
    const open = make("button", { type: "button", onclick: () => this.ask() }, "Log out");
    this.box = make("div", { class: "sign-out" }, this.problem, open);
    root.append(this.box);
  }

  get unsaved() {
    return keptEntries(this.data.person).filter(({ kind }) => WORK.has(kind));
  }

  ask() {
    const n = this.unsaved.length;
    if (!n) return void this.leave();
    const sheet = make(
      "dialog",
      { class: "sheet", "aria-label": "Log out" },
      make(
        "p",
        {},
        `${count(n, "answer")} in this browser ${n === 1 ? "is" : "are"} not saved yet and would be lost. Continue with your work to send ${n === 1 ? "it" : "them"}.`,
      ),
      make("button", { type: "button", onclick: () => sheet.close() }, "Stay"),
      make(
        "button",
        { type: "button", onclick: () => downloadUnsaved(this.data.rescue, keptEntries(this.data.person)) },
        "Download my unsaved answers",
      ),
      make("button", { type: "button", onclick: () => this.leave() }, "Log out and lose them"),
    );
    sheet.addEventListener("close", () => sheet.remove());
    this.box.append(sheet);
    sheet.showModal();
  }

  async leave() {
    const { csrf, person } = this.data;
    try {
      const answer = await fetch("/api/logout", {
        method: "POST",
        credentials: "same-origin",
        headers: { "Content-Type": "application/json", "X-Calipers-Token": csrf },
        body: "{}",
        signal: AbortSignal.timeout(8000),
      });
      if (!answer.ok && answer.status !== 401) throw new Error("refused");
    } catch {
      this.problem.textContent = "Not logged out: no connection. Try again. ";
      return;
    }
    for (const key of storage.keys(`calipers:${person}:`)) storage.remove(key);
    location.assign("/");
  }
}

const shown = new WeakMap();

export default function signOut({ parentElement, data }) {
  if (shown.has(parentElement)) shown.get(parentElement).data = data;
  else shown.set(parentElement, new SignOut(parentElement, data));
}
