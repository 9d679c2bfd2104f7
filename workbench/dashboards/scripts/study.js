// A study: how its best grew trial by trial, which levers matter, and its front as lines over parallel axes.

const HIGH = 120, HEAD = 26, FOOT = 46, ROW = 18, TALL = 170;

function drawHistory(sheet, scene, top) {
  const { ink } = sheet, { values, label } = scene.history, low = Math.min(...values.filter(Number.isFinite));
  const high = Math.max(...values.filter(Number.isFinite)), span = high - low || 1;
  const at = roundNumbers(low, high, 4), y = sheet.upward(top, HIGH, span, label, []);
  for (const value of at) {
    ink.fillStyle = TONES.grid;
    ink.fillRect(LEFT, y(value - low) - 0.5, sheet.right - LEFT, 1);
    sheet.words(formatted(value), LEFT - 8, y(value - low), { align: "right" });
  }
  const x = sheet.along(top + HIGH, [0, Math.max(values.length, scene.history.trials)], "trials", { finest: 1 });
  ink.strokeStyle = TONES.better;
  ink.lineWidth = 2;
  ink.beginPath();
  let begun = false;
  values.forEach((value, k) => {
    if (!Number.isFinite(value)) return;
    if (begun) ink.lineTo(x(k + 1), y(values[k - 1] - low)); else ink.moveTo(x(k + 1), y(value - low));
    ink.lineTo(x(k + 1), y(value - low));
    begun = true;
  });
  ink.stroke();
  ink.lineWidth = 1;
}

function drawShares(sheet, scene, top) {
  const { ink } = sheet, { rows, floor } = scene.shares, left = Math.min(300, 0.45 * sheet.wide), wide = sheet.right - left;
  const most = Math.max(...rows.map((row) => row.share), floor, 1e-9);
  rows.forEach(({ lever, share }, k) => {
    const y = top + k * ROW;
    sheet.words(lever, left - 8, y + ROW / 2, { align: "right", most: left - 16 });
    ink.fillStyle = share > floor ? TONES.better : TONES.quiet;
    ink.fillRect(left, y + 3, Math.max((share / most) * wide, 1), ROW - 6);
    const end = left + (share / most) * wide, fits = end + 44 < sheet.right, words = `${Math.round(100 * share)} %`;
    if (fits) sheet.words(words, end + 6, y + ROW / 2); else sheet.words(words, end - 6, y + ROW / 2, { align: "right", colour: TONES.paper });
  });
  ink.fillStyle = TONES.chosen;
  ink.fillRect(left + (floor / most) * wide - 1, top, 2, rows.length * ROW);
  sheet.words("left of the line: what noise alone reaches", left + 4, top + rows.length * ROW + 8, { colour: TONES.soft, most: wide });
}

function drawParallel(sheet, scene, top) {
  const { ink } = sheet, { axes, names } = scene.parallel, gap = (sheet.wide - 160) / Math.max(axes.length - 1, 1);
  const x = (k) => 80 + k * gap, y = (at) => top + TALL * (1 - at);
  axes.forEach((axis, k) => {
    ink.fillStyle = TONES.quiet;
    ink.fillRect(x(k) - 0.5, top, 1, TALL);
    const [lever, parent] = axis.name.split(".").reverse();
    sheet.words(parent && parent !== "policy" ? parent : "", x(k), top - 38, { align: "center", most: gap - 6 });
    sheet.words(lever, x(k), top - 24, { align: "center", most: gap - 6 });
    sheet.words(axis.ends[1], x(k), top - 9, { align: "center", colour: TONES.soft, most: gap - 6 });
    sheet.words(axis.ends[0], x(k), top + TALL + 9, { align: "center", base: "middle", colour: TONES.soft, most: gap - 6 });
  });
  const places = [];
  const draw = (line) => {
    ink.strokeStyle = line === scene.chosen ? TONES.chosen : TONES.better;
    ink.lineWidth = line === scene.chosen ? 3 : 1;
    ink.beginPath();
    let joined = false;
    axes.forEach((axis, k) => {
      const at = axis.at[line];
      if (at === null) return; // the lever did not matter to this point: its line passes without a dot
      if (joined) ink.lineTo(x(k), y(at)); else ink.moveTo(x(k), y(at));
      joined = true;
    });
    ink.stroke();
    axes.forEach((axis, k) => {
      if (axis.at[line] === null) return;
      ink.beginPath();
      ink.arc(x(k), y(axis.at[line]), line === scene.chosen ? 4 : 2.5, 0, 2 * Math.PI);
      ink.fillStyle = ink.strokeStyle;
      ink.fill();
      places.push({ line, axis: k, at: [x(k), y(axis.at[line])] });
    });
    ink.lineWidth = 1;
  };
  names.forEach((_, line) => { if (line !== scene.chosen) draw(line); });
  if (!(scene.chosen >= 0 && scene.chosen < names.length)) return places;
  draw(scene.chosen);
  axes.forEach((axis, k) => {
    const at = axis.at[scene.chosen], word = axis.words[scene.chosen];
    if (at === null || axis.ends.includes(word)) return;
    sheet.words(word, x(k) + 7, y(at) - 9, { colour: TONES.chosen, most: gap - 10 });
  });
  return places;
}

