import { type Clock, type Fault, LeastRecentlyUsed } from "@svc/core";
import { signInsExceeded } from "./errors.ts";

/** Counts what fails to sign in, by the address it comes from. */
export type SignInLimit = {
  /** Why an address may not try now; undefined when it may. */
  refusalOf(address: string): Fault | undefined;
  /** An attempt of an address failed. */
  noteFailure(address: string): void;
};

const failuresMax = 10;
const windowMs = 60_000;
/** Addresses that are remembered: whoever has more of them than this has as many attempts anyway. */
const addressesMax = 10_000;

/** Makes the count of a node: ten failures of an address within a minute, then none of its attempts is looked at until that is over. */
export function createSignInLimit({ clock }: { clock: Clock }): SignInLimit {
  const failed = new LeastRecentlyUsed<string, { count: number; untilMs: number }>(addressesMax);
  const current = (address: string) => {
    const found = failed.get(address);
    return found === undefined || found.untilMs <= clock.now() ? undefined : found;
  };
  return {
    refusalOf(address) {
      const found = current(address);
      if (found === undefined || found.count < failuresMax) return undefined;
      return signInsExceeded(found.untilMs - clock.now(), failuresMax);
    },
    noteFailure(address) {
      const found = current(address);
      if (found === undefined) failed.set(address, { count: 1, untilMs: clock.now() + windowMs });
      else found.count += 1;
    },
  };
}
