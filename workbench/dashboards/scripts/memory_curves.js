// Bytes over the events of a history: what was recorded as full lines, what is replayed dashed; a click chooses a moment.

const HIGH = 190, LINE = 18, HEAD = 2 * LINE + 8, FOOT = 46;

/** What the lines are: the replayed one, whose name is long, on a line of its own. */
function drawKey(sheet, curves) {
  const { ink } = sheet;
  let x = LEFT;
  for (const { name, colour, dash } of curves) {
    const y = dash.length ? LINE * 1.5 : LINE / 2;
    if (dash.length) x = LEFT;
    strokeWith(ink, TONES[colour], dash);
    ink.beginPath();
    ink.moveTo(x, y);
    ink.lineTo(x + 26, y);
    ink.stroke();
    x += 32 + sheet.words(name, x + 32, y, { most: Math.max(sheet.right - x - 32, 40) }) + 16;
  }
  strokeWith(ink, TONES.quiet, []);
  ink.lineWidth = 1;
}

function strokeWith(ink, TONES[colour], dash) {
  Object.assign(ink, { strokeStyle: colour, lineWidth: 2 });
  ink.setLineDash(dash);
}

function drawCurves(sheet, scene, at) {
  sheet.begin(scene.curves.length ? HEAD + HIGH + FOOT : 0);
  if (!scene.curves.length) return null;
  drawKey(sheet, scene.curves);
  const y = sheet.upward(HEAD, HIGH, scene.most, scene.unit, roundNumbers(0, scene.most, 4));
  const x = sheet.along(HEAD + HIGH, [0, scene.events], "events of the history", { finest: 1 });
  const { ink } = sheet;
  sheet.within(HEAD, HIGH, () => {
    for (const { value, colour, dash } of scene.curves) {
      const values = numbers(value), step = values.length > 1 ? scene.events / (values.length - 1) : 0;
      strokeWith(ink, TONES[colour], dash);
      ink.beginPath();
      values.forEach((each, k) => { // what is held changes at an event, not between two
        if (k) ink.lineTo(x(k * step), y(values[k - 1]));
        ink[k ? "lineTo" : "moveTo"](x(k * step), y(each));
      });
      ink.stroke();
    }
    strokeWith(ink, TONES.quiet, []);
    ink.lineWidth = 1;
    ink.fillStyle = TONES.chosen;
    ink.fillRect(x(at) - 0.75, HEAD, 1.5, HIGH);
  });
  return (place) => Math.round((Math.min(Math.max(place - LEFT, 0), sheet.right - LEFT) / (sheet.right - LEFT)) * scene.events);
}

function render({ model, el }) {
  const sheet = new Sheet(el);
  let eventAt = null;
  const redraw = atNextFrame(() => {
    if (!model.get("drawn")) return;
    eventAt = drawCurves(sheet, model.get("scene"), model.get("at"));
    sheet.canvas.dataset.drawn = model.get("drawn");
  });
  sheet.canvas.addEventListener("click", ({ offsetX }) => { if (eventAt) model.send({ what: "pick", k: eventAt(offsetX) }); });
  model.on("change:at", redraw);
  sheet.saves("memory", redraw.now, () => model.get("scene"));
  redraw();
  const end = keepDrawn(model, el, redraw);
  return () => { model.off("change:at", redraw); end(); };
}

export default { render };
