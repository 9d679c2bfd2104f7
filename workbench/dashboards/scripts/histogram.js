// How much better a policy is than the baseline, seed by seed: bars on both sides of zero, the median with its interval.

const HIGH = 150, TOP = 6, FOOT = 46;

function drawBars(sheet, scene, x, y) {
  const { ink } = sheet, zero = y(0);
  scene.counts.forEach((count, k) => {
    const from = x(scene.edges[k]), to = x(scene.edges[k + 1]);
    ink.fillStyle = scene.edges[k] >= 0 ? TONES.better : TONES.worse;
    const box = [from + 0.5, y(count), to - from - 1, zero - y(count)];
    if (scene.edges[k] >= 0) ink.fillRect(...box); else sheet.hatched(...box);
  });
  ink.fillStyle = TONES.quiet;
  ink.fillRect(x(0) - 3, y(scene.tied), 6, zero - y(scene.tied));
  ink.fillStyle = TONES.ink;
  ink.fillRect(x(0) - 0.5, y(scene.most), 1, zero - y(scene.most));
}

function drawMean(sheet, scene, x) {
  const { ink } = sheet, y = TOP + 12;
  ink.strokeStyle = ink.fillStyle = TONES.ink;
  ink.lineWidth = 2;
  ink.beginPath();
  if (scene.low !== null) {
    ink.moveTo(x(scene.low), y);
    ink.lineTo(x(scene.high), y);
    for (const end of [scene.low, scene.high]) { ink.moveTo(x(end), y - 5); ink.lineTo(x(end), y + 5); }
  }
  ink.stroke();
  ink.lineWidth = 1;
  ink.beginPath();
  ink.arc(x(scene.mean), y, 4.5, 0, 2 * Math.PI);
  ink.fill();
}

function drawHistogram(sheet, scene) {
  sheet.begin(scene.counts.length ? TOP + HIGH + FOOT : 0);
  if (!scene.counts.length) return;
  const y = sheet.upward(TOP, HIGH, scene.most, "seeds");
  const x = sheet.along(TOP + HIGH, [scene.edges[0], scene.edges.at(-1)], scene.label);
  drawBars(sheet, scene, x, y);
  drawMean(sheet, scene, x);
}

function render({ model, el }) {
  const result = el.appendChild(document.createElement("div")), sheet = new Sheet(el);
  result.className = "wb-result";
  const redraw = atNextFrame(() => {
    if (!model.get("drawn")) return; // the page may be there before the first run
    result.textContent = model.get("scene").words;
    drawHistogram(sheet, model.get("scene"));
    sheet.canvas.dataset.drawn = model.get("drawn");
  });
  sheet.saves("histogram", redraw.now, () => model.get("scene"));
  redraw();
  return keepDrawn(model, result, redraw);
}

export default { render };
