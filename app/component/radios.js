// A group of large buttons that is a radio group: one tab stop, Left and Right move and choose; Up and Down are the
// report's. While none is chosen the group itself is focused, so that the first space of a text chooses nothing.

const BY_POINTER = { touch: "touch", mouse: "mouse", pen: "mouse" }; // none: pressed by key
const SECOND_CLICK_MS = 600; // sooner, it is the other half of a double click

class Radios {
  /** choose(value, by): by is key, mouse, touch or arrow; value is null where the chosen one was clicked once more. */
  constructor({ attributes, choose }) {
    this.choose = choose;
    this.root = make("div", { role: "radiogroup", tabindex: -1, ...attributes });
    this.root.addEventListener("keydown", (event) => this.pressed(event));
  }

  /** What the group is called; the question itself is said where none is chosen, and the focus is on the group. */
  ask(name, text) {
    this.names = { name, open: text ? asking(name, text) : name };
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
          onclick: (event) => this.clicked(id, event),
        },
        ...content,
      ),
    );
    this.root.replaceChildren(...before, ...this.buttons);
  }

  clicked(id, { pointerType, detail }) {
    const by = BY_POINTER[pointerType] ?? "key";
    const again = by !== "key" && this.chosen === id;
    const apart = detail < 2 && performance.now() - (this.clickedAt ?? -Infinity) > SECOND_CLICK_MS;
    this.clickedAt = performance.now();
    this.choose(again && apart ? null : id, by);
  }

  mark(value, fixed) {
    this.chosen = value;
    const chosen = this.buttons.find(({ dataset }) => dataset.choice === value);
    this.root.setAttribute("aria-label", chosen ? this.names.name : this.names.open);
    for (const button of this.buttons) {
      button.setAttribute("aria-checked", String(button === chosen));
      button.tabIndex = button === (chosen ?? this.buttons[0]) ? 0 : -1;
      if (fixed) button.setAttribute("aria-disabled", "true");
      else button.removeAttribute("aria-disabled");
    }
  }

  pressed(event) {
    const onward = getComputedStyle(this.root).direction === "rtl" ? -1 : 1;
    const step = { ArrowRight: onward, ArrowLeft: -onward }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
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
