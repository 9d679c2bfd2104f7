// The same picture as a PDF page: an ink that writes down drawing operators. Its letters are Helvetica, which every
// reader of PDF brings along, so that none are embedded; y points down as on a canvas, and only letters are turned back.

const POINTS = 0.75; // a pixel of a screen, in points
const ROUND = 0.5523; // how far the handles of a quarter of a circle reach, in radii

/** Widths of Helvetica's letters from space to tilde, in thousandths of its size (Adobe's metrics). */
const WIDTHS = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556,
  556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
  667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556,
  556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/** What Helvetica has no letter for, in letters that it has. */
const PLAIN = { "\u2212": "-", "\u2013": "-", "\u2014": "-", "\u2026": "...", "\u2264": "<=", "\u2265": ">=", "\u2192": "->", "\u2009": " ", "\u202f": " ", "\u00a0": " ", "\u2018": "'", "\u2019": "'", "\u03bc": "\u00b5" };
const latin = (text) => [...text].map((letter) => PLAIN[letter] ?? (letter.codePointAt(0) < 256 ? letter : "?")).join("");
const short = (...values) => values.map((value) => +Number(value).toFixed(3)).join(" ");

class PdfInk {
  constructor(like) {
    Object.assign(this, { like, parts: [], path: "", fillStyle: TONES.ink, strokeStyle: TONES.ink, lineWidth: 1, globalAlpha: 1 });
    Object.assign(this, { font: like.font, textAlign: "left", textBaseline: "middle", kept: [], dash: [], alphas: new Map() });
  }
  setTransform() {}
  clearRect() {}
  setLineDash(dash) { this.dash = dash; }
  get size() { return Number(/([\d.]+)px/.exec(this.font)?.[1] ?? 12); }
  measureText(text) {
    const width = [...latin(text)].reduce((sum, letter) => sum + (WIDTHS[letter.charCodeAt(0) - 32] ?? 556), 0);
    return { width: (width * this.size) / 1000 };
  }

  /** A colour of the page as red, green and blue from 0 to 1, and how much it covers; the canvas reads its name. */
  colour(name) {
    this.like.fillStyle = name;
    const read = this.like.fillStyle;
    if (read.startsWith("#")) return [...[1, 3, 5].map((at) => parseInt(read.slice(at, at + 2), 16) / 255), 1];
    const [red, green, blue, cover] = read.match(/[\d.]+/g).map(Number);
    return [red / 255, green / 255, blue / 255, cover ?? 1];
  }
  paint(name, operator) {
    const [red, green, blue, cover] = this.colour(name), alpha = short(cover * this.globalAlpha);
    if (!this.alphas.has(alpha)) this.alphas.set(alpha, `A${this.alphas.size}`);
    return `/${this.alphas.get(alpha)} gs ${short(red, green, blue)} ${operator}`;
  }
  get filled() { return this.paint(this.fillStyle, "rg"); }
  get stroked() { return `${this.paint(this.strokeStyle, "RG")} ${short(this.lineWidth)} w [${short(...this.dash)}] 0 d`; }
  fillRect(...at) { this.parts.push(`${this.filled} ${short(...at)} re f`); }
  strokeRect(...at) { this.parts.push(`${this.stroked} ${short(...at)} re S`); }
  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += `${short(x, y)} m `; }
  lineTo(x, y) { this.path += `${short(x, y)} ${this.path ? "l" : "m"} `; }
  closePath() { this.path += "h "; }
  rect(...at) { this.path += `${short(...at)} re `; }
  arc(x, y, r) {
    const k = r * ROUND, curve = (...at) => `${short(...at)} c `;
    this.path += `${short(x + r, y)} m ${curve(x + r, y + k, x + k, y + r, x, y + r)}${curve(x - k, y + r, x - r, y + k, x - r, y)}`;
    this.path += `${curve(x - r, y - k, x - k, y - r, x, y - r)}${curve(x + k, y - r, x + r, y - k, x + r, y)}h `;
  }
  fill() { if (this.path) this.parts.push(`${this.filled} ${this.path}f`); }
  stroke() { if (this.path) this.parts.push(`${this.stroked} ${this.path}S`); }
  clip() { this.parts.push(`${this.path}W n`); }
  translate(x, y) { this.parts.push(`1 0 0 1 ${short(x, y)} cm`); }
  rotate(angle) {
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    this.parts.push(`${short(c, s, -s, c, 0, 0)} cm`);
  }
  save() {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, dash, font, textAlign, textBaseline } = this;
    this.kept.push({ fillStyle, strokeStyle, lineWidth, globalAlpha, dash, font, textAlign, textBaseline });
    this.parts.push("q");
  }
  restore() {
    Object.assign(this, this.kept.pop());
    this.parts.push("Q");
  }

  /** Letters; what is bold has a thin line around it, and so the width of the rest. */
  fillText(text, x, y) {
    const { size } = this, bold = /^(600|bold)/.test(this.font);
    const left = x - this.measureText(text).width * ({ center: 0.5, right: 1 }[this.textAlign] ?? 0);
    const base = y + size * ({ middle: 0.35, top: 0.76 }[this.textBaseline] ?? 0);
    const safe = latin(text).replace(/[\\()]/g, "\\$&"), line = bold ? `${this.paint(this.fillStyle, "RG")} 0.4 w [] 0 d 2 Tr` : "0 Tr";
    this.parts.push(`BT ${this.filled} ${line} /F ${short(size)} Tf 1 0 0 -1 ${short(left, base)} Tm (${safe}) Tj ET`);
  }

  /** The page as bytes. */
  whole(wide, high) {
    const content = `${short(POINTS, 0, 0, -POINTS, 0, POINTS * high)} cm\n${this.parts.join("\n")}\n`;
    const alphas = [...this.alphas].map(([alpha, name]) => `/${name} << /ca ${alpha} /CA ${alpha} >>`).join(" ");
    const font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
    return pdfFile([
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${short(POINTS * wide, POINTS * high)}] /Contents 4 0 R /Resources << /Font << /F ${font} >> /ExtGState << ${alphas} >> >> >>`,
      `<< /Length ${content.length} >>\nstream\n${content}endstream`,
    ]);
  }
}

/** Objects as a file, with the table that says where each begins. */
function pdfFile(objects) {
  let text = "%PDF-1.4\n";
  const begins = objects.map((object, k) => {
    const at = text.length;
    text += `${k + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  const table = text.length, count = objects.length + 1;
  text += `xref\n0 ${count}\n0000000000 65535 f \n${begins.join("")}trailer\n<< /Size ${count} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`;
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}
