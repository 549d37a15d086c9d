import { useSyncExternalStore } from "react";
import type { PageRefusal } from "./page-post.ts";
import type { Seat } from "./session.ts";

/** A sign-in link that the user has not accepted yet. `seat`: the seat (key) that the link would add. `take`: accepts the link. */
export type LinkOffer = { readonly seat: Seat; readonly take: () => Promise<void> };

/**
 * The state of the sign-in. `isNeeded`: true if the user must sign in. `linkRefusal`: the refusal of the sign-in link in the address.
 * `linkOffer`: a sign-in link that the user has not accepted yet.
 */
type Need = { isNeeded: boolean; linkRefusal: PageRefusal | undefined; linkOffer: LinkOffer | undefined };

let need: Need = { isNeeded: false, linkRefusal: undefined, linkOffer: undefined };
const listeners = new Set<() => void>();

function change(to: Partial<Need>): void {
  need = { ...need, ...to };
  for (const listener of listeners) listener();
}

/** Opens the sign-in form over the page, or closes it. It opens when the service answers a call with 401, because the session has ended. */
export function setSignInNeeded(isNeeded: boolean): void {
  if (need.isNeeded !== isNeeded) change({ isNeeded });
}

/** Stores why the service refused a sign-in link. Undefined if the link was accepted, or if there was none. */
export function setLinkRefusal(linkRefusal: PageRefusal | undefined): void {
  change({ linkRefusal });
}

/** Asks the user whether to accept a sign-in link. Undefined closes the question. */
export function setLinkOffer(linkOffer: LinkOffer | undefined): void {
  change({ linkOffer });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns if the sign-in form is needed, with the offered or refused sign-in link. Updates the component when this changes. */
export function useSignInNeed(): Need {
  return useSyncExternalStore(subscribe, () => need);
}
