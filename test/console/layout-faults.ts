import type { Page } from "playwright-core";

/**
 * Script that returns what is wrong with the layout of the present page: texts that are cut off without an ellipsis and a tooltip, texts
 * for which less than four letters have room, buttons, links and fields that extend beyond the sides of the window, and texts and controls
 * that overlap. Parts of a canvas that the user moves, and boxes that the user scrolls, are left out.
 */
const script = `(() => {
  const faults = [];
  const nameOf = (e) => e.outerHTML.slice(0, 140);
  const shown = [...document.querySelectorAll("body *")].filter((e) =>
    e.closest("[data-canvas], .visually-hidden, canvas, svg, .cm-editor") === null && e.checkVisibility() && e.getBoundingClientRect().width > 1 &&
    getComputedStyle(e).clipPath === "none");
  const hasText = (e) => [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
  for (const e of shown) {
    const style = getComputedStyle(e);
    const hides = ["hidden", "clip"].includes(style.overflowX);
    if (hides && e.scrollWidth > e.clientWidth + 1 && e.innerText.trim() !== "") {
      e.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
      if (style.textOverflow !== "ellipsis") faults.push("cut off without an ellipsis: " + nameOf(e));
      else if (e.closest("[title]") === null && e.querySelector("[title]") === null) faults.push("cut off without a tooltip: " + nameOf(e));
    }
    if (hasText(e) && style.textOverflow === "ellipsis" && e.scrollWidth > e.clientWidth + 1 && e.clientWidth < 4 * 6)
      faults.push("room for less than four letters: " + nameOf(e));
    if (e.matches("button, a, input, select, textarea")) {
      const { left, right } = e.getBoundingClientRect();
      const scroller = e.parentElement.closest("pre, section");
      const scrolls = scroller !== null && scroller.scrollWidth > scroller.clientWidth + 1 && getComputedStyle(scroller).overflowX === "auto";
      if (!scrolls && (left < -1 || right > innerWidth + 1)) faults.push("beyond the window: " + nameOf(e));
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page scrolls sideways");
  const main = document.querySelector("main");
  if (main !== null && main.scrollWidth > main.clientWidth + 1) faults.push("the page scrolls sideways in its frame");

  // The part of a box that the boxes around it do not hide.
  const seen = (box, e) => {
    let { left, top, right, bottom } = box;
    for (let around = e; around !== null; around = around.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(around);
      const edge = around.getBoundingClientRect();
      if (overflowX !== "visible") [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
      if (overflowY !== "visible") [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
    }
    return { left, top, right, bottom };
  };
  const isOver = (e) => {
    for (let around = e; around !== null && around !== main; around = around.parentElement)
      if (["absolute", "fixed", "sticky"].includes(getComputedStyle(around).position)) return true;
    return false;
  };
  const parts = [];
  for (const e of shown) {
    if (main === null || !main.contains(e) || isOver(e)) continue;
    if (e.matches("button, input, select, textarea, img")) parts.push({ e, box: seen(e.getBoundingClientRect(), e) });
    else if (hasText(e) && e.closest("button") === null) {
      for (const node of e.childNodes) {
        if (node.nodeType !== 3 || node.data.trim() === "") continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const box of range.getClientRects()) parts.push({ e, box: seen(box, e) });
      }
    }
  }
  const boxes = parts.filter(({ box }) => box.right - box.left > 2 && box.bottom - box.top > 2).sort((a, b) => a.box.top - b.box.top);
  for (let a = 0; a < boxes.length; a += 1)
    for (let b = a + 1; b < boxes.length && boxes[b].box.top < boxes[a].box.bottom - 5; b += 1) {
      const [one, other] = [boxes[a], boxes[b]];
      if (one.e.contains(other.e) || other.e.contains(one.e)) continue;
      const wide = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const high = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      if (wide > 3 && high > 5) faults.push("overlap: " + nameOf(one.e) + " and " + nameOf(other.e));
    }
  return [...new Set(faults)].slice(0, 12);
})()`;

/** Returns the faults of a page's layout at its present width, each with the element that has it. */
export function layoutFaults(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(script);
}

/** Returns the distance of the page's title from the left edge of the window, in pixels. */
export function titleLeft(page: Page): Promise<number> {
  return page.evaluate<number>('document.querySelector("main h1").getBoundingClientRect().left');
}
