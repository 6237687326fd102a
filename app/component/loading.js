// All of a component that travels over the websocket with every page. The rest is a file that the browser keeps.

const ADDRESS = "{address}"; // names the file by its hash
const TRIES = 6; // half a minute of a network or a server that is away
const dressed = new WeakSet();
let arriving = null;

// A browser may remember that an address failed for as long as the page is open: each try asks another one.
async function arrived(failed = 0) {
  try {
    return await import(new URL(`${ADDRESS}${failed ? `?${failed}` : ""}`, location.origin).href);
  } catch (error) {
    if (failed + 1 === TRIES) throw error;
    await new Promise((go) => setTimeout(go, 1000 * 2 ** failed));
    return arrived(failed + 1);
  }
}

export default async function load(component) {
  arriving ??= arrived().catch((error) => {
    arriving = null;
    throw error;
  });
  const { default: show, STYLE } = await arriving;
  const root = component.parentElement;
  if (!dressed.has(root)) {
    dressed.add(root);
    root.append(Object.assign(document.createElement("style"), { textContent: STYLE }));
  }
  return show(component);
}
