// Figures and tables are opened over the whole page, by a click or a key; long code has numbers beside its lines.

const NUMBERED = 10; // lines from which code has numbers

/** `open(title, node, formulas)` shows a figure or table large. Nothing is added to the report's text. */
function enlargeable(report, formulas, open) {
  for (const image of report.querySelectorAll("img")) {
    const large = () => open(tell("pane.figure"), image, formulas);
    const button = make("button", { type: "button", class: "figure", "aria-label": tell("pane.enlarge_figure"), onclick: large });
    image.alt = tell("pane.figure"); // read where it could not be fetched; its caption is the text beside it
    image.replaceWith(button);
    button.append(image);
    if (!button.previousSibling) button.parentElement.classList.add("captioned");
  }
  for (const scroller of report.querySelectorAll(".scroller")) {
    const large = () => open(tell("pane.table_large"), scroller.querySelector("table"), formulas);
    scroller.append(make("button", { type: "button", class: "enlarge", "aria-label": tell("pane.enlarge_table"), onclick: large }, icon("enlarge")));
  }
  for (const code of report.querySelectorAll("pre")) {
    const lines = code.textContent.trimEnd().split("\n").length;
    if (lines >= NUMBERED) code.dataset.lines = Array.from({ length: lines }, (_, n) => n + 1).join("\n");
  }
}

/** Open the figure or table of a pane that is nearest to where one reads. */
function enlargeNearest({ node, report }) {
  const line = node.getBoundingClientRect().top + READING_LINE * node.clientHeight;
  const away = (each) => {
    const { top, bottom } = (each.closest(".scroller") ?? each).getBoundingClientRect();
    return Math.max(top - line, line - bottom, 0);
  };
  const all = [...report.querySelectorAll(".figure, .enlarge")];
  all.sort((one, other) => away(one) - away(other))[0]?.click();
}