function drawStudy(sheet, scene) {
  const shares = scene.shares.rows.length ? HEAD + scene.shares.rows.length * ROW + 24 : 0;
  const lines = scene.parallel.names.length ? HEAD + 54 + TALL + 28 : 0;
  const history = scene.history.values.some(Number.isFinite) ? HEAD + HIGH + FOOT : 0;
  sheet.begin(lines + history + shares);
  let top = 0, places = [];
  if (lines) {
    sheet.words("What the points of the front chose, and what came of it", 10, 12, { bold: true, most: sheet.wide - 20 });
    places = drawParallel(sheet, scene, HEAD + 54);
    top += lines;
  }
  if (history) {
    sheet.words(scene.history.title, 10, top + 12, { bold: true, most: sheet.wide - 20 });
    drawHistory(sheet, scene, top + HEAD);
    top += history;
  }
  if (shares) {
    sheet.words(scene.shares.title, 10, top + 12, { bold: true, most: sheet.wide - 20 });
    drawShares(sheet, scene, top + HEAD);
  }
  return places;
}

function render({ model, el }) {
  const caption = el.appendChild(document.createElement("div")), sheet = new Sheet(el);
  caption.className = "wb-says";
  sheet.canvas.tabIndex = 0;
  sheet.canvas.setAttribute("role", "img");
  sheet.canvas.setAttribute("aria-label", "the study: its front over parallel axes, its history, shares of its levers");
  let places = [];
  const described = (line) => {
    const { axes, names } = model.get("scene").parallel;
    const chose = axes.filter((axis) => axis.words[line] !== "").map((axis) => `${axis.name.split(".").at(-1)} ${axis.words[line]}`);
    return `${names[line]}: ${chose.join(", ")}`;
  };
  const redraw = atNextFrame(() => {
    if (!model.get("drawn")) return;
    const scene = model.get("scene");
    places = drawStudy(sheet, scene);
    caption.textContent = scene.parallel.names[scene.chosen] ? `Shown: ${described(scene.chosen)}.` : "";
    sheet.canvas.dataset.drawn = model.get("drawn");
  });
  const nearest = (event) => {
    const box = sheet.canvas.getBoundingClientRect();
    const far = ({ at }) => Math.hypot(at[0] - (event.clientX - box.left), at[1] - (event.clientY - box.top));
    const best = places.reduce((one, two) => (one && far(one) <= far(two) ? one : two), null);
    return best && far(best) <= 12 ? best : null;
  };
  sheet.canvas.addEventListener("mousemove", (event) => {
    const place = nearest(event);
    sheet.canvas.style.cursor = place ? "pointer" : "default";
    if (place) caption.textContent = described(place.line);
  });
  sheet.canvas.addEventListener("click", (event) => {
    const place = nearest(event);
    if (place) model.send({ what: "pick", k: place.line });
  });
  sheet.saves("study", redraw.now, () => model.get("scene"));
  redraw();
  return keepDrawn(model, caption, redraw);
}

export default { render };
