import { enter } from "./enter.ts";
import { postPage, type Refusal } from "./page-post.ts";
import { currentSession, type Seat } from "./session.ts";
import { setLinkOffer, setLinkRefusal } from "./sign-in-need.ts";

/**
 * Signs in by the link in the address (`#link=…`), where there is one. The link is out of the address and the history before anything
 * else happens; it is spent once, so this runs outside of what renders.
 *
 * Any page can lead a browser here. Where somebody is signed in already, a link to yet another project waits for a word: its pages look the
 * same, and what is filled in there would be that project's.
 */
export async function enterByLink(): Promise<Refusal | undefined> {
  const link = /^#link=([\w.~-]+)$/.exec(location.hash)?.[1];
  if (link === undefined) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  const seats = currentSession()?.seats ?? [];
  if (seats.length === 0) return enter({ link });
  const looked = await postPage("session", { link, look: true });
  if ("refusal" in looked) return looked.refusal;
  const { seat } = looked.answer as { seat: Seat };
  if (seats.some(({ projectId }) => projectId === seat.projectId)) return enter({ link });
  const take = async () => {
    setLinkOffer(undefined);
    setLinkRefusal(await enter({ link }));
  };
  setLinkOffer({ seat, take });
  return undefined;
}

/** Takes links that are opened in a page that is open already: the browser then changes the fragment and loads nothing. */
export function watchLinks(onRefusal: (refusal: Refusal | undefined) => void): void {
  window.addEventListener("hashchange", () => {
    void enterByLink().then(onRefusal);
  });
}
