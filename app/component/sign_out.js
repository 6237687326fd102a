// "Log out" on a page without the annotator's component: the same POST, the same care for what is not saved yet.

class SignOut {
  constructor(root, data) {
    this.data = data;
    this.problem = make("span", { role: "alert", "aria-live": "assertive" });
    const open = make("button", { type: "button", onclick: () => this.ask() }, tell("sign_out.log_out"));
    this.box = make("div", { class: "sign-out", lang: language, dir: TEXTS[language].dir }, this.problem, open);
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
      { class: "sheet", "aria-label": tell("sign_out.log_out") },
      make("p", {}, tell("sign_out.unsaved", { n })),
      make("button", { type: "button", onclick: () => sheet.close() }, tell("sign_out.stay")),
      make(
        "button",
        { type: "button", onclick: () => downloadUnsaved(this.data.rescue, keptEntries(this.data.person)) },
        tell("sign_out.download"),
      ),
      make("button", { type: "button", onclick: () => this.leave() }, tell("sign_out.lose_them")),
    );
    sheet.addEventListener("close", () => sheet.remove());
    this.box.append(sheet);
    sheet.showModal();
  }

  async leave() {
    const left = this.unsaved.length ? "left" : "saved";
    const { csrf, person } = this.data;
    try {
      const answer = await fetch("/api/logout", {
        method: "POST",
        credentials: "same-origin",
        headers: { "Content-Type": "application/json", "X-Calipers-Token": csrf },
        body: "{}",
        signal: AbortSignal.timeout(8000),
      });
      const { code, name } = answer.ok ? {} : await answer.json().catch(() => ({}));
      if (code === "other_sign_in") return void (this.problem.textContent = `${tell("page.other_person", { name })} `);
      if (!answer.ok && answer.status !== 401) throw new Error("refused");
    } catch {
      this.problem.textContent = `${tell("sign_out.failed")} `;
      return;
    }
    await storage.clear(`calipers:${person}:`);
    location.assign(`/?out=${left}`);
  }
}

const shown = new WeakMap();

export default function signOut({ parentElement, data }, words) {
  speak(data.language, words);
  if (shown.has(parentElement)) shown.get(parentElement).data = data;
  else shown.set(parentElement, new SignOut(parentElement, data));
}
