// Whether the kernel answers: a page whose kernel has ended would look as if nothing could be turned any more.
const BEAT = 2000;

function render({ model, el }) {
  let unanswered = null, busy = 0, sentence = null;
  const say = (words, role) => {
    sentence ??= el.appendChild(Object.assign(document.createElement("div"), { className: "wb-silent" }));
    sentence.role = role;
    sentence.textContent = words;
  };
  const look = () => {
    if (unanswered === null) {
      unanswered = Date.now();
      model.send({ what: "there?" });
    }
    const seconds = (since) => Math.floor((Date.now() - since) / 1000), patience = model.get("patience");
    const silent = seconds(Math.max(unanswered, busy)), waited = seconds(unanswered);
    const cure = model.get("is_served") ? "Reload the page to begin anew; its address keeps the setting" : "Run the cell again to begin anew";
    if (silent >= patience) say(`No sign of the kernel for ${silent} s: it has ended. ${cure}.`, "alert");
    else if (waited >= patience) say(`The kernel has been computing for ${waited} s; the page goes on by itself.`, "status");
  };
  const heard = (message) => {
    if (message?.what === "busy") {
      busy = Date.now();
      return;
    }
    unanswered = null;
    sentence?.remove();
    sentence = null;
  };
  model.on("msg:custom", heard);
  look(); // the first run waits for it
  const timer = setInterval(look, BEAT);
  return () => {
    clearInterval(timer);
    model.off("msg:custom", heard);
  };
}

export default { render };
