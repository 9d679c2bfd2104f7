// Segments as lines of text: address by address, row after row; the blocks in them by size and colour, what is free pale.

const HIGH = 14, GAP = 3, LINE = 18, FOOT = 8;
const UNITS = [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10], ["B", 1]];

function bytesTold(size, digits = 4) {
  const [word, unit] = UNITS.find(([, each]) => size >= each) ?? UNITS.at(-1);
  return `${Number((size / unit).toPrecision(digits)).toLocaleString("en")} ${word}`;
}

function timeTold(us) {
  const [word, unit] = [["s", 1e6], ["ms", 1e3]].find(([, each]) => us >= each) ?? ["µs", 1];
  return `${Number((us / unit).toPrecision(3)).toLocaleString("en")} ${word}`;
}

const columns = (table) => Object.fromEntries(Object.entries(table).map(([name, bytes]) => [name, numbers(bytes)]));

/** The last of rising numbers that is not above a value, -1 = none. */
function lastUpTo(rising, value) {
  let low = 0, high = rising.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle] <= value) low = middle + 1; else high = middle;
  }
  return low - 1;
}

class SegmentMap {
  constructor(place) {
    this.sheet = new Sheet(place);
    Object.assign(this, { scene: null, marked: -1 });
  }

  read(scene) {
    Object.assign(this, { scene, marked: -1, segments: columns(scene.segments), blocks: columns(scene.blocks) });
  }

  top(row) { return this.head + row * (HIGH + GAP); }

  draw() {
    const { sheet, scene } = this;
    const key = [...scene.key.map(([text, fill], k) => [k ? text : `${scene.heading} ${text}`, fill]), ["free", "free"]];
    this.head = sheet.keyRows(key) * LINE + 6;
    sheet.begin(this.head + scene.rows * (HIGH + GAP) + FOOT);
    this.wide = sheet.right - LEFT;
    sheet.drawKey(key, LINE);
    for (let row = 0; row < scene.rows; row += 4) sheet.words(bytesTold(row * scene.row, 3), LEFT - 8, this.top(row) + HIGH / 2, { align: "right" });
    this.drawAll(this.segments, () => TONES.free, 0);
    this.drawAll(this.blocks, (k) => TONES[scene.fills[this.blocks.fill[k]]], 0.5);
    this.drawEdges();
    if (this.marked >= 0) this.pieces(this.blocks.at[this.marked], this.blocks.size[this.marked], (...box) => this.outline(...box));
  }

  /** Give each part of so many bytes that lies in one row: x, y, width. */
  pieces(at, size, give) {
    const { row } = this.scene;
    for (let from = at; from < at + size;) {
      const line = Math.floor(from / row), until = Math.min(at + size, (line + 1) * row);
      give(LEFT + ((from - line * row) / row) * this.wide, this.top(line), ((until - from) / row) * this.wide);
      from = until;
    }
  }

  drawAll({ at, size }, fill, edge) {
    const { ink } = this.sheet;
    for (let k = 0; k < at.length; k++) {
      ink.fillStyle = fill(k);
      this.pieces(at[k], size[k], (x, y, wide) => ink.fillRect(x, y, Math.max(wide - (wide > 3 ? edge : 0), 0.4), HIGH));
    }
  }

  /** Where a segment begins; left out where there are too many to be told apart. */
  drawEdges() {
    const { ink } = this.sheet, { at } = this.segments;
    if (at.length > 40 * this.scene.rows) return;
    ink.fillStyle = TONES.soft;
    for (const place of at) this.pieces(place, 1, (x, y) => ink.fillRect(x - 0.5, y - 1, 1, HIGH + 2));
  }

  outline(x, y, wide) {
    const { ink } = this.sheet;
    for (const [colour, width] of [[TONES.paper, 4], [TONES.ink, 2]]) {
      Object.assign(ink, { strokeStyle: colour, lineWidth: width });
      ink.strokeRect(x, y, Math.max(wide, 1), HIGH);
    }
    ink.lineWidth = 1;
  }

