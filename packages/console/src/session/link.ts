import { enter } from "./enter.ts";
import type { Refusal } from "./page-post.ts";

/**
 * Signs in by the link in the address (`#link=…`), where there is one. The link is out of the address and the history before anything
 * else happens; it is spent once, so this runs outside of what renders.
 */
export async function enterByLink(): Promise<Refusal | undefined> {
  const link = /^#link=([\w.~-]+)$/.exec(location.hash)?.[1];
  if (link === undefined) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  return enter({ link });
}

/** Takes links that are opened in a page that is open already: the browser then changes the fragment and loads nothing. */
export function watchLinks(onRefusal: (refusal: Refusal | undefined) => void): void {
  window.addEventListener("hashchange", () => {
    void enterByLink().then(onRefusal);
  });
}
