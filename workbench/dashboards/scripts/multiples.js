// Several policies against one baseline: a small histogram each, all on one axis; a click, or Enter, chooses one.

const HIGH = 74, HEAD = 34, FOOT = 40, COLUMNS = 2, BETWEEN = 18;

function drawSmall(sheet, scene, panel, left, top, wide, focused) {
  const { ink } = sheet, [from, to] = [scene.edges[0], scene.edges.at(-1)];
  const x = (value) => left + ((value - from) / (to - from)) * wide, y = (count) => top + HIGH * (1 - count / scene.most);
  sheet.words(panel.name, left, top - 24, { bold: true, most: wide });
  sheet.words(panel.words, left, top - 9, { most: wide });
  panel.counts.forEach((count, k) => {
    ink.fillStyle = scene.edges[k] >= 0 ? TONES.better : TONES.worse;
    const box = [x(scene.edges[k]) + 0.5, y(count), Math.max(x(scene.edges[k + 1]) - x(scene.edges[k]) - 1, 0.5), top + HIGH - y(count)];
    if (scene.edges[k] >= 0) ink.fillRect(...box); else sheet.hatched(...box);
  });
  ink.fillStyle = TONES.quiet;
  ink.fillRect(x(0) - 2, y(panel.tied), 4, top + HIGH - y(panel.tied));
  ink.fillStyle = TONES.ink;
  ink.fillRect(x(0) - 0.5, top, 1, HIGH);
  ink.strokeStyle = focused ? TONES.chosen : TONES.quiet;
  ink.lineWidth = focused ? 2 : 1;
  ink.strokeRect(left - 0.5, top - 0.5, wide + 1, HIGH + 1);
  ink.strokeStyle = TONES.ink;
  ink.lineWidth = 2;
  if (panel.low !== null) {
    ink.beginPath();
    ink.moveTo(x(panel.low), top + 8);
    ink.lineTo(x(panel.high), top + 8);
    ink.stroke();
  }
  ink.beginPath();
  ink.arc(x(panel.mean), top + 8, 3.5, 0, 2 * Math.PI);
  ink.fill();
  ink.lineWidth = 1;
}

function drawMultiples(sheet, scene, focused) {
  const rows = Math.ceil(scene.panels.length / COLUMNS);
  sheet.begin(rows ? rows * (HEAD + HIGH + 8) + FOOT : 0);
  const wide = (sheet.wide - 2 * 10 - (COLUMNS - 1) * BETWEEN) / COLUMNS;
  const places = scene.panels.map((panel, k) => {
    const left = 10 + (k % COLUMNS) * (wide + BETWEEN), top = HEAD + Math.floor(k / COLUMNS) * (HEAD + HIGH + 8);
    drawSmall(sheet, scene, panel, left, top, wide, k === focused);
    return { k: panel.k, left, top: top - HEAD, right: left + wide, bottom: top + HIGH };
  });
  if (rows) {
    const bottom = rows * (HEAD + HIGH + 8), [from, to] = [scene.edges[0], scene.edges.at(-1)];
    for (let column = 0; column < Math.min(COLUMNS, places.length); column++)
      sheet.axisLabels(
        roundNumbers(from, to, 4).map((value) => [formatted(value), value]),
        (value) => 10 + column * (wide + BETWEEN) + ((value - from) / (to - from)) * wide,
        bottom + 2,
        false,
      );
    sheet.words(`${scene.label}; the same axis for all`, sheet.wide / 2, bottom + 19, { align: "center", base: "top", most: sheet.wide - 20 });
  }
  return places;
}

function render({ model, el }) {
  const sheet = new Sheet(el);
  sheet.canvas.tabIndex = 0;
  sheet.canvas.setAttribute("role", "listbox");
  sheet.canvas.setAttribute("aria-label", "policies; arrow keys move, Enter shows one large");
  let places = [], focused = -1;
  const redraw = atNextFrame(() => {
    if (!model.get("drawn")) return;
    places = drawMultiples(sheet, model.get("scene"), focused);
    sheet.canvas.dataset.drawn = model.get("drawn");
  });
  const pick = (place) => { if (place) model.send({ what: "pick", k: place.k }); };
  const under = (event) => {
    const box = sheet.canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    return places.find(({ left, right, top, bottom }) => x >= left && x <= right && y >= top && y <= bottom);
  };
  sheet.canvas.addEventListener("mousemove", (event) => { sheet.canvas.style.cursor = under(event) ? "pointer" : "default"; });
  sheet.canvas.addEventListener("click", (event) => pick(under(event)));
  sheet.canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: COLUMNS, ArrowUp: -COLUMNS }[event.key];
    if (event.key === "Enter") pick(places[focused]);
    if (!step) return;
    event.preventDefault();
    focused = Math.min(Math.max(focused + step, 0), places.length - 1);
    redraw();
  });
  sheet.saves("multiples", redraw.now, () => model.get("scene"));
  redraw();
  return keepDrawn(model, el, redraw);
}

export default { render };
