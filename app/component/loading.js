// All of a component that travels over the websocket with every page. The rest is a file that the browser keeps, and
// another one with the words of the study's language, where that is not English.

const ADDRESS = "{address}"; // names the file by its hash
const TRIES = 6; // half a minute of a network or a server that is away
const dressed = new WeakSet();
const arriving = new Map(); // by address

// A browser may remember that an address failed for as long as the page is open: each try asks another one.
async function arrived(file, failed = 0) {
  try {
    return await import(new URL(`${file}${failed ? `?${failed}` : ""}`, location.origin).href);
  } catch (error) {
    if (failed + 1 === TRIES) throw error;
    await new Promise((go) => setTimeout(go, 1000 * 2 ** failed));
    return arrived(file, failed + 1);
  }
}

function fetched(file) {
  if (!arriving.has(file)) {
    const coming = arrived(file).catch((error) => {
      arriving.delete(file);
      throw error;
    });
    arriving.set(file, coming);
  }
  return arriving.get(file);
}

export default async function load(component) {
  const { words } = component.data;
  const [{ default: show, STYLE }, told] = await Promise.all([fetched(ADDRESS), words && fetched(words)]);
  const root = component.parentElement;
  if (!dressed.has(root)) {
    dressed.add(root);
    root.append(Object.assign(document.createElement("style"), { textContent: STYLE }));
  }
  return show(component, told?.default);
}
