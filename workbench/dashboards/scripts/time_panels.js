// Two runs over one axis of time: who held which rows (a strip a side), and lines below (a panel a quantity).
// What a row and a moment are called and how a place is named, a file of words defines: WHO, MOMENT, timeName(word),
// nameOf(scene, item) and placeWords(scene, strip, pieces).

const LINE = 110, TITLE = 24, KEY = 20, GAP = 14, AXIS = 44;
const COLUMNS = ["item", "begin", "end", "base", "length", "fill"];
const NO_SCENE = { key: [], high: 0, rows: 1 };
const HINT = `Rest the pointer on a ${WHO} to find it on both sides; drag to zoom, double-click to see all.`;

function readStrip(strip) {
  const whole = numbers(strip.pieces), count = whole.length / COLUMNS.length;
  const columns = COLUMNS.map((name, k) => [name, whole.subarray(k * count, (k + 1) * count)]);
  return { message: strip.message, count, ...Object.fromEntries(columns) };
}

function readLine(line) {
  const curves = line.curves.map(({ cycle, value }) => ({ cycle: numbers(cycle), value: numbers(value) }));
  return { label: line.label, curves, most: Math.max(1, ...curves.map(({ value }) => value.reduce((a, b) => Math.max(a, b), 0))) };
}

/** The unit of a long time, and the word for it. */
function unitOfTime(most) {
  return most >= 2e7 ? [1e6, "million "] : most >= 2e5 ? [1e3, "thousand "] : [1, ""];
}

/** The value of a step function at a cycle. */
function valueAt({ cycle, value }, at) {
  let low = 0, high = cycle.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (cycle[middle] <= at) low = middle; else high = middle;
  }
  return value[low];
}

class TimePicture {
  constructor(place) {
    this.sheet = new Sheet(place);
    Object.assign(this, { marked: -1, cursor: null, span: [0, 1], until: 1, scene: NO_SCENE, names: [], strips: [], lines: [] });
  }

  read(scene) {
    this.scene = scene;
    this.names = scene.names;
    this.until = scene.until;
    this.strips = scene.strips.map(readStrip);
    this.lines = scene.lines.map(readLine);
  }

  get head() { return KEY * this.sheet.keyRows(this.scene.key); }

  stripTop(place) { return this.head + place * (TITLE + this.scene.high) + TITLE; }

  lineTop(place) { return this.head + this.strips.length * (TITLE + this.scene.high) + GAP + place * (LINE + GAP); }

  cycle(x) {
    const share = (x - LEFT) / (this.sheet.right - LEFT);
    return this.span[0] + Math.min(Math.max(share, 0), 1) * (this.span[1] - this.span[0]);
  }

  draw(span) {
    this.span = span;
    const bottom = this.lineTop(this.lines.length) - GAP;
    this.sheet.begin(bottom + AXIS);
    const [unit, word] = unitOfTime(span[1]);
    this.x = this.sheet.along(bottom, span, `${timeName(word)}${this.scene.note}`, { finest: 1, unit });
    this.sheet.drawKey(this.scene.key, KEY);
    this.strips.forEach((strip, place) => this.drawStrip(strip, place));
    this.lines.forEach((line, place) => this.drawLine(line, this.lineTop(place)));
    this.drawCursor(bottom);
  }

  drawStrip(strip, place) {
    const { sheet, scene } = this, top = this.stripTop(place);
    const y = sheet.upward(top, scene.high, scene.rows, scene.axis, []);
    for (const [row, text] of scene.ticks) sheet.words(text, LEFT - 8, y(row), { align: "right" });
    this.drawName(place, top - TITLE / 2);
    sheet.within(top, scene.high, () => {
      sheet.ink.fillStyle = TONES.free;
      if (!strip.message) sheet.ink.fillRect(LEFT, top, sheet.right - LEFT, scene.high);
      this.drawPieces(strip, top);
      scene.rules.forEach((row) => { sheet.ink.fillStyle = TONES.quiet; sheet.ink.fillRect(LEFT, y(row) - 0.5, sheet.right - LEFT, 1); });
    });
    sheet.words(strip.message, (LEFT + sheet.right) / 2, top + scene.high / 2, { align: "center", most: sheet.right - LEFT });
  }

  drawName(place, y) {
    const { ink } = this.sheet, most = this.sheet.right - LEFT - 50;
    const wide = this.sheet.words(this.names[place], LEFT, y, { bold: true, most });
    ink.strokeStyle = TONES[`series${place}`];
    ink.lineWidth = 2;
    ink.beginPath();
    ink.moveTo(LEFT + wide + 12, y);
    ink.lineTo(LEFT + wide + 44, y);
    ink.stroke();
    ink.lineWidth = 1;
  }

  drawPieces(strip, top) {
    const { ink } = this.sheet, { high: whole, rows, fills } = this.scene, scale = whole / rows, edge = scale >= 0.5 ? 0.7 : 0;
    for (let k = 0; k < strip.count; k++) {
      const x = this.x(strip.begin[k]), wide = this.x(strip.end[k]) - x;
      if (x + wide < LEFT || x > this.sheet.right) continue;
      const high = strip.length[k] * scale, y = top + whole - strip.base[k] * scale - high;
      ink.fillStyle = TONES[fills[strip.fill[k]]];
      ink.fillRect(x, y, Math.max(wide - (wide > 4 ? 0.7 : 0), 0.5), Math.max(high - (high > 4 ? edge : 0), 0.5));
      if (strip.item[k] === this.marked) this.outline(x, y, wide, high);
    }
  }

