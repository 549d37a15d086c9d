import { asWritten, documentType } from "./document.ts";

/** What one node has of a pace; times in epoch milliseconds. */
export type PaceShare = {
  /** Calls under way, until `heldUntil`: a node that ends without a word gives its places back then. */
  readonly held: number;
  readonly heldUntil: number;
  /** Calls that wait there, since `waitsSince`, as it said at `saidAt`. */
  readonly wanted: number;
  readonly waitsSince: number;
  readonly saidAt: number;
};

/** Calls that began lately: how many in each of the latest stretches of `widthMs`, the newest of which is number `latest`, first. */
export type PaceWindow = { readonly widthMs: number; readonly latest: number; readonly counts: readonly number[] };

/** `call_paces.pace`: the calls that one key of a limit counts together, over all nodes. */
export type PaceDocument = {
  /** By node id. */
  readonly shares: Readonly<Record<string, PaceShare>>;
  readonly window?: PaceWindow | undefined;
};

/** How `call_paces.pace` is stored. */
export const callPaceDocument = documentType<PaceDocument>("call_paces.pace", [asWritten]);
