(GROUNDS) => {
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
  /** The box of corners along and across a slant: slanted texts lie apart though the boxes around them meet. */
  const turned = (corners, angle) => {
    const [xs, ys] = [0, 1].map((k) => corners.map(([x, y]) => (k ? y : x) * Math.cos(angle) + (k ? -x : y) * Math.sin(angle)));
    return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
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
      if (inView(box)) texts.push({ text, owner, box, angle: 0, turned: box, color: ink(getComputedStyle(element).color, element, under), ground: under });
    }
  }
  for (const canvas of board.querySelectorAll("canvas.wb-canvas")) {
    const edge = canvas.getBoundingClientRect(), under = ground(canvas);
    if (!inView([edge.left, edge.top, edge.right, edge.bottom])) continue;
    for (const { kind, color, text, box, corners, angle } of canvas.marks ?? []) {
      owner += 1;
      const place = box?.map((value, k) => value + (k % 2 ? edge.top : edge.left));
      if (kind === "text" && inView(place)) texts.push({ text, owner, box: place, angle, turned: turned(corners.map(([x, y]) => [x + edge.left, y + edge.top]), angle), color: ink(color, canvas, under), ground: under });
      if (kind === "mark" && !grounds.has(rgba(color).join())) marks.add([...ink(color, canvas, under), ...under].join());
    }
  }
  return { texts, marks: [...marks].map((one) => one.split(",").map(Number)) };
}
