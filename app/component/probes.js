// Probes: the claim, fact or requirement that is asked about stays above its context, whole; its answers stand one
// below the other where their words are long.

const LONG_ANSWER = 16; // characters that still fit beside three others

/** The pinned text of one probe; a long one scrolls within itself. */
class PinnedProbe {
  constructor({ kind, text }, { language, dir }) {
    const name = tell(`probe.${kind.replace(" ", "_")}`);
    const words = make("div", {}, make("h2", {}, name), make("p", { lang: language, dir }, text));
    this.root = make(
      "section",
      { class: "probe" },
      make("div", { class: "probe-text", role: "region", "aria-label": name, tabindex: 0 }, words),
    );
  }

  /** The next one is on its way: its place stays, so that the context does not move. */
  wait() {
    this.root.classList.add("waiting");
  }
}

const answersStack = (choices) => choices.length > 4 || choices.some(({ text }) => text.length > LONG_ANSWER);
