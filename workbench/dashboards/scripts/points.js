// Points by two measures; a click, or an arrow key, chooses one.

const HIGH = 190, TOP = 8, FOOT = 46, NEAR = 14, HELD = "baseline";

function ends(values) {
  const low = Math.min(...values), high = Math.max(...values), room = 0.08 * (high - low || Math.abs(high) || 1);
  return [low - room, high + room];
}

/** Where a point lay before, and an arrow from there to where it lies. */
function drawFrom(ink, [x0, y0], [x1, y1]) {
  const far = Math.hypot(x1 - x0, y1 - y0), [across, up] = [(x1 - x0) / (far || 1), (y1 - y0) / (far || 1)];
  ink.beginPath();
  ink.arc(x0, y0, 3, 0, 2 * Math.PI);
  Object.assign(ink, { fillStyle: TONES.paper, strokeStyle: TONES.ink, lineWidth: 1 });
  ink.fill();
  ink.stroke();
  if (far < 14) return;
  const [tipX, tipY] = [x1 - 7 * across, y1 - 7 * up];
  Object.assign(ink, { strokeStyle: TONES.quiet, fillStyle: TONES.quiet });
  ink.beginPath();
  ink.moveTo(x0 + 4 * across, y0 + 4 * up);
  ink.lineTo(tipX, tipY);
  ink.stroke();
  ink.beginPath();
  ink.moveTo(tipX, tipY);
  ink.lineTo(tipX - 6 * across - 2.5 * up, tipY - 6 * up + 2.5 * across);
  ink.lineTo(tipX - 6 * across + 2.5 * up, tipY - 6 * up - 2.5 * across);
  ink.closePath();
  ink.fill();
}

/** What the points are held to: a diamond. */
function drawHeld(sheet, x, y) {
  const { ink } = sheet;
  ink.beginPath();
  ink.moveTo(x, y - 7);
  ink.lineTo(x + 7, y);
  ink.lineTo(x, y + 7);
  ink.lineTo(x - 7, y);
  ink.closePath();
  ink.fillStyle = TONES.ink;
  ink.fill();
}

/** The number of each trial, and the name of each baseline, beside its point; left out where it would cover another. */
function nameAll(sheet, places) {
  const taken = places.map(({ at: [x, y] }) => [x - 6, y - 6, x + 6, y + 6]);
  for (const { name, at: [x, y] } of places) {
    const text = name.replace(/^trial /, ""), wide = sheet.wordsWidth(text);
    if (text === name && name !== HELD) continue; // points of a sweep have long names
    for (const [left, middle] of [[x + 8, y - 8], [x + 8, y + 9], [x - 8 - wide, y - 8], [x - 8 - wide, y + 9]]) {
      const box = [left, middle - 6, left + wide, middle + 6];
      if (box[0] < LEFT || box[2] > sheet.right || box[1] < TOP || box[3] > TOP + HIGH) continue;
      if (taken.some((one) => box[0] < one[2] && one[0] < box[2] && box[1] < one[3] && one[1] < box[3])) continue;
      sheet.words(text, left, middle);
      taken.push(box);
      break;
    }
  }
}

function drawPoints(sheet, scene) {
  sheet.begin(TOP + HIGH + FOOT);
  const pale = scene.pale ?? [], held = scene.held ?? [], before = scene.points.map((point) => point.from).filter(Boolean);
  const others = [...pale, ...held, ...before];
  const [low, high] = ends([...scene.points.map((point) => point.y), ...others.map((place) => place[1])]);
  const y = sheet.upward(TOP, HIGH, high - low, scene.y, []);
  for (const value of roundNumbers(low, high, 4)) sheet.words(formatted(value), LEFT - 8, y(value - low), { align: "right" });
  const x = sheet.along(TOP + HIGH, ends([...scene.points.map((point) => point.x), ...others.map((place) => place[0])]), scene.x);
  for (const [across, up] of pale) {
    sheet.ink.beginPath();
    sheet.ink.arc(x(across), y(up - low), 2, 0, 2 * Math.PI);
    sheet.ink.fillStyle = TONES.quiet;
    sheet.ink.fill();
  }
  const places = scene.points.map((point) => ({ ...point, at: [x(point.x), y(point.y - low)] }));
  for (const { from, at } of places) if (from) drawFrom(sheet.ink, [x(from[0]), y(from[1] - low)], at);
  for (const [across, up] of held) drawHeld(sheet, x(across), y(up - low));
  const onTop = [...places].sort((one, two) => (one.k === scene.chosen) - (two.k === scene.chosen));
  for (const { k, at } of onTop) {
    sheet.ink.beginPath();
    sheet.ink.arc(...at, k === scene.chosen ? 6 : 5, 0, 2 * Math.PI);
    sheet.ink.fillStyle = k === scene.chosen ? TONES.chosen : TONES.better;
    sheet.ink.strokeStyle = TONES.ink;
    sheet.ink.lineWidth = 1;
    sheet.ink.fill();
    sheet.ink.stroke();
  }
  nameAll(sheet, [...places, ...held.map(([across, up]) => ({ name: HELD, at: [x(across), y(up - low)] }))]);
  sheet.ink.lineWidth = 1;
  return places;
}

function render({ model, el }) {
  const caption = el.appendChild(document.createElement("div")), sheet = new Sheet(el);
  caption.className = "wb-says";
  sheet.canvas.tabIndex = 0;
  sheet.canvas.setAttribute("role", "listbox");
  sheet.canvas.setAttribute("aria-label", "points; arrow keys choose one");
  let places = [];
  const redraw = atNextFrame(() => {
    if (!model.get("drawn")) return;
    const scene = model.get("scene");
    places = drawPoints(sheet, scene);
    const chosen = scene.points.find((point) => point.k === scene.chosen);
    caption.textContent = chosen ? `Shown: ${chosen.name}. Click a point to set every lever as it has them.` : "";
    sheet.canvas.dataset.drawn = model.get("drawn");
  });
  const nearest = (event) => {
    const box = sheet.canvas.getBoundingClientRect();
    const far = ({ at }) => Math.hypot(at[0] - (event.clientX - box.left), at[1] - (event.clientY - box.top));
    const best = places.reduce((one, two) => (one && far(one) <= far(two) ? one : two), null);
    return best && far(best) <= NEAR ? best : null;
  };
  const pick = (point) => { if (point) model.send({ what: "pick", k: point.k }); };
  sheet.canvas.addEventListener("mousemove", (event) => {
    const point = nearest(event);
    sheet.canvas.style.cursor = point ? "pointer" : "default";
    if (point) caption.textContent = `${point.name}: ${model.get("scene").x} ${formatted(point.x)}, ${model.get("scene").y} ${formatted(point.y)}`;
  });
  sheet.canvas.addEventListener("click", (event) => pick(nearest(event)));
  sheet.canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const ordered = [...places].sort((one, two) => one.x - two.x || one.y - two.y);
    const now = ordered.findIndex(({ k }) => k === model.get("scene").chosen);
    pick(ordered[Math.min(Math.max(now + step, 0), ordered.length - 1)]);
  });
  sheet.saves("points", redraw.now, () => model.get("scene"));
  redraw();
  return keepDrawn(model, caption, redraw);
}

export default { render };
