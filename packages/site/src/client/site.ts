import { addCopyButtons } from "./copy.ts";
import { startSearch } from "./search-box.ts";
import { startThemeSwitch } from "./theme-switch.ts";

startThemeSwitch();
startSearch();
addCopyButtons();
letReachByKeyboard();
addEventListener("resize", letReachByKeyboard);

/** Makes elements that scroll sideways reachable and scrollable by keyboard. */
function letReachByKeyboard(): void {
  for (const element of document.querySelectorAll<HTMLElement>(".code pre, .table")) {
    if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
    else element.removeAttribute("tabindex");
  }
}
