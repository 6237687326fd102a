// Formulas: drawn over their source, which stays the text that is read aloud to nobody, but found, quoted and judged.

/** `formulas`: MathML by source. The source keeps its place in the report's text; what is drawn lies in its shadow. */
function typeset(report, formulas = {}) {
  for (const source of report.querySelectorAll("span")) {
    const drawn = formulas[source.textContent];
    if (!drawn) continue;
    const shadow = source.attachShadow({ mode: "open" });
    shadow.innerHTML = drawn; // made and checked by the server (annotation/formulas.py)
    shadow.append(make("slot", { hidden: true }));
    source.classList.toggle("displayed", shadow.firstChild.getAttribute("display") === "block");
  }
}

/** Formulas that one of `hits`, in the order of the text, touches show their source, in which it can be marked; all others are drawn. */
function uncover(report, hits) {
  for (const source of report.querySelectorAll("span")) {
    if (!source.shadowRoot) continue;
    const start = hits[0]?.map.startOf(source.firstChild);
    const hit = hits[firstOf(hits.length, (n) => hits[n].end > start)];
    const [drawn, slot] = source.shadowRoot.children;
    slot.hidden = !(hit?.start < start + source.textContent.length);
    drawn.style.display = slot.hidden ? "" : "none";
  }
}
