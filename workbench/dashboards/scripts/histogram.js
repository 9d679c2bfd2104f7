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

/** The bar under a place on the sheet, and the mean, in words. */
function barAt({ counts, edges, tied, mean, low, high }, share) {
  if (!counts.length || share < 0 || share > 1) return "";
  const value = edges[0] + share * (edges.at(-1) - edges[0]), k = Math.max(0, edges.findLastIndex((edge) => edge <= value));
  const all = counts.reduce((sum, count) => sum + count, tied), bar = Math.min(k, counts.length - 1);
  return `${counts[bar]} of ${all} seeds from ${formatted(edges[bar])} to ${formatted(edges[bar + 1])}; mean ${withLimits(mean, low, high)}`;
}

/** By how much and how sure, in large type; below it both sides in their colours; the pointer finds the p-value. */
function tell(headline, result, { headline: large, side, sides, brief, words }) {
  headline.textContent = large;
  headline.className = `wb-headline${side && ` wb-${side}`}`;
  const names = sides.map((name, k) => Object.assign(document.createElement("b"), { textContent: name, className: k ? "wb-baseline" : "wb-other" }));
  result.title = words;
  if (sides.length) result.replaceChildren(names[0], " against ", names[1], `: ${brief}.`);
  else result.textContent = words;
}

function render({ model, el }) {
  const headline = el.appendChild(document.createElement("div"));
  const result = el.appendChild(document.createElement("div")), sheet = new Sheet(el);
  result.className = "wb-result";
  const redraw = atNextFrame(() => {
    if (!model.get("drawn")) return; // the page may be there before the first run
    tell(headline, result, model.get("scene"));
    drawHistogram(sheet, model.get("scene"));
    sheet.canvas.dataset.drawn = model.get("drawn");
  });
  tellUnderPointer(sheet, (x) => (model.get("drawn") ? barAt(model.get("scene"), (x - LEFT) / (sheet.right - LEFT)) : ""));
  sheet.saves("histogram", redraw.now, () => model.get("scene"));
  redraw();
  return keepDrawn(model, result, redraw);
}

export default { render };
