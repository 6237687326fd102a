// Earlier reasons: what oneself wrote about the same criterion on other items, where the owner lets it be read
// (annotation/work/own_work.py). Nobody else's, and nothing of the item in work.

class EarlierReasons {
  constructor(page) {
    this.page = page;
    this.button = make("button", { type: "button", class: "history", hidden: true, onclick: () => this.open() });
  }

  show() {
    this.button.hidden = !this.page.item.earlier_reasons;
    write(this.button, tell("earlier.button"));
    this.button.title = tell("earlier.explain");
  }

  async open() {
    const { page } = this;
    const { item, current } = page;
    const asked = item.criteria.find(({ id }) => id === criterionOf(current));
    const { status, reply } = await page
      .request(`/api/earlier/${encodeURIComponent(item.aid)}/${encodeURIComponent(asked.id)}`)
      .catch(() => ({ status: 0 }));
    if (page.item !== item || page.current !== current) return;
    const explain = status !== 200 ? "not_loaded" : reply.length ? "explain" : "none";
    page.dialogs.show(
      tell("earlier.title", { label: asked.label }),
      make("p", { class: "soft" }, tell(`earlier.${explain}`)),
      ...(status === 200 ? reply : []).map((one) => this.reason(one)),
    );
  }

  reason({ topic, choice, rationale }) {
    return make(
      "section",
      { class: "reason" },
      make("h3", { dir: "auto" }, topic),
      make("b", {}, this.page.answers.text(choice) ?? choice),
      make("p", { dir: "auto" }, rationale),
    );
  }
}
