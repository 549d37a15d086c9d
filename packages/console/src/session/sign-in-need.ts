import { useSyncExternalStore } from "react";
import type { PageRefusal } from "./page-post.ts";
import type { Seat } from "./session.ts";

/** A link that waits for a person's word: the seat that it would add, and what takes it. */
export type LinkOffer = { readonly seat: Seat; readonly take: () => Promise<void> };

/** Whether a sign-in is wanted, what the link in the address came to, and whether it waits for a word. */
type Need = { isNeeded: boolean; linkRefusal: PageRefusal | undefined; linkOffer: LinkOffer | undefined };

let need: Need = { isNeeded: false, linkRefusal: undefined, linkOffer: undefined };
const listeners = new Set<() => void>();

function change(to: Partial<Need>): void {
  need = { ...need, ...to };
  for (const listener of listeners) listener();
}

/** Opens the sign-in over the page (a call was answered 401), or closes it. */
export function setSignInNeeded(isNeeded: boolean): void {
  if (need.isNeeded !== isNeeded) change({ isNeeded });
}

/** Notes what the link in the address came to; undefined when it went well or there was none. */
export function setLinkRefusal(linkRefusal: PageRefusal | undefined): void {
  change({ linkRefusal });
}

/** Asks a person whether a link is to be taken; undefined when that is settled. */
export function setLinkOffer(linkOffer: LinkOffer | undefined): void {
  change({ linkOffer });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether a sign-in is wanted, and what the link in the address came to, as they change. */
export function useSignInNeed(): Need {
  return useSyncExternalStore(subscribe, () => need);
}
