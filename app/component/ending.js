// The end of work, or of what can be done now: what is said then, and the next step.

function showEnd(page, finished) {
  const { done, of } = page.position ?? {};
  const again = { text: tell("page.look_again"), run: () => location.reload() };
  const [home] = page.links;
  const said = page.note ? `${page.note} ` : "";
  const { code, back } = page.data;
  const waits = done < of; // paused, or what is left is due later: not the end
  if (back)
    page.shell.phase("finished", {
      title: done ? tell("page.all_submitted", { n: done }) : tell("page.nothing_left"),
      text: said + tell("page.stored_back"),
      action: { text: tell("page.go_back"), href: back },
      also: home,
    });
  else if (code || (finished && !waits && (page.data.status ?? "open") === "open"))
    page.shell.phase("finished", {
      title: done ? tell("page.all_submitted", { n: done }) : tell("page.all_done"),
      text: said + tell(code ? "page.stored_code" : "page.stored_close"),
      code,
      action: home ?? { text: tell("menu.log_out"), run: () => page.leaving.logout() },
    });
  else {
    const { title, text } = waitingFor(page.data.status);
    const over = home && ["closed", "locked"].includes(page.data.status);
    const steps = over ? { action: home } : { action: again, also: home };
    page.shell.phase("empty", { title, text: said + text, ...steps });
  }
}
