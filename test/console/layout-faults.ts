import type { Page } from "playwright-core";

/**
 * Script that returns what is wrong with the layout of the present page: texts that are cut off without an ellipsis and a tooltip, texts
 * for which less than four letters have room, and buttons, links and fields that extend beyond the sides of the window. Parts of a canvas
 * that the user moves, and boxes that the user scrolls, are left out.
 */
const script = `(() => {
  const faults = [];
  const nameOf = (e) => e.outerHTML.slice(0, 140);
  const shown = [...document.querySelectorAll("body *")].filter((e) =>
    e.closest("[data-canvas], .visually-hidden, canvas, svg, .cm-editor") === null && e.checkVisibility() && e.getBoundingClientRect().width > 1);
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
  return faults;
})()`;

/** Returns the faults of a page's layout at its present width, each with the element that has it. */
export function layoutFaults(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(script);
}

/** Returns the distance of the page's title from the left edge of the window, in pixels. */
export function titleLeft(page: Page): Promise<number> {
  return page.evaluate<number>('document.querySelector("main h1").getBoundingClientRect().left');
}
