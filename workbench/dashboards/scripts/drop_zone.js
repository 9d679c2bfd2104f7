// A place to drop a file, or to choose one: it goes to the notebook's side in pieces, as no message may be long.
const PIECE = 1 << 20;

async function take(model, file) {
  if (file.size > model.get("most_bytes")) {
    model.send({ what: "too_large", name: file.name, bytes: file.size });
    return;
  }
  model.send({ what: "begin", name: file.name, bytes: file.size });
  for (let at = 0; at < file.size; at += PIECE) {
    const piece = await file.slice(at, at + PIECE).arrayBuffer();
    model.send({ what: "piece" }, undefined, [new DataView(piece)]);
  }
  model.send({ what: "end" });
}

function render({ model, el }) {
  const zone = document.createElement("label");
  const input = document.createElement("input");
  const words = document.createElement("span");
  zone.className = "wb-drop";
  input.type = "file";
  input.setAttribute("aria-label", model.get("prompt"));
  const say = () => { words.textContent = model.get("words") || model.get("prompt"); };
  const over = (on) => (event) => { event.preventDefault(); zone.classList.toggle("wb-over", on); };
  zone.addEventListener("dragover", over(true));
  zone.addEventListener("dragleave", over(false));
  zone.addEventListener("drop", (event) => {
    over(false)(event);
    if (event.dataTransfer.files.length) take(model, event.dataTransfer.files[0]);
  });
  input.addEventListener("change", () => {
    if (input.files.length) take(model, input.files[0]);
    input.value = "";
  });
  model.on("change:words", say);
  say();
  zone.append(input, words);
  el.append(zone);
  // An answer is put above the page, and the zone moves there with it: whoever dropped a file further below sees both.
  if (model.get("words")) requestAnimationFrame(() => zone.scrollIntoView({ block: "nearest" }));
  return () => model.off("change:words", say);
}

export default { render };
