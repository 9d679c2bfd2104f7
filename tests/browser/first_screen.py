"""What a reader sees of a page at first: is every text and every mark strong enough, and does none lie on another?

Texts of canvases are written down as they are drawn, by a script that goes into the page before its own.
"""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from workbench.palette import DARK, LIGHT

SIZES = ((1440, 900), (1024, 768))
SCHEMES = ("light", "dark")
TEXT, MARK = 4.5, 3.0
"""Contrasts that WCAG 2.2 asks for (1.4.3 and 1.4.11)."""
GROUNDS = [color for palette in (LIGHT, DARK) for color in (palette.paper, palette.raised, palette.free, palette.grid)]
"""What marks lie on, and lines that only help the eye."""

WATCH = """
for (const [name, kind] of [["fillText", "text"], ["fillRect", "mark"], ["stroke", "mark"], ["fill", "mark"]]) {
  const drawn = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...at) {
    const marks = (this.canvas.marks ??= []), { a, b, c, d, e, f } = this.getTransform(), sharp = window.devicePixelRatio;
    const color = name === "stroke" ? this.strokeStyle : this.fillStyle;
    if (kind === "mark") {
      const thin = name === "fillRect" ? Math.min(Math.abs(at[2]), Math.abs(at[3])) <= 1 : this.lineWidth <= 1 && name === "stroke";
      if (!thin && this.globalAlpha === 1 && typeof color === "string") marks.push({ kind, color });
    } else {
      const wide = this.measureText(at[0]).width, high = parseFloat(/([\\d.]+)px/.exec(this.font)[1]);
      const left = at[1] - { left: 0, center: wide / 2, right: wide }[this.textAlign], top = at[2] - (this.textBaseline === "top" ? 0 : high / 2);
      const corners = [[left, top], [left + wide, top + high]].map(([x, y]) => [(a * x + c * y + e) / sharp, (b * x + d * y + f) / sharp]);
      const [xs, ys] = [0, 1].map((k) => corners.map((corner) => corner[k]));
      marks.push({ kind, color, text: at[0], box: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] });
    }
    return drawn.apply(this, at);
  };
}
const width = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, "width");
Object.defineProperty(HTMLCanvasElement.prototype, "width", {
  ...width,
  set(value) { this.marks = []; width.set.call(this, value); },
});
"""
"""A canvas that gets its width is empty: what was written down of it is forgotten."""

_SEEN = """(GROUNDS) => {
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const over = (top, under) => top.slice(0, 3).map((value, k) => value * top[3] / 255 + under[k] * (1 - top[3] / 255));
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
  };
  const faint = (element) => {
    let share = 1;
    for (let at = element; at; at = at.parentElement) share *= Number(getComputedStyle(at).opacity);
    return share;
  };
  const ink = (color, element, under) => {
    const top = rgba(color);
    return over([...top.slice(0, 3), top[3] * faint(element)], under);
  };
  const inView = ([left, top, right, bottom]) => right > left && bottom > top && left < innerWidth && top < innerHeight && right > 0 && bottom > 0;
  const within = (element, box) => {
    let [left, top, right, bottom] = box;
    for (let at = element; at; at = at.parentElement) {
      if (getComputedStyle(at).overflow === "visible") continue;
      const edge = at.getBoundingClientRect();
      [left, top, right, bottom] = [Math.max(left, edge.left), Math.max(top, edge.top), Math.min(right, edge.right), Math.min(bottom, edge.bottom)];
    }
    return [left, top, right, bottom];
  };
  const texts = [], marks = new Set(), grounds = new Set(GROUNDS.map((color) => rgba(color).join())), board = document.querySelector(".wb-dashboard");
  const walker = document.createTreeWalker(board, NodeFilter.SHOW_TEXT);
  let owner = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    owner += 1;
    const element = node.parentElement, text = node.textContent.trim();
    if (!text || element.closest("style, script, option, .wb-saves, [disabled], .wb-card-idle") || !element.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const { left, top, right, bottom } of range.getClientRects()) {
      const box = within(element, [left, top, right, bottom]), under = ground(element);
      if (inView(box)) texts.push({ text, owner, box, color: ink(getComputedStyle(element).color, element, under), ground: under });
    }
  }
  for (const canvas of board.querySelectorAll("canvas.wb-canvas")) {
    const edge = canvas.getBoundingClientRect(), under = ground(canvas);
    if (!inView([edge.left, edge.top, edge.right, edge.bottom])) continue;
    for (const { kind, color, text, box } of canvas.marks ?? []) {
      owner += 1;
      const place = box?.map((value, k) => value + (k % 2 ? edge.top : edge.left));
      if (kind === "text" && inView(place)) texts.push({ text, owner, box: place, color: ink(color, canvas, under), ground: under });
      if (kind === "mark" && !grounds.has(rgba(color).join())) marks.add([...ink(color, canvas, under), ...under].join());
    }
  }
  return { texts, marks: [...marks].map((one) => one.split(",").map(Number)) };
}"""


def watch(page: Page) -> None:
    """Write down what canvases draw, from the next address on."""
    page.add_init_script(WATCH)


def faults(page: Page) -> list[str]:
    """Return what is too faint, and which texts lie on each other, in both sizes and schemes; a page stays as it was."""
    before = page.viewport_size
    result = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(300)
            result += [f"{width} x {height}, {scheme}: {fault}" for fault in _faults(page.evaluate(_SEEN, GROUNDS))]
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(before)
    return result


def _faults(seen: dict[str, Any]) -> list[str]:
    texts = seen["texts"]
    faint = [f"{contrast(one['color'], one['ground']):.2f}:1 of {one['text']!r}" for one in texts if not _reads(one)]
    weak = [
        f"{contrast(mark[:3], mark[3:]):.2f}:1 of a mark {mark[:3]} on {mark[3:]}"
        for mark in seen["marks"]
        if contrast(mark[:3], mark[3:]) < MARK
    ]
    on = [
        f"{one['text']!r} lies on {other['text']!r}"
        for k, one in enumerate(texts)
        for other in texts[:k]
        if one["owner"] != other["owner"] and overlaps(one["box"], other["box"])
    ]
    return [*dict.fromkeys([*faint, *weak, *on])]


def _reads(text: dict[str, Any]) -> bool:
    return contrast(text["color"], text["ground"]) >= TEXT


def overlaps(one: list[float], other: list[float]) -> bool:
    """Return whether two boxes share more than a rim of 2 pixels.

    >>> overlaps([0, 0, 10, 10], [5, 5, 20, 20]), overlaps([0, 0, 10, 10], [9, 0, 20, 10])
    (True, False)
    """
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across > 2 and down > 2


def contrast(one: list[float], other: list[float]) -> float:
    """Return the contrast of two colors (WCAG 2.2).

    >>> round(contrast([0, 0, 0], [255, 255, 255]), 1)
    21.0
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: list[float]) -> float:
    shares = (value / 255 for value in color)
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return sum(weight * share for weight, share in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
