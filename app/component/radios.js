// A group of large buttons that is a radio group: one tab stop, arrows move and choose. While none is chosen the group
// itself is focused, so that the first space of a text that is typed on chooses nothing.

const BY_POINTER = { touch: "touch", mouse: "mouse", pen: "mouse" }; // none: pressed by key

class Radios {
  /** choose(value, by): by is key, mouse, touch or arrow. */
  constructor({ attributes, choose }) {
    this.choose = choose;
    this.root = make("div", { role: "radiogroup", tabindex: -1, ...attributes });
    this.root.addEventListener("keydown", (event) => this.pressed(event));
  }

  /** options: [{id, content, key?}]; `before` are nodes that precede the buttons. */
  fill(options, ...before) {
    this.buttons = options.map(({ id, content, key }) =>
      make(
        "button",
        {
          type: "button",
          role: "radio",
          class: "choice",
          "data-choice": id,
          "aria-checked": "false",
          "aria-keyshortcuts": key,
          onclick: ({ pointerType }) => this.choose(id, BY_POINTER[pointerType] ?? "key"),
        },
        ...content,
      ),
    );
    this.root.replaceChildren(...before, ...this.buttons);
  }

  mark(value, fixed) {
    const chosen = this.buttons.find(({ dataset }) => dataset.choice === value);
    for (const button of this.buttons) {
      button.setAttribute("aria-checked", String(button === chosen));
      button.tabIndex = button === (chosen ?? this.buttons[0]) ? 0 : -1;
      if (fixed) button.setAttribute("aria-disabled", "true");
      else button.removeAttribute("aria-disabled");
    }
  }

  pressed(event) {
    if (event.key === " " && event.target === this.root) event.preventDefault(); // nor does it scroll
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = this.buttons.indexOf(event.composedPath()[0]);
    const next = this.buttons.at(at < 0 && step < 0 ? -1 : (at + step) % this.buttons.length);
    this.choose(next.dataset.choice, "arrow");
    next.focus({ preventScroll: true });
  }

  focus() {
    const chosen = this.buttons.find(({ ariaChecked }) => ariaChecked === "true");
    (chosen ?? this.root).focus({ preventScroll: true });
  }
}
