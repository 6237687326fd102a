// Work on earlier items that never reached the server (a closed laptop, an item that went back to the others): it is sent
// when the person is here again, each under its own item. What the server refuses stays in this browser.

/** Resolves to the number of answers, flags, comments and guesses that are still unsaved. */
async function sendLeftovers(page) {
  await pause(0); // an item that was just left is nobody's turn then
  const { person } = page.data;
  const prefix = `calipers:${person}:`;
  const kept = storage.keys(prefix).filter((key) => key.includes(":entry:") && WORK.has(keptEntry(key)?.kind));
  const aids = new Set(kept.map((key) => key.slice(prefix.length).split(":")[0]));
  let unsaved = 0;
  for (const aid of aids) {
    if (aid === page.aid) continue;
    const turn = new Turn(`${person}:${aid}`, () => {});
    if (await turn.ready) {
      const nothing = () => {};
      const outbox = new Outbox({
        person,
        aid,
        page: null,
        post: (...request) => page.post(...request),
        changed: nothing,
        accepted: nothing,
        refusedWork: nothing,
      });
      outbox.start();
      if ((await outbox.drained()) === "refused") await dropOutdated(page, outbox);
      if (outbox.entries.size) outbox.close();
      else outbox.clear();
      unsaved += outbox.unsaved;
    }
    turn.close();
  }
  return unsaved;
}

/** A browser that was killed as an item was handed in may keep what came before: it is refused, and no answer any more. */
async function dropOutdated(page, outbox) {
  const { status, reply } = await page.request(`/api/assignment/${encodeURIComponent(outbox.aid)}`).catch(() => ({}));
  if (status !== 200) return;
  const rows = rowsOf(reply); // of the report beside too, whose answers come with it
  for (const [key, entry] of outbox.entries) {
    const row = entry.kind === "label" && rows.get(key.slice("label:".length));
    if (row?.aid === entry.aid && isOutdated(entry, row.answer)) outbox.drop(key);
  }
}
