// Whose page this is, once the browser's sign-in is not the one it was opened under.

/** The invite link opens in another tab: let that one write. */
function signedOut(page) {
  if (page.closedBy?.code === "signed_out") return;
  page.closedBy = { code: "signed_out" };
  page.turn.close();
  page.refresh();
}

/** This browser has another sign-in by now: of somebody else, who is named, or of the same person once more. */
function replaced(page, { person, name }) {
  if (page.closedBy?.code === "replaced") return;
  page.closedBy = { code: "replaced", name: person === page.data.person ? null : name };
  page.turn?.close();
  page.refresh();
}

/** The name that this browser acts under, as far as the page knows; a packet knows none. */
function signedInAs({ data, closedBy }) {
  if (closedBy?.code === "signed_out") return null;
  return (closedBy?.code === "replaced" && closedBy.name) || data?.name;
}

const goOnAs = (name) => ({ text: tell("notice.go_on_as", { name }), run: () => location.assign("/") });

/** The page would be somebody else's from now on: none of what they do here may count as this person's. */
function overtaken(page, { name }) {
  page.generation += 1;
  page.leave();
  page.turn?.close();
  page.shell.phase("trouble", { title: tell("page.other_person", { name }), text: tell("page.other_person_text"), action: goOnAs(name) });
  page.header.refresh();
}

/** The notice of a page that was replaced; `kept` says what this browser still holds. */
function ofReplaced({ name }, kept, reload) {
  const said = name ? { text: tell("notice.other_person", { name }), action: goOnAs(name) } : { text: tell("notice.same_person"), action: reload };
  return { ...said, text: said.text + kept, tone: "red" };
}
