// Two runs over one axis of time: who held which segments (a strip a policy), and lines below (a panel a quantity).

const STRIP = 140, LINE = 110, TITLE = 24, GAP = 14, AXIS = 44;
const FILLS = ["#56b4e9", "#0072b2", "#f2d16b", "#c8501e", "#23394a", "#8fbf7f", "#b8a1c9"];
const COLOURS = ["#222222", "#e8590c"];
const COLUMNS = ["workgroup", "begin", "end", "base", "length"];
const HINT = "Rest the pointer on a workgroup to find it under both policies; drag to zoom in time, double-click to see all.";

function readStrip(strip) {
  const whole = numbers(strip.pieces), count = whole.length / COLUMNS.length;
  const columns = COLUMNS.map((name, k) => [name, whole.subarray(k * count, (k + 1) * count)]);
  return { says: strip.says, count, ...Object.fromEntries(columns) };
}

function readLine(line) {
  const curves = line.curves.map(({ cycle, value }) => ({ cycle: numbers(cycle), value: numbers(value) }));
  return { label: line.label, curves, most: Math.max(1, ...curves.map(({ value }) => value.reduce((a, b) => Math.max(a, b), 0))) };
}

/** In what a long time is told, and the word for it. */
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
    Object.assign(this, { marked: -1, cursor: null, span: [0, 1], until: 1, names: [], strips: [], lines: [] });
  }

  read(scene) {
    this.names = scene.names;
    this.segments = scene.segments;
    this.until = scene.until;
    this.note = scene.note;
    this.strips = scene.strips.map(readStrip);
    this.lines = scene.lines.map(readLine);
  }

  stripTop(place) { return place * (TITLE + STRIP) + TITLE; }

  lineTop(place) { return this.strips.length * (TITLE + STRIP) + GAP + place * (LINE + GAP); }

  cycle(x) {
    const share = (x - LEFT) / (this.sheet.right - LEFT);
    return this.span[0] + Math.min(Math.max(share, 0), 1) * (this.span[1] - this.span[0]);
  }

  draw(span) {
    this.span = span;
    const bottom = this.lineTop(this.lines.length) - GAP;
    this.sheet.begin(bottom + AXIS);
    const [unit, word] = unitOfTime(span[1]);
    this.x = this.sheet.along(bottom, span, `time (${word}cycles)${this.note}`, { finest: 1, unit });
    this.strips.forEach((strip, place) => this.drawStrip(strip, place));
    this.lines.forEach((line, place) => this.drawLine(line, this.lineTop(place)));
    this.drawCursor(bottom);
  }

  drawStrip(strip, place) {
    const { sheet } = this, top = this.stripTop(place), middle = Math.round(this.segments / 2);
    sheet.upward(top, STRIP, this.segments, "segment", [0, middle, this.segments]);
    this.drawName(place, top - TITLE / 2);
    sheet.within(top, STRIP, () => this.drawPieces(strip, top));
    sheet.words(strip.says, (LEFT + sheet.right) / 2, top + STRIP / 2, { align: "center" });
  }

  drawName(place, y) {
    const { ink } = this.sheet, wide = this.sheet.words(this.names[place], LEFT, y, { bold: true });
    ink.strokeStyle = COLOURS[place];
    ink.lineWidth = 2;
    ink.beginPath();
    ink.moveTo(LEFT + wide + 12, y);
    ink.lineTo(LEFT + wide + 44, y);
    ink.stroke();
    ink.lineWidth = 1;
  }

  drawPieces(strip, top) {
    const { ink } = this.sheet, scale = STRIP / this.segments, edge = scale >= 0.5 ? 0.7 : 0;
    for (let k = 0; k < strip.count; k++) {
      const x = this.x(strip.begin[k]), wide = this.x(strip.end[k]) - x;
      if (x + wide < LEFT || x > this.sheet.right) continue;
      const high = strip.length[k] * scale, y = top + STRIP - strip.base[k] * scale - high;
      ink.fillStyle = FILLS[strip.workgroup[k] % FILLS.length];
      ink.fillRect(x, y, Math.max(wide - (wide > 4 ? 0.7 : 0), 0.5), Math.max(high - (high > 4 ? edge : 0), 0.5));
      if (strip.workgroup[k] === this.marked) this.outline(x, y, wide, high);
    }
  }

  outline(x, y, wide, high) {
    const { ink } = this.sheet;
    ink.strokeStyle = "#ffffff";
    ink.lineWidth = 5;
    ink.strokeRect(x, y, wide, high);
    ink.strokeStyle = INK;
    ink.lineWidth = 2;
    ink.strokeRect(x, y, wide, high);
    ink.lineWidth = 1;
  }

  drawLine(line, top) {
    const { ink } = this.sheet, y = this.sheet.upward(top, LINE, line.most * 1.05, line.label);
    this.sheet.within(top, LINE, () => line.curves.forEach(({ cycle, value }, place) => {
      Object.assign(ink, { strokeStyle: COLOURS[place], lineWidth: 1.4 });
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
    this.sheet.ink.fillStyle = QUIET;
    this.sheet.ink.fillRect(this.x(this.cursor) - 0.5, TITLE, 1, bottom - TITLE);
  }

  /** The workgroup under a place on the sheet, -1 where there is none. */
  find(x, y) {
    const place = this.strips.findIndex((_, k) => y >= this.stripTop(k) && y < this.stripTop(k) + STRIP);
    if (place < 0) return -1;
    const strip = this.strips[place], cycle = this.cycle(x);
    const segment = this.segments * (1 - (y - this.stripTop(place)) / STRIP);
    for (let k = 0; k < strip.count; k++) {
      const level = segment >= strip.base[k] && segment < strip.base[k] + strip.length[k];
      if (level && cycle >= strip.begin[k] && cycle < strip.end[k]) return strip.workgroup[k];
    }
    return -1;
  }

  saysCursor() {
    const values = this.lines.map(({ label, curves }) => `${label} ${curves.map((c) => told(valueAt(c, this.cursor))).join(" and ")}`);
    return `Cycle ${told(Math.floor(this.cursor))}: ${values.join("; ")}.`;
  }

  saysMarked() {
    const places = this.strips.map((strip, place) => {
      const k = strip.workgroup.indexOf(this.marked);
      if (k < 0) return `not shown under ${this.names[place]}`;
      const segments = `segments ${told(strip.base[k])} to ${told(strip.base[k] + strip.length[k] - 1)}`;
      return `${segments}, cycles ${told(strip.begin[k])} to ${told(strip.end[k])} under ${this.names[place]}`;
    });
    return `Workgroup ${told(this.marked)}: ${places.join("; ")}.`;
  }
}

function followPointer(picture, says, redraw, zoom) {
  const { canvas } = picture.sheet;
  let from = null;
  const point = (cursor, marked) => {
    Object.assign(picture, { cursor, marked });
    says.textContent = cursor === null || !picture.lines.length ? HINT : [picture.saysCursor(), marked < 0 ? "" : picture.saysMarked()].join(" ");
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
  const says = el.appendChild(document.createElement("div"));
  says.className = "wb-says";
  const picture = new TimePicture(el);
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
  show();
  followPointer(picture, says, redraw, (wanted) => { span = wanted; redraw(); });
  model.on("change:drawn", show);
  const watch = new ResizeObserver(redraw);
  watch.observe(says);
  return () => {
    watch.disconnect();
    redraw.cancel();
    model.off("change:drawn", show);
  };
}

export default { render };
