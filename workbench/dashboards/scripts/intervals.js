// A quantity of two sides at some places of an axis: a dot with its interval each, or lines where there are many places.

const HIGH = 170, TOP = 24, FOOT = 54, NARROW = 12;

function axisOf({ lines, log }) {
  const ends = lines.flatMap(({ mean, high }) => [...mean, ...high]).filter(Number.isFinite);
  const least = Math.min(...lines.flatMap(({ mean, low }) => [...mean, ...low]).filter((value) => value > 0));
  return log ? [10 ** Math.floor(Math.log10(least)), 1.3 * Math.max(...ends)] : [0, 1.15 * Math.max(...ends, 1e-9)];
}

function decades(from, to) {
  const powers = [];
  for (let power = from; power <= to * (1 + 1e-9); power *= 10) powers.push(power);
  return powers.length > 1 ? powers : [from, ...[2, 5, 10].map((k) => k * from).filter((value) => value <= to)];
}

class IntervalPicture {
  constructor(place) { this.sheet = new Sheet(place); }

  draw(scene) {
    this.scene = scene;
    const isTight = scene.names.some((name) => this.sheet.wordsWidth(name) + 6 > (this.sheet.canvas.clientWidth - LEFT - RIGHT) / scene.names.length);
    this.foot = isTight ? 14 : 0; // names that are turned reach further down
    this.sheet.begin(scene.lines.length ? TOP + HIGH + FOOT + this.foot : 0);
    if (!scene.lines.length) return;
    this.drawAxes();
    scene.lines.forEach((line) => this.drawLine(line));
  }

  drawAxes() {
    const { sheet, scene } = this, [from, to] = axisOf(scene), scale = scene.log ? Math.log10 : (value) => value;
    const up = (value) => (scale(value) - scale(from)) / (scale(to) - scale(from));
    sheet.upward(TOP, HIGH, 1, scene.y, []);
    this.y = (value) => TOP + HIGH * (1 - up(Math.max(value, from)));
    for (const value of scene.log ? decades(from, to) : roundNumbers(0, to, 4)) {
      sheet.ink.fillStyle = TONES.grid;
      sheet.ink.fillRect(LEFT, this.y(value) - 0.5, sheet.right - LEFT, 1);
      sheet.words(formatted(value), LEFT - 8, this.y(value), { align: "right" });
    }
    this.x = this.alongAxis();
    sheet.words(scene.title, LEFT, TOP / 2, { bold: true, most: sheet.right - LEFT });
  }

  /** Places are evenly spaced, or as their logarithms; whole numbers are told below, or what the places are called, in two lines where they are close. */
  alongAxis() {
    const { sheet, scene } = this, { doubling, names } = scene, places = scene.lines.flatMap(({ x }) => x);
    const scale = doubling ? Math.log2 : (value) => value, edge = doubling ? 0 : 0.5;
    const from = scale(Math.min(...places)) - edge, to = Math.max(scale(Math.max(...places)) + edge, from + 1e-9);
    const x = (value) => LEFT + ((scale(value) - from) / (to - from)) * (sheet.right - LEFT);
    const most = Math.max(...places), count = Math.max(2, Math.min(10, sheet.wide / 60));
    const shown = doubling ? decadesOfTwo(Math.min(...places), most, count) : roundNumbers(Math.min(...places), most, count, 1);
    const labels = names.length ? names.map((name, k) => [name, k]) : shown.map((value) => [formatted(value), value]);
    sheet.axisLabels(labels, x, TOP + HIGH + 8, names.length > 0);
    sheet.words(scene.x, (LEFT + sheet.right) / 2, TOP + HIGH + 24 + this.foot, { align: "center", base: "top", most: sheet.right - LEFT });
    return x;
  }

  drawLine({ place, x, mean, low, high }) {
    const apart = x.length <= NARROW, shift = apart ? (place - 0.5) * 6 : 0, { ink } = this.sheet;
    ink.strokeStyle = ink.fillStyle = TONES[`series${place}`];
    if (apart) this.drawDots(x, mean, low, high, shift);
    else this.drawBand(x, low, high);
    if (this.scene.names.length) return; // there is nothing between kinds
    ink.lineWidth = apart ? 0.8 : 1.6;
    ink.beginPath();
    x.forEach((value, k) => ink.lineTo(this.x(value) + shift, this.y(mean[k])));
    ink.stroke();
    ink.lineWidth = 1;
  }

  drawDots(x, mean, low, high, shift) {
    const { ink } = this.sheet;
    ink.lineWidth = 1.6;
    x.forEach((value, k) => {
      const at = this.x(value) + shift;
      ink.beginPath();
      ink.arc(at, this.y(mean[k]), 3.4, 0, 2 * Math.PI);
      ink.fill();
      if (low[k] === null) return;
      ink.beginPath();
      ink.moveTo(at, this.y(low[k]));
      ink.lineTo(at, this.y(high[k]));
      ink.stroke();
    });
  }

  drawBand(x, low, high) {
    if (low.includes(null)) return;
    const { ink } = this.sheet;
    ink.globalAlpha = 0.15;
    ink.beginPath();
    x.forEach((value, k) => ink.lineTo(this.x(value), this.y(low[k])));
    [...x.keys()].reverse().forEach((k) => ink.lineTo(this.x(x[k]), this.y(high[k])));
    ink.fill();
    ink.globalAlpha = 1;
  }
}

/** What both sides have at the place nearest to one on the sheet. */
function valuesAt(picture, at) {
  const { scene } = picture;
  if (!scene?.lines.length || at < LEFT || at > picture.sheet.right) return "";
  const nearest = ({ x }) => x.reduce((best, value, k) => (Math.abs(picture.x(value) - at) < Math.abs(picture.x(x[best]) - at) ? k : best), 0);
  const sides = scene.lines.map((line) => {
    const k = nearest(line);
    return `${line.place ? "other" : "baseline"} ${withLimits(line.mean[k], line.low[k], line.high[k])}`;
  });
  const place = scene.lines[0].x[nearest(scene.lines[0])];
  return `${scene.names[place] ?? formatted(place)}: ${sides.join(", ")}`;
}

/** Powers of two between two numbers, at most about so many. */
function decadesOfTwo(from, to, count) {
  const step = Math.max(1, Math.ceil(Math.log2(Math.max(to / from, 2)) / count)), powers = [];
  for (let power = 2 ** Math.ceil(Math.log2(from)); power <= to; power *= 2 ** step) powers.push(power);
  return powers;
}

function render({ model, el }) {
  const caption = el.appendChild(document.createElement("div")), picture = new IntervalPicture(el);
  caption.className = "wb-result";
  const redraw = atNextFrame(() => {
    if (!model.get("drawn")) return; // the page may be there before the first run
    const { words } = model.get("scene");
    caption.textContent = words;
    caption.style.display = words ? "" : "none";
    picture.draw(model.get("scene"));
    picture.sheet.canvas.dataset.drawn = model.get("drawn");
  });
  tellUnderPointer(picture.sheet, (x) => valuesAt(picture, x));
  picture.sheet.saves("intervals", redraw.now, () => model.get("scene"));
  redraw();
  return keepDrawn(model, el, redraw);
}

export default { render };
