// What keeps readers out of a page, as sentences: low contrast, missing names, double ids, headings that skip a level.
// It runs in the page; `text` is every visible piece of text on the color that stands behind it.
() => {
  const faults = new Set();
  const all = (selector) => [...document.querySelectorAll(selector)];
  const visible = (part) => part.getClientRects().length > 0;
  const numbers = (color) => (color.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const opacity = (color) => (color.length > 3 ? color[3] : 1);
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * opacity(top) + below[i] * (1 - opacity(top)));
  const linear = (part) => (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = (color) => 0.2126 * linear(color[0]) + 0.7152 * linear(color[1]) + 0.0722 * linear(color[2]);

  function behind(part) {
    const layers = [];
    for (let at = part; at; at = at.parentElement) layers.push(numbers(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  }

  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const part = walker.currentNode.parentElement;
    const style = getComputedStyle(part);
    if (!walker.currentNode.data.trim() || part.closest("script, style, svg") || !visible(part)) continue;
    if (style.visibility === "hidden" || style.opacity === "0") continue;
    texts += 1;
    const ground = behind(part);
    const [low, high] = [luminance(over(numbers(style.color), ground)), luminance(ground)].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    const size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (ratio < needed) faults.add(`contrast ${ratio.toFixed(2)} of ${part.tagName} ${part.className}`);
  }
  if (texts < 20) faults.add(`only ${texts} pieces of text were looked at`);

  for (const picture of all("img"))
    if (!picture.hasAttribute("alt") || (picture.closest("article") && !picture.alt.trim()))
      faults.add(`no words for ${picture.getAttribute("src")}`);
  for (const drawing of all("svg[role=img]")) if (!drawing.querySelector("title")) faults.add("a drawing without a title");

  const ids = all("[id]").map((part) => part.id);
  for (const id of ids.filter((one, at) => ids.indexOf(one) !== at)) faults.add(`id ${id} twice`);

  let level = 0;
  for (const heading of all("h1, h2, h3, h4, h5, h6")) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) faults.add(`heading ${next} behind ${level}: ${heading.textContent.trim()}`);
    level = next;
  }
  for (const one of ["h1", "main, [role=main]"])
    if (all(one).length !== 1) faults.add(`${all(one).length} of ${one}`);
  for (const one of ["html[lang]", "title", 'meta[name="description"]', 'link[rel~="icon"]'])
    if (!document.querySelector(one)) faults.add(`no ${one}`);

  const name = (part) =>
    part.textContent.trim() || part.getAttribute("aria-label") || part.title || part.querySelector("img[alt]")?.alt;
  for (const part of all("a[href], button")) if (visible(part) && !name(part)) faults.add(`no name: ${part.outerHTML}`);
  for (const field of all("input:not([type=hidden]), select, textarea"))
    if (!field.getAttribute("aria-label") && !field.title && !field.placeholder && !field.labels?.length)
      faults.add(`no label: ${field.outerHTML}`);

  for (const part of all("pre, table, div.cell_output, figure"))
    if (part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX === "auto" && part.tabIndex < 0)
      faults.add(`scrolls without the keyboard: ${part.tagName}`);
  if (document.documentElement.scrollWidth > innerWidth) faults.add("the page is wider than its window");
  return [...faults];
};