  outline(x, y, wide, high) {
    const { ink } = this.sheet;
    ink.strokeStyle = TONES.paper;
    ink.lineWidth = 5;
    ink.strokeRect(x, y, wide, high);
    ink.strokeStyle = TONES.ink;
    ink.lineWidth = 2;
    ink.strokeRect(x, y, wide, high);
    ink.lineWidth = 1;
  }

  drawLine(line, top) {
    const { ink } = this.sheet, y = this.sheet.upward(top, LINE, line.most * 1.05, line.label);
    this.sheet.within(top, LINE, () => line.curves.forEach(({ cycle, value }, place) => {
      Object.assign(ink, { strokeStyle: TONES[`series${place}`], lineWidth: 1.4 });
      ink.beginPath();
      ink.moveTo(this.x(cycle[0]), y(value[0]));
      for (let k = 1; k < cycle.length; k++) {
        ink.lineTo(this.x(cycle[k]), y(value[k - 1]));
        ink.lineTo(this.x(cycle[k]), y(value[k]));
      }
      ink.stroke();
      ink.lineWidth = 1;
    }));
  }

  drawCursor(bottom) {
    if (this.cursor === null) return;
    this.sheet.ink.fillStyle = TONES.quiet;
    this.sheet.ink.fillRect(this.x(this.cursor) - 0.5, TITLE, 1, bottom - TITLE);
  }

  /** Who lies under a place on the sheet, -1 where nobody does. */
  find(x, y) {
    const { high, rows } = this.scene;
    const place = this.strips.findIndex((_, k) => y >= this.stripTop(k) && y < this.stripTop(k) + high);
    if (place < 0) return -1;
    const strip = this.strips[place], cycle = this.cycle(x), row = rows * (1 - (y - this.stripTop(place)) / high);
    for (let k = 0; k < strip.count; k++) {
      const level = row >= strip.base[k] && row < strip.base[k] + strip.length[k];
      if (level && cycle >= strip.begin[k] && cycle < strip.end[k]) return strip.item[k];
    }
    return -1;
  }

  cursorText() {
    const values = this.lines.map(({ label, curves }) => `${label} ${curves.map((c) => formatted(valueAt(c, this.cursor))).join(" and ")}`);
    return `${MOMENT[0].toUpperCase()}${MOMENT.slice(1)} ${formatted(Math.floor(this.cursor))}: ${values.join("; ")}.`;
  }

  markedText() {
    const places = this.strips.map((strip, place) => {
      const pieces = [...strip.item.keys()].filter((k) => strip.item[k] === this.marked);
      if (!pieces.length) return `not shown under ${this.names[place]}`;
      const span = `${MOMENT}s ${formatted(strip.begin[pieces[0]])} to ${formatted(Math.max(...pieces.map((k) => strip.end[k])))}`;
      return `${placeWords(this.scene, strip, pieces)}, ${span} under ${this.names[place]}`;
    });
    return `${nameOf(this.scene, this.marked)}: ${places.join("; ")}.`;
  }
}

function followPointer(picture, caption, redraw, zoom) {
  const { canvas } = picture.sheet;
  let from = null;
  const point = (cursor, marked) => {
    Object.assign(picture, { cursor, marked });
    caption.textContent = cursor === null || !picture.lines.length ? HINT : [picture.cursorText(), marked < 0 ? "" : picture.markedText()].join(" ");
    redraw();
  };
  canvas.addEventListener("pointerdown", (event) => { from = event.offsetX; });
  canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => point(picture.cycle(offsetX), picture.find(offsetX, offsetY)));
  canvas.addEventListener("pointerleave", () => { from = null; point(null, -1); });
  canvas.addEventListener("dblclick", () => zoom([0, picture.until]));
  canvas.addEventListener("pointerup", ({ offsetX }) => {
    const ends = [picture.cycle(from ?? offsetX), picture.cycle(offsetX)].map(Math.round).sort((a, b) => a - b);
    if (Math.abs(offsetX - (from ?? offsetX)) > 8 && ends[1] > ends[0]) zoom(ends);
    from = null;
  });
  point(null, -1);
}

function render({ model, el }) {
  const picture = new TimePicture(el), caption = el.appendChild(document.createElement("div"));
  caption.className = "wb-says";
  let span = null;
  const redraw = atNextFrame(() => {
    if (span === null) return; // the page may be there before the first run
    picture.draw(span);
    picture.sheet.canvas.dataset.drawn = model.get("drawn");
  });
  const show = () => {
    if (!model.get("drawn")) return;
    picture.read(model.get("scene"));
    span = [0, picture.until];
    redraw();
  };
  picture.sheet.saves("over_time", redraw.now, () => model.get("scene"));
  show();
  followPointer(picture, caption, redraw, (wanted) => { span = wanted; redraw(); });
  return keepDrawn(model, caption, redraw, show);
}

export default { render };
