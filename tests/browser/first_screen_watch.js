// Writes down what canvases draw. A canvas that gets its width is empty: what was written down of it is forgotten.
for (const [name, kind] of [["fillText", "text"], ["fillRect", "mark"], ["stroke", "mark"], ["fill", "mark"]]) {
  const drawn = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...at) {
    const marks = (this.canvas.marks ??= []), { a, b, c, d, e, f } = this.getTransform(), sharp = window.devicePixelRatio;
    const color = name === "stroke" ? this.strokeStyle : this.fillStyle;
    if (kind === "mark") {
      const thin = name === "fillRect" ? Math.min(Math.abs(at[2]), Math.abs(at[3])) <= 1 : this.lineWidth <= 1 && name === "stroke";
      if (!thin && this.globalAlpha === 1 && typeof color === "string") marks.push({ kind, color });
    } else {
      const wide = this.measureText(at[0]).width, high = parseFloat(/([\d.]+)px/.exec(this.font)[1]);
      const left = at[1] - { left: 0, center: wide / 2, right: wide }[this.textAlign], top = at[2] - (this.textBaseline === "top" ? 0 : high / 2);
      const corners = [[left, top], [left + wide, top + high]].map(([x, y]) => [(a * x + c * y + e) / sharp, (b * x + d * y + f) / sharp]);
      const [xs, ys] = [0, 1].map((k) => corners.map((corner) => corner[k]));
      marks.push({ kind, color, text: at[0], corners, angle: Math.atan2(b, a), box: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] });
    }
    return drawn.apply(this, at);
  };
}
const width = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, "width");
Object.defineProperty(HTMLCanvasElement.prototype, "width", {
  ...width,
  set(value) { this.marks = []; width.set.call(this, value); },
});
