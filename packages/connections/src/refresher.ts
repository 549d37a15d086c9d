import { accountSidesOf, isPlayed } from "@svc/catalog";
import {
  type AccountKey,
  type AccountRefreshOutcome,
  claimAccountRefresh,
  listDueAccountRefreshes,
  settleAccountRefresh,
} from "@svc/db/connections/refresh";
import { openCredential, tokenOf } from "./credential.ts";
import { findToolkit } from "./definition.ts";
import { expireWithEvent } from "./expire-account.ts";
import type { ConnectionsOptions } from "./options.ts";
import { leaseMs, type RenewalOptions, renewClaimed } from "./renewal.ts";

/**
 * Renews the access tokens of connected accounts before they expire, in the background. For an app that the sandbox plays, it renews only
 * made-up accounts; for a real app, only real accounts.
 */
export type Refresher = {
  start(): void;
  /** Waits until the token renewals in progress have ended, and starts no more renewals. */
  stop(): Promise<void>;
};

/**
 * Dependencies of the refresher (the loop that renews access tokens before they expire). `onError` receives errors that no app caused, such
 * as a database error or a missing key.
 */
export type RefresherOptions = RenewalOptions &
  Pick<ConnectionsOptions, "views"> & { readonly onError: (error: unknown) => void };

const everyMs = 5_000;
const batch = 64;
const parallel = 8;
/**
 * Time in milliseconds after which the refresher looks again at an account of an app whose toolkit (definition) this node does not have.
 */
const absentMs = 15 * 60_000;

/**
 * Creates the refresher of one node, which renews access tokens before they expire. The refreshers of several nodes may run at the same
 * time.
 */
export function createRefresher(options: RefresherOptions): Refresher {
  const { clock, onError } = options;
  let stopping: AbortController | undefined;
  let ended = Promise.resolve();
  const repeat = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const count = await refreshDue(options, signal).catch((error: unknown) => {
        onError(error);
        return 0;
      });
      if (count < batch) await clock.wait(everyMs, signal);
    }
  };
  return {
    start() {
      if (stopping !== undefined) return;
      stopping = new AbortController();
      ended = repeat(stopping.signal);
    },
    async stop() {
      stopping?.abort();
      stopping = undefined;
      await ended;
    },
  };
}

/**
 * Renews the tokens of accounts that are due for renewal, and ends accounts that have expired: at most `batch` made-up and `batch` real
 * accounts. Returns their number.
 */
async function refreshDue(options: RefresherOptions, signal: AbortSignal): Promise<number> {
  const { db, clock, sandboxMode } = options;
  const due: AccountKey[] = [];
  for (const isSandbox of accountSidesOf(sandboxMode)) {
    due.push(...(await listDueAccountRefreshes(db, { isSandbox, nowMs: clock.now(), limit: batch })));
  }
  const waiting = due.values();
  const work = async () => {
    for (const key of waiting) {
      if (signal.aborted) return;
      await refreshOne(options, key).catch(options.onError);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return due.length;
}

/** Renews the token of an account if possible. If the account has expired, ends it. */
async function refreshOne(options: RefresherOptions, key: AccountKey): Promise<void> {
  const { db, clock, sealer, views, sandboxMode } = options;
  const nowMs = clock.now();
  const lease = { ...key, leaseUntilMs: nowMs + leaseMs };
  const row = await claimAccountRefresh(db, lease, nowMs);
  if (row === undefined) return;
  await sealer.ready([row.projectId]);
  const settle = (outcome: Omit<AccountRefreshOutcome, "updatedAt" | "state">) =>
    settleAccountRefresh(db, lease, { ...outcome, updatedAt: row.updatedAt });
  if (row.refreshAt === null || row.refreshAt > nowMs) {
    // Another node renewed the account after this node listed it and before this node acquired the lease. So this node only returns the
    // lease (the temporary right to renew).
    await settle({});
    return;
  }
  if (row.expiresAt !== null && row.expiresAt <= nowMs) {
    const lastError = "its credential ran out";
    const outcome = { state: "expired", lastError, refreshAt: null, updatedAt: nowMs } as const;
    await expireWithEvent(options, row, { lastError, nowMs }, (tx) => settleAccountRefresh(tx, lease, outcome));
    return;
  }
  const toolkit = await findToolkit(views, row);
  const token = row.credential === null ? undefined : tokenOf(openCredential(sealer, row, row.credential));
  // The app of the toolkit was played when the account was made, and is real now, or the other way round. The token does not fit it.
  const isOther = toolkit !== undefined && row.isSandbox !== isPlayed(toolkit, sandboxMode);
  if (toolkit === undefined || isOther || token?.refresh_token === undefined)
    await settle({ refreshAt: nowMs + absentMs });
  else await renewClaimed(options, row, { lease, toolkit, used: token.access_token });
}