  /** The byte under a place on the sheet, -1 = none. */
  byteAt(x, y) {
    const row = Math.floor((y - this.head) / (HIGH + GAP)), share = (x - LEFT) / this.wide;
    if (row < 0 || row >= this.scene.rows || share < 0 || share >= 1) return -1;
    return (row + share) * this.scene.row;
  }

  /** Which block lies at a byte, -1 = none; of blocks thinner than a pixel the nearest before. */
  blockAt(byte) {
    const { at, size } = this.blocks, k = lastUpTo(at, byte);
    return k >= 0 && byte < at[k] + Math.max(size[k], this.scene.row / this.wide) ? k : -1;
  }

  /** What there is at a byte, in lines. */
  linesAt(byte, stacks) {
    const k = this.blockAt(byte), segment = lastUpTo(this.segments.at, byte);
    const [at, size] = segment < 0 ? [0, -1] : [this.segments.at[segment], this.segments.size[segment]];
    if (k >= 0) return this.linesOf(k, stacks);
    if (byte >= at + size) return ["Not got from the driver then."];
    const after = lastUpTo(this.blocks.at, byte), end = after < 0 ? at : Math.max(at, this.blocks.at[after] + this.blocks.size[after]);
    const until = Math.min(at + size, this.blocks.at[after + 1] ?? Infinity);
    return [`Free: ${bytesTold(until - end)}, in a segment of ${bytesTold(size)}.`];
  }

  linesOf(k, stacks) {
    const { at, size, born, age, stack, awaited } = this.blocks, segment = lastUpTo(this.segments.at, at[k]);
    const state = awaited[k] ? "freed, other streams may still use it" : "in use";
    const events = this.scene.after - born[k];
    const time = age[k] < 0 ? "" : ` (${timeTold(age[k])})`;
    const since = born[k] ? `allocated ${formatted(events)} ${events === 1 ? "event" : "events"}${time} ago` : "older than the history";
    const where = segment < 0 ? "" : `, in a segment of ${bytesTold(this.segments.size[segment])}`;
    const frames = stacks[stack[k]] ?? [];
    return [`Block of ${bytesTold(size[k])}${where}: ${state}, ${since}.`, ...(frames.length ? frames : ["No stack was recorded."])];
  }
}

function render({ model, el }) {
  const picture = new SegmentMap(el), caption = el.appendChild(document.createElement("div")), { canvas } = picture.sheet;
  caption.className = "wb-says wb-stack";
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "map of segments; arrow keys go from block to block");
  const hint = "Rest the pointer on a block to see how large and how old it is and who asked for it; with the keyboard, arrows go from block to block.";
  const write = (lines) => caption.replaceChildren(...lines.map((line) => Object.assign(document.createElement("div"), { textContent: line })));
  const redraw = atNextFrame(() => {
    if (!picture.scene) return;
    picture.draw();
    canvas.dataset.drawn = model.get("drawn");
  });
  const show = () => {
    if (!model.get("drawn")) return;
    picture.read(model.get("scene"));
    write([hint]);
    redraw();
  };
  const mark = (block, lines) => { picture.marked = block; write(lines); redraw(); };
  canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
    if (!picture.scene) return;
    const byte = picture.byteAt(offsetX, offsetY);
    mark(byte < 0 ? -1 : picture.blockAt(byte), byte < 0 ? [hint] : picture.linesAt(byte, model.get("stacks")));
  });
  canvas.addEventListener("pointerleave", () => { if (picture.scene) mark(-1, [hint]); });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], count = picture.scene ? picture.blocks.at.length : 0;
    if (!step || !count) return;
    event.preventDefault();
    const block = Math.min(Math.max(picture.marked + step, 0), count - 1);
    mark(block, picture.linesOf(block, model.get("stacks")));
  });
  picture.sheet.saves("segments", redraw.now, () => model.get("scene"));
  show();
  return keepDrawn(model, caption, redraw, show);
}

export default { render };
