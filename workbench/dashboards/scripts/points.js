// Points by two measures; a click, or an arrow key, chooses one.

const HIGH = 190, TOP = 8, FOOT = 46, NEAR = 14;

function ends(values) {
  const low = Math.min(...values), high = Math.max(...values), room = 0.08 * (high - low || Math.abs(high) || 1);
  return [low - room, high + room];
}

function drawPoints(sheet, scene) {
  sheet.begin(TOP + HIGH + FOOT);
  const pale = scene.pale ?? [];
  const [low, high] = ends([...scene.points.map((point) => point.y), ...pale.map((place) => place[1])]);
  const y = sheet.upward(TOP, HIGH, high - low, scene.y, []);
  for (const value of roundNumbers(low, high, 4)) sheet.words(formatted(value), LEFT - 8, y(value - low), { align: "right" });
  const x = sheet.along(TOP + HIGH, ends([...scene.points.map((point) => point.x), ...pale.map((place) => place[0])]), scene.x);
  for (const [across, up] of pale) {
    sheet.ink.beginPath();
    sheet.ink.arc(x(across), y(up - low), 2, 0, 2 * Math.PI);
    sheet.ink.fillStyle = TONES.quiet;
    sheet.ink.fill();
  }
  const places = scene.points.map((point) => ({ ...point, at: [x(point.x), y(point.y - low)] }));
  const onTop = [...places].sort((one, two) => (one.k === scene.chosen) - (two.k === scene.chosen));
  for (const { k, at } of onTop) {
    sheet.ink.beginPath();
    sheet.ink.arc(...at, k === scene.chosen ? 6 : 5, 0, 2 * Math.PI);
    sheet.ink.fillStyle = k === scene.chosen ? TONES.chosen : TONES.paper;
    sheet.ink.strokeStyle = k === scene.chosen ? TONES.chosen : TONES.ink;
    sheet.ink.lineWidth = 1.5;
    sheet.ink.fill();
    sheet.ink.stroke();
  }
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
