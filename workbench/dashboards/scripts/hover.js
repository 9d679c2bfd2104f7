// What lies under the pointer, in words beside it.

/** Let a sheet say what `textAt(x, y)` gives, beside the pointer; nothing where that is empty. */
function tellUnderPointer(sheet, textAt) {
  const tip = document.createElement("div");
  tip.className = "wb-tip";
  tip.setAttribute("role", "status");
  sheet.canvas.after(tip);
  const hide = () => { tip.style.display = "none"; };
  sheet.canvas.addEventListener("pointermove", ({ offsetX, offsetY, clientX, clientY }) => {
    const text = textAt(offsetX, offsetY);
    tip.textContent = text;
    Object.assign(tip.style, { display: text ? "block" : "none", left: `${clientX + 12}px`, top: `${clientY + 16}px` });
    const over = tip.getBoundingClientRect().right - window.innerWidth;
    if (text && over > 0) tip.style.left = `${clientX + 12 - over - 4}px`;
  });
  sheet.canvas.addEventListener("pointerleave", hide);
  hide();
}

/** A value with its interval, where there is one. */
function withLimits(value, low, high) {
  const known = low !== null && high !== null && low !== high;
  return known ? `${formatted(value)} [${formatted(low)}, ${formatted(high)}]` : formatted(value);
}
