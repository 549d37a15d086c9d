import { addCopyButtons } from "./copy.ts";
import { startSearch } from "./search-box.ts";
import { startThemeSwitch } from "./theme-switch.ts";

startThemeSwitch();
startSearch();
addCopyButtons();
letReachByKeyboard();
addEventListener("resize", letReachByKeyboard);

/** What scrolls sideways can be reached and scrolled by keyboard. */
function letReachByKeyboard(): void {
  for (const element of document.querySelectorAll<HTMLElement>(".code pre, .table")) {
    if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
    else element.removeAttribute("tabindex");
  }
}
