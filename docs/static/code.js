/* A button that copies a block of code: without the prompts, and of a console block its commands alone. */
"use strict";

function copied(block) {
  const text = block.querySelector("pre").textContent.replace(/\n$/, "");
  if (!block.closest(".highlight-console")) return text;
  const commands = text.split("\n").filter((line) => line.startsWith("$ ") || line.startsWith("# "));
  return commands.length ? commands.map((line) => line.slice(2)).join("\n") : text;
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

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("div.highlight").forEach(addButton);
});
