import { type Clock, createMinuteCount, Fault, LeastRecentlyUsed } from "@svc/core";
import { consoleFaults } from "./errors.ts";

/**
 * Limits for sign-in attempts and for actions through links, such as answers to questions. These requests do not count against the quota of
 * a project.
 */
export type SignInLimit = {
  /**
   * Runs `work`, in which an address tries to use a secret, and returns its result. Rejects with SIGN_INS_EXCEEDED, without running `work`,
   * if too many attempts of the address failed or the secret was used too often. An attempt that rejects with `unauthenticated` counts as
   * failed.
   */
  attempt<Result>(address: string, secret: string, work: () => Promise<Result>): Promise<Result>;
  /**
   * Counts an action through a link, such as an answer to a question. Throws SIGN_INS_EXCEEDED if the link was used for too many actions
   * within a minute.
   */
  act(link: string): void;
};

const failuresMax = 10;
const windowMs = 60_000;
/**
 * Maximum number of client addresses whose failed sign-ins a node counts. Above this number, the node forgets the oldest counts. An
 * attacker gains little by that: with so many addresses, many attempts are possible even if all are counted.
 */
const addressesMax = 10_000;
/** Maximum sign-ins per minute with the same key or link, successful or not. Each sign-in writes rows to the database. */
const shownMax = 100;
/**
 * Maximum number of actions (answers to a question, or connections of an account) through one link per minute, whether accepted or refused.
 */
const actsMax = 10;

/** Maximum number of sign-in attempts of one address that may wait for running attempts of the same address. */
const waitingMax = 100;
const busyWaitMs = 1_000;

/** Current sign-in attempts of an address. `present`: number of running and waiting attempts. `underWay`: number of running attempts. */
type AttemptCount = { present: number; underWay: number; readonly waiting: (() => void)[] };

/**
 * Creates the sign-in limits of a node. After ten failed attempts of an address within a minute, its next attempts are refused until the
 * minute ends. A running attempt counts as failed until it has ended, so simultaneous attempts cannot exceed ten; the others wait.
 */
export function createSignInLimit({ clock }: { clock: Clock }): SignInLimit {
  const failed = new LeastRecentlyUsed<string, { count: number; untilMs: number }>(addressesMax);
  const trying = new Map<string, AttemptCount>();
  const [shown, acts] = [createMinuteCount({ clock, most: shownMax }), createMinuteCount({ clock, most: actsMax })];
  const failuresOf = (address: string) => {
    const found = failed.get(address);
    return found === undefined || found.untilMs <= clock.now() ? undefined : found;
  };
  const noteFailure = (address: string) => {
    const found = failuresOf(address);
    if (found === undefined) failed.set(address, { count: 1, untilMs: clock.now() + windowMs });
    else found.count += 1;
  };
  const refuse = (address: string) => {
    const found = failuresOf(address);
    if (found === undefined || found.count < failuresMax) return;
    throw consoleFaults.SIGN_INS_EXCEEDED(
      `more than ${failuresMax} attempts to sign in failed within a minute`,
      found.untilMs - clock.now(),
    );
  };
  const isFull = (address: string, { underWay }: AttemptCount) =>
    underWay > 0 && (failuresOf(address)?.count ?? 0) + underWay >= failuresMax;
  const enter = async (address: string, mine: AttemptCount) => {
    while (isFull(address, mine)) {
      if (mine.waiting.length >= waitingMax)
        throw consoleFaults.SIGN_INS_EXCEEDED("too many attempts to sign in wait for each other", busyWaitMs);
      await new Promise<void>((resolve) => mine.waiting.push(resolve));
    }
    refuse(address);
    mine.underWay += 1;
  };
  const show = (secret: string) => {
    const waitMs = shown(secret);
    if (waitMs !== undefined)
      throw consoleFaults.SIGN_INS_EXCEEDED(
        `the same key or link was shown more than ${shownMax} times within a minute`,
        waitMs,
      );
  };
  const tryIt = async <Result>(address: string, mine: AttemptCount, work: () => Promise<Result>): Promise<Result> => {
    await enter(address, mine);
    try {
      return await work();
    } catch (error) {
      if (error instanceof Fault && error.code === "unauthenticated") noteFailure(address);
      throw error;
    } finally {
      mine.underWay -= 1;
    }
  };
  return {
    async attempt(address, secret, work) {
      const mine = trying.get(address) ?? { present: 0, underWay: 0, waiting: [] };
      trying.set(address, mine);
      mine.present += 1;
      try {
        return await tryIt(address, mine, () => {
          show(secret);
          return work();
        });
      } finally {
        mine.present -= 1;
        mine.waiting.shift()?.();
        if (mine.present === 0) trying.delete(address);
      }
    },
    act(link) {
      const waitMs = acts(link);
      if (waitMs !== undefined)
        throw consoleFaults.SIGN_INS_EXCEEDED(`the link was used more than ${actsMax} times within a minute`, waitMs);
    },
  };
}
