// Which tab of this browser may write an item. Two tabs share one writer id and one localStorage, so only one of them
// may number edits; the other shows the same item read-only and can take over.

class Turn {
  /** changed(mine) whenever the answer changes after ready; `ready` resolves to the first answer. */
  constructor(name, changed) {
    this.name = `calipers:${name}`;
    this.changed = changed;
    this.mine = null;
    this.ready = new Promise((done) => {
      this.first = done;
    });
    if (navigator.locks) this.request({ ifAvailable: true });
    else this.ask(); // Web Locks need https or localhost
  }

  set(mine) {
    if (this.mine === mine || this.closed) return;
    const known = this.mine !== null;
    this.mine = mine;
    if (known) this.changed(mine);
    else this.first(mine);
  }

  request(options) {
    let held = false;
    navigator.locks
      .request(this.name, options, (lock) => {
        if (!lock || this.closed) return undefined;
        held = true;
        this.set(true);
        return new Promise((release) => {
          this.release = release;
        });
      })
      .then(
        () => true,
        // held and rejected: stolen by the other tab, which may close again. Never granted: the next one would not be
        // either, and WebKit, which rejects all while a page is left, would ask for ever and hang
        () => held,
      )
      .then((again) => {
        if (this.closed || options.signal?.aborted || (held && this.released)) return;
        if (!again && this.mine === null) return void this.ask();
        this.set(false);
        if (again) this.queue();
      });
  }

  /** Wait for the other tab to close; the item becomes writable here by itself. */
  queue() {
    this.waiting = new AbortController();
    this.request({ signal: this.waiting.signal });
  }

  takeOver() {
    if (this.mine) return;
    this.waiting?.abort();
    if (navigator.locks && !this.channel) this.request({ steal: true });
    else {
      this.channel?.postMessage("mine");
      this.set(true);
    }
  }

  ask() {
    if (typeof BroadcastChannel === "undefined") {
      this.set(true);
      return;
    }
    this.channel = new BroadcastChannel(this.name);
    this.channel.onmessage = ({ data }) => {
      if (data === "whose" && this.mine) this.channel.postMessage("mine");
      else if (data === "mine") this.set(false);
    };
    this.channel.postMessage("whose");
    setTimeout(() => {
      if (this.mine === null) this.set(true);
    }, 150);
  }

  close() {
    this.closed = true;
    this.released = true;
    this.waiting?.abort();
    this.release?.();
    this.channel?.close();
  }
}
