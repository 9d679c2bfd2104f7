// Whether the kernel answers: a page whose kernel has ended would look as if nothing could be turned any more.
const BEAT = 2000;

function render({ model, el }) {
  let unanswered = null, sentence = null;
  const say = (silent) => {
    sentence ??= Object.assign(el.appendChild(document.createElement("div")), { className: "wb-silent", role: "alert" });
    const cure = model.get("is_served") ? "Reload the page to begin anew; its address keeps the setting" : "Run the cell again to begin anew";
    sentence.textContent = `No answer from the kernel for ${silent} s: it computes, or it has ended. ${cure}.`;
  };
  const look = () => {
    if (unanswered === null) {
      unanswered = Date.now();
      model.send({ what: "there?" });
    }
    const silent = Math.floor((Date.now() - unanswered) / 1000);
    if (silent >= model.get("patience")) say(silent);
  };
  const answered = () => {
    unanswered = null;
    sentence?.remove();
    sentence = null;
  };
  model.on("msg:custom", answered);
  look(); // the first run waits for it
  const timer = setInterval(look, BEAT);
  return () => {
    clearInterval(timer);
    model.off("msg:custom", answered);
  };
}

export default { render };
