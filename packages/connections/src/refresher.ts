import {
  type AccountKey,
  type AccountRefreshOutcome,
  claimAccountRefresh,
  listDueAccountRefreshes,
  settleAccountRefresh,
} from "@svc/db/connections/refresh";
import { openCredential, tokenOf } from "./credential.ts";
import { findToolkit } from "./definition.ts";
import type { ConnectionsOptions } from "./options.ts";
import { leaseMs, type RenewalOptions, renewClaimed } from "./renewal.ts";

/** Renews tokens ahead of their end, in the background: in the sandbox the accounts that were made there, else the others. */
export type Refresher = {
  start(): void;
  /** Lets renewals under way finish, and starts no other. */
  stop(): Promise<void>;
};

/** What the refresher works with. `onError` hears of what is not an app's doing: the store, or a key that is missing. */
export type RefresherOptions = RenewalOptions &
  Pick<ConnectionsOptions, "views"> & { readonly onError: (error: unknown) => void };

const everyMs = 5_000;
const batch = 64;
const parallel = 8;
/** How long an account whose toolkit is not served now is left alone. */
const absentMs = 15 * 60_000;

/** Makes the refresher of one node; any number of nodes may run one. */
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

/** Looks after what is due, and returns how many accounts that were. */
async function refreshDue(options: RefresherOptions, signal: AbortSignal): Promise<number> {
  const { db, clock, isSandbox } = options;
  const due = await listDueAccountRefreshes(db, { isSandbox, nowMs: clock.now(), limit: batch });
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

/** Renews an account that can be renewed, and ends one whose time is over. */
async function refreshOne(options: RefresherOptions, key: AccountKey): Promise<void> {
  const { db, clock, sealer, views } = options;
  const nowMs = clock.now();
  const lease = { ...key, leaseUntilMs: nowMs + leaseMs };
  const row = await claimAccountRefresh(db, lease, nowMs);
  if (row === undefined) return;
  await sealer.ready([row.projectId]);
  const settle = (outcome: Omit<AccountRefreshOutcome, "updatedAt">) =>
    settleAccountRefresh(db, lease, { ...outcome, updatedAt: outcome.state === undefined ? row.updatedAt : nowMs });
  if (row.refreshAt === null || row.refreshAt > nowMs) {
    // Another node was there between the list and the lease.
    await settle({});
    return;
  }
  if (row.expiresAt !== null && row.expiresAt <= nowMs) {
    await settle({ state: "expired", lastError: "its credential ran out", refreshAt: null });
    return;
  }
  const toolkit = await findToolkit(views, row);
  const token = row.credential === null ? undefined : tokenOf(openCredential(sealer, row, row.credential));
  if (toolkit === undefined || token?.refresh_token === undefined) await settle({ refreshAt: nowMs + absentMs });
  else await renewClaimed(options, row, { lease, toolkit, used: token.access_token });
}
