import { useSyncExternalStore } from "react";
import type { PageRefusal } from "./page-post.ts";
import type { Seat } from "./session.ts";

/** A link that waits for the user's decision: the seat that it would add, and a function that accepts it. */
export type LinkOffer = { readonly seat: Seat; readonly take: () => Promise<void> };

/**
 * The state of the sign-in: `isNeeded` if the user must sign in, the refusal of the address's link, and a link that waits for the user's
 * decision.
 */
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

/** Records the refusal of the address's link; undefined if it succeeded or there was none. */
export function setLinkRefusal(linkRefusal: PageRefusal | undefined): void {
  change({ linkRefusal });
}

/** Asks the user whether to accept a link; undefined closes the question. */
export function setLinkOffer(linkOffer: LinkOffer | undefined): void {
  change({ linkOffer });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The need to sign in and the refusal of the address's link, kept current. */
export function useSignInNeed(): Need {
  return useSyncExternalStore(subscribe, () => need);
}
