// What every panel on a canvas needs: a sharp sheet as wide as its place, round numbers on axes, words.

// PALETTES, the colors by name of workbench/palette.py, stands in front of this.

const DARK_SYSTEM = matchMedia("(prefers-color-scheme: dark)");
/** Whether the page is dark: a page of its own as the system is, a notebook as its JupyterLab is. */
const isDark = () => (document.querySelector(".wb-page") ? DARK_SYSTEM.matches : document.body.dataset.jpThemeLight === "false");
/** The colors of the picture that is drawn at this moment, by name. */
let TONES = PALETTES.light;

const LEFT = 84, RIGHT = 30, SLANTED = 74, FONT = '12px system-ui, "DejaVu Sans", sans-serif';

const formatted = (number) => number.toLocaleString("en", { maximumFractionDigits: 3 });

/** The numbers of a column that came as bytes; a copy, as bytes may lie unaligned in a message. */
function numbers({ buffer, byteOffset, byteLength }) {
  return new Float64Array(buffer.slice(byteOffset, byteOffset + byteLength));
}

/** Multiples of 1, 2 or 5 times a power of ten from one number to another, about so many, no finer than `finest`. */
function roundNumbers(from, to, count, finest = 0) {
  const rough = Math.max((to - from) / count, finest, 1e-12), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((candidate) => candidate >= rough * (1 - 1e-9));
  const values = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; k++) values.push(k * step + 0); // -0 would be written as such
  return values;
}

/** Calls a function at the browser's next frame, once however often it is asked for. */
function atNextFrame(action) {
  let waiting = 0;
  const ask = () => { waiting = waiting || requestAnimationFrame(() => { waiting = 0; action(); }); };
  ask.cancel = () => { cancelAnimationFrame(waiting); waiting = 0; }; // else it would wait for that frame for ever
  ask.now = action;
  return ask;
}

/** Draws whenever a model has drawn something new or an element has another size; returns what ends that. */
function keepDrawn(model, element, redraw, show = redraw) {
  model.on("change:drawn", show);
  const watch = new ResizeObserver(redraw), theme = new MutationObserver(redraw);
  watch.observe(element);
  theme.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  DARK_SYSTEM.addEventListener("change", redraw);
  return () => {
    watch.disconnect();
    theme.disconnect();
    DARK_SYSTEM.removeEventListener("change", redraw);
    redraw.cancel();
    model.off("change:drawn", show);
  };
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** What a scene holds as a table: what it is called, its place in its list, its value. */
function asCsv(scene) {
  const rows = ["name,place,value"];
  const quoted = (value) => (typeof value === "number" ? value : `"${String(value ?? "").replaceAll('"', '""')}"`);
  const put = (name, value) => {
    if (value instanceof DataView) return numbers(value).forEach((one, k) => rows.push(`${name},${k},${one}`));
    if (Array.isArray(value) && value.every((one) => one === null || typeof one !== "object"))
      return value.forEach((one, k) => rows.push(`${name},${k},${quoted(one)}`));
    if (value !== null && typeof value === "object")
      return Object.entries(value).forEach(([key, inner]) => put(name ? `${name}.${key}` : key, inner));
    rows.push(`${name},0,${quoted(value)}`);
  };
  put("", scene);
  return `${rows.join("\n")}\n`;
}

/** An ink that draws nothing and writes down what it is told, as SVG; it knows what the panels use. */
class SvgInk {
  constructor(like) {
    Object.assign(this, { like, parts: [], path: "", open: 0, fillStyle: TONES.ink, strokeStyle: TONES.ink, lineWidth: 1, globalAlpha: 1 });
    Object.assign(this, { font: like.font, textAlign: "left", textBaseline: "middle", kept: [], dash: "", clips: 0 });
  }
  setTransform() {}
  measureText(text) { this.like.font = this.font; return this.like.measureText(text); }
  put(shape, paint) { this.parts.push(`<${shape} ${paint} opacity="${this.globalAlpha}"/>`); }
  get filled() { return `fill="${this.fillStyle}"`; }
  get stroked() { return `fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"${this.dash}`; }
  setLineDash(dash) { this.dash = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""; }
  box(x, y, wide, high) { return `rect x="${Math.min(x, x + wide)}" y="${Math.min(y, y + high)}" width="${Math.abs(wide)}" height="${Math.abs(high)}"`; }
  fillRect(...at) { this.put(this.box(...at), this.filled); }
  strokeRect(...at) { this.put(this.box(...at), this.stroked); }
  clearRect() {}
  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += `M${x} ${y}`; }
  lineTo(x, y) { this.path += `${this.path ? "L" : "M"}${x} ${y}`; }
  closePath() { this.path += "Z"; }
  rect(x, y, wide, high) { this.path += `M${x} ${y}h${wide}v${high}h${-wide}Z`; }
  arc(x, y, r) { this.path += `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`; }
  fill() { this.put(`path d="${this.path}"`, this.filled); }
  stroke() { this.put(`path d="${this.path}"`, this.stroked); }
  group(attributes) { this.parts.push(`<g ${attributes}>`); this.open += 1; }
  translate(x, y) { this.group(`transform="translate(${x} ${y})"`); }
  rotate(angle) { this.group(`transform="rotate(${(180 * angle) / Math.PI})"`); }
  clip() {
    const name = `clip${Math.random().toString(36).slice(2)}`;
    this.parts.push(`<clipPath id="${name}"><path d="${this.path}"/></clipPath>`);
    this.group(`clip-path="url(#${name})"`);
  }
  save() { const { fillStyle, strokeStyle, lineWidth, globalAlpha, dash, open } = this; this.kept.push({ fillStyle, strokeStyle, lineWidth, globalAlpha, dash, open }); }
  restore() {
    const { open, ...before } = this.kept.pop();
    for (; this.open > open; this.open -= 1) this.parts.push("</g>");
    Object.assign(this, before);
  }
  fillText(text, x, y) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const [base, size] = [{ middle: "central", top: "hanging" }[this.textBaseline] ?? "auto", /([\d.]+)px/.exec(this.font)?.[1] ?? 12];
    const safe = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    const bold = /^(600|bold)/.test(this.font) ? ' font-weight="600"' : "";
    this.parts.push(`<text x="${x}" y="${y}" text-anchor="${anchor}" dominant-baseline="${base}" font-size="${size}"${bold} ${this.filled}>${safe}</text>`);
  }
  whole(wide, high) {
    const frame = `xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" font-family="DejaVu Sans, sans-serif"`;
    return `<svg ${frame}><rect width="100%" height="100%" fill="${PALETTES.light.paper}"/>${this.parts.join("")}${"</g>".repeat(this.open)}</svg>`;
  }
}

