"use strict";

/* A button that copies a block of code: without the prompts, and of a console block its commands alone. */

function copied(block) {
  const text = block.querySelector("pre").textContent.replace(/\n$/, "");
  if (!block.closest(".highlight-console")) return text;
  const lines = text.split("\n");
  if (!lines.some((line) => line.startsWith("$ "))) return text;
  const commands = lines.filter((line, at) => line.startsWith("$ ") || (at && lines[at - 1].endsWith("\\")));
  return commands.map((line) => line.replace(/^\$ /, "")).join("\n");
}

function addButton(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy this block");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(copied(block));
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  block.append(button);
}

/* What is wider than its page scrolls, with the keyboard too. */
function reachable(part) {
  if (part.scrollWidth <= part.clientWidth + 1) return;
  part.tabIndex = 0;
  part.setAttribute("role", "group");
  part.setAttribute("aria-label", "scrolls sideways");
}

/* The icons that open the drawers of a narrow window are buttons, which the keyboard presses too. */
function pressable(icon) {
  icon.tabIndex = 0;
  icon.setAttribute("role", "button");
  icon.setAttribute("aria-label", icon.closest("label").control.getAttribute("aria-label"));
  icon.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    icon.click();
  });
}

/* A long table gets a field that leaves the rows with its words. */
function addFilter(table) {
  const rows = [...table.querySelectorAll("tbody tr")];
  if (rows.length < 60) return;
  const field = document.createElement("input");
  field.type = "search";
  field.className = "filter";
  field.placeholder = `Filter ${rows.length} rows`;
  field.setAttribute("aria-label", "Filter the rows of the table below");
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
  });
  (table.closest(".table-wrapper") || table).before(field);
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("div.highlight").forEach(addButton);
  document.querySelectorAll("label .icon").forEach(pressable);
  document.querySelectorAll("article table.docutils").forEach(addFilter);
  document.querySelectorAll("pre, .table-wrapper, div.cell_output .output, figure.drawing").forEach(reachable);
});
