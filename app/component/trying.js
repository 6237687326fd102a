// The page of a protocol that is being written: a packet of which nothing is kept, neither in this browser nor elsewhere.

Object.assign(storage, { get: () => null, set: () => true, hold: () => true, remove: () => {}, clear: () => {}, keys: () => [] });

// Whoever writes beside it keeps the focus, until they go into this frame themselves.
const own = { focus: HTMLElement.prototype.focus, showModal: HTMLDialogElement.prototype.showModal };
HTMLElement.prototype.focus = () => {};
HTMLDialogElement.prototype.showModal = function () {
  this.open = true;
};
document.documentElement.inert = true; // for what asks for it by an attribute
setTimeout(() => {
  document.documentElement.inert = false;
}, 1000);
const entered = () => {
  Object.assign(HTMLElement.prototype, { focus: own.focus });
  Object.assign(HTMLDialogElement.prototype, { showModal: own.showModal });
};
for (const coming of ["pointerdown", "focusin", "keydown"]) addEventListener(coming, entered, { capture: true, once: true });
