// What every panel on a canvas needs: a sharp sheet as wide as its place, round numbers on axes, words.

const INK = "#222222", QUIET = "#767676", PALE = "#e4e4e4";
const LEFT = 84, RIGHT = 30;

const told = (number) => number.toLocaleString("en", { maximumFractionDigits: 3 });

/** The numbers of a column that came as bytes; a copy, as bytes may lie unaligned in a message. */
function numbers({ buffer, byteOffset, byteLength }) {
  return new Float64Array(buffer.slice(byteOffset, byteOffset + byteLength));
}

/** Multiples of 1, 2 or 5 times a power of ten from one number to another, about so many, no finer than `finest`. */
function roundNumbers(from, to, count, finest = 0) {
  const rough = Math.max((to - from) / count, finest, 1e-12), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((candidate) => candidate >= rough * (1 - 1e-9));
  const found = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; k++) found.push(k * step + 0); // -0 would be written as such
  return found;
}

/** Calls a function at the browser's next frame, once however often it is asked for. */
function atNextFrame(action) {
  let waiting = 0;
  const ask = () => { waiting = waiting || requestAnimationFrame(() => { waiting = 0; action(); }); };
  ask.cancel = () => cancelAnimationFrame(waiting);
  return ask;
}

class Sheet {
  constructor(place) {
    this.canvas = place.appendChild(document.createElement("canvas"));
    this.canvas.className = "wb-canvas";
    this.ink = this.canvas.getContext("2d");
  }

  /** Clear the sheet and give it a height; its width is that of its place. */
  begin(high) {
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
  words(text, x, y, { align = "left", base = "middle", bold = false, colour = INK, most = Infinity } = {}) {
    const { ink } = this;
    ink.font = `${bold ? "600 13px" : "12px"} system-ui, "DejaVu Sans", sans-serif`;
    Object.assign(ink, { textAlign: align, textBaseline: base, fillStyle: colour });
    while (text.length > 4 && ink.measureText(text).width > most) text = `${text.slice(0, -4).trimEnd()}...`;
    ink.fillText(text, x, y);
    return ink.measureText(text).width;
  }

  /** The left side of a panel: its frame, its round numbers, what they count; returns where a value lies. */
  upward(top, high, most, label, at = roundNumbers(0, most, 4, 1)) {
    const { ink } = this, y = (value) => top + high * (1 - value / most);
    for (const value of at) {
      ink.fillStyle = PALE;
      ink.fillRect(LEFT, y(value) - 0.5, this.right - LEFT, 1);
      this.words(told(value), LEFT - 8, y(value), { align: "right" });
    }
    ink.strokeStyle = QUIET;
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
    for (const value of roundNumbers(from, to, Math.max(2, this.wide / 120), finest)) {
      this.ink.fillStyle = QUIET;
      this.ink.fillRect(x(value) - 0.5, bottom, 1, 5);
      this.words(told(value / unit), x(value), bottom + 8, { align: "center", base: "top" });
    }
    this.words(label, (LEFT + this.right) / 2, bottom + 24, { align: "center", base: "top", most: this.right - LEFT });
    return x;
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