class Sheet {
  constructor(place) {
    this.canvas = place.appendChild(document.createElement("canvas"));
    this.canvas.className = "wb-canvas";
    this.ink = this.canvas.getContext("2d");
  }

  /** Let the picture be saved: `redraw` draws it at once, `scene` gives what is drawn. */
  saves(name, redraw, scene) {
    const place = document.createElement("div");
    place.className = "wb-saves";
    const offers = {
      PNG: () => this.canvas.toBlob((blob) => download(blob, `${name}.png`)),
      SVG: () => download(new Blob([this.written(redraw, new SvgInk(this.ink))], { type: "image/svg+xml" }), `${name}.svg`),
      PDF: () => download(new Blob([this.written(redraw, new PdfInk(this.ink))], { type: "application/pdf" }), `${name}.pdf`),
      CSV: () => download(new Blob([asCsv(scene())], { type: "text/csv" }), `${name}.csv`),
    };
    for (const [words, action] of Object.entries(offers)) {
      const button = place.appendChild(document.createElement("button"));
      button.textContent = words;
      button.title = `save this picture as ${words}`;
      button.addEventListener("click", action);
    }
    this.canvas.before(place);
  }

  /** The picture as SVG or PDF, on light paper: drawn once more, with an ink that writes down what is drawn. */
  written(redraw, written) {
    const { ink } = this;
    Object.assign(this, { ink: written, onLightPaper: true });
    try { redraw(); } finally { Object.assign(this, { ink, onLightPaper: false }); }
    const high = this.canvas.clientHeight;
    redraw();
    return written.whole(this.wide, high);
  }

  /** Clear the sheet and give it a height; its width is that of its place. */
  begin(high) {
    TONES = PALETTES[isDark() && !this.onLightPaper ? "dark" : "light"];
    const sharp = window.devicePixelRatio || 1;
    this.canvas.style.height = `${high}px`;
    this.wide = this.canvas.clientWidth;
    this.canvas.width = Math.round(this.wide * sharp);
    this.canvas.height = Math.round(high * sharp);
    this.ink.setTransform(sharp, 0, 0, sharp, 0, 0);
    this.ink.lineWidth = 1;
    this.right = this.wide - RIGHT;
  }

  /** Write something, cut to a width if it is longer; returns how wide it is. */
  words(text, x, y, { align = "left", base = "middle", bold = false, colour = TONES.ink, most = Infinity } = {}) {
    const { ink } = this;
    ink.font = bold ? FONT.replace("12px", "600 13px") : FONT;
    Object.assign(ink, { textAlign: align, textBaseline: base, fillStyle: colour });
    while (text.length > 4 && ink.measureText(text).width > most) text = `${text.slice(0, -4).trimEnd()}...`;
    ink.fillText(text, x, y);
    return ink.measureText(text).width;
  }

  /** The left side of a panel: its frame, its round numbers, what they count; returns where a value lies. */
  upward(top, high, most, label, at = roundNumbers(0, most, 4, 1)) {
    const { ink } = this, y = (value) => top + high * (1 - value / most);
    for (const value of at) {
      ink.fillStyle = TONES.grid;
      ink.fillRect(LEFT, y(value) - 0.5, this.right - LEFT, 1);
      this.words(formatted(value), LEFT - 8, y(value), { align: "right" });
    }
    ink.strokeStyle = TONES.quiet;
    ink.strokeRect(LEFT - 0.5, top - 0.5, this.right - LEFT + 1, high + 1);
    ink.save();
    ink.translate(11, top + high / 2);
    ink.rotate(-Math.PI / 2);
    this.words(label, 0, 0, { align: "center" });
    ink.restore();
    return y;
  }

  /** The lower side: round numbers between two ends, told in a unit, and what they are; returns where a value lies. */
  along(bottom, [from, to], label, { finest = 0, unit = 1 } = {}) {
    const x = (value) => LEFT + ((value - from) / (to - from)) * (this.right - LEFT);
    const values = roundNumbers(from, to, Math.max(2, this.wide / 120), finest);
    for (const value of values) {
      this.ink.fillStyle = TONES.quiet;
      this.ink.fillRect(x(value) - 0.5, bottom, 1, 5);
    }
    this.axisLabels(values.map((value) => [formatted(value / unit), value]), x, bottom + 8, false);
    this.words(label, (LEFT + this.right) / 2, bottom + 24, { align: "center", base: "top", most: this.right - LEFT });
    return x;
  }

  /** Fill an area and draw slanting lines across it, as a printed figure does. */
  hatched(x, y, wide, high) {
    const { ink } = this;
    ink.fillRect(x, y, wide, high);
    ink.save();
    ink.beginPath();
    ink.rect(x, y, wide, high);
    ink.clip();
    Object.assign(ink, { strokeStyle: TONES.paper, lineWidth: 1 });
    ink.beginPath();
    for (let from = x - high; from < x + wide; from += 6) {
      ink.moveTo(from, y + high);
      ink.lineTo(from + high, y);
    }
    ink.stroke();
    ink.restore();
  }

  /** What the fills mean, in as many rows as the width needs, [text, color's name] each; returns how high they are. */
  drawKey(entries, high) {
    let x = LEFT, y = high / 2;
    for (const [text, fill] of entries) {
      if (x > LEFT && x + 16 + this.wordsWidth(text) > this.right) [x, y] = [LEFT, y + high];
      this.ink.fillStyle = TONES[fill];
      this.ink.fillRect(x, y - 6, 12, 12);
      this.ink.strokeStyle = TONES.quiet; // a pale ground would be lost on the paper
      this.ink.strokeRect(x + 0.5, y - 5.5, 11, 11);
      x += 16 + this.words(text, x + 16, y) + 14;
    }
    return y + high / 2;
  }

  wordsWidth(text) {
    this.ink.font = FONT;
    return this.ink.measureText(text).width;
  }

  /** How many rows such a key takes. */
  keyRows(entries) {
    let x = LEFT, rows = entries.length ? 1 : 0;
    for (const [text] of entries) {
      const wide = 16 + this.wordsWidth(text);
      if (x > LEFT && x + wide > this.canvas.clientWidth - RIGHT) [x, rows] = [LEFT, rows + 1];
      x += wide + 14;
    }
    return rows;
  }

  /** Write the labels of an axis, [text, place] each: names that would collide are turned, of numbers some are left out. */
  axisLabels(labels, x, y, areNames) {
    const gap = 6, wide = labels.map(([text]) => this.wordsWidth(text)), places = labels.map(([, place]) => x(place));
    const collides = (step) => places.some((at, k) => k >= step && k % step === 0 && Math.abs(at - places[k - step]) < (wide[k] + wide[k - step]) / 2 + gap);
    if (areNames && collides(1)) return labels.forEach(([text], k) => this.slantedWords(text, places[k], y));
    let step = 1;
    while (step < labels.length && collides(step)) step += 1;
    labels.forEach(([text], k) => { if (k % step === 0) this.words(text, places[k], y, { align: "center", base: "top" }); });
  }

  /** Write something that ends at a place and rises to it, as far as there is room below. */
  slantedWords(text, x, y) {
    this.ink.save();
    this.ink.translate(x + 4, y + 2);
    this.ink.rotate(-Math.PI / 7);
    this.words(text, 0, 0, { align: "right", base: "top", most: SLANTED });
    this.ink.restore();
  }

  /** Draw with everything outside of a panel cut off. */
  within(top, high, action) {
    this.ink.save();
    this.ink.beginPath();
    this.ink.rect(LEFT, top, this.right - LEFT, high);
    this.ink.clip();
    action();
    this.ink.restore();
  }
}
