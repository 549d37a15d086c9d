import type { AskPort } from "@svc/asks";
import type { CatalogViews } from "@svc/catalog";
import type { AccountAccess } from "@svc/connections";
import { type Clock, coreFaults, type Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { JobEngine } from "../drive/engine.ts";
import type { ProgramCache } from "../drive/store/stored-program.ts";
import type { JobHints } from "./notes.ts";

/** What the methods of JobsService share. */
export type JobsContext = {
  readonly db: Database;
  readonly clock: Clock;
  /** Seals page tokens and what jobs keep of their data. */
  readonly sealer: Sealer;
  readonly views: CatalogViews;
  readonly accounts: Pick<AccountAccess, "resolve">;
  readonly asks: AskPort;
  /** The engine of this node; its `wake`, `cancel` and `reserve` save the wait for the next poll. */
  readonly engine: Pick<JobEngine, "wake" | "cancel" | "reserve" | "pause" | "resume" | "retry">;
  /** Programs that were checked on this node are kept ready for its drivers. */
  readonly programs: Pick<ProgramCache, "put" | "get">;
  readonly hints: JobHints;
  /** Whether an emulator answers in place of the apps, which the logs of jobs tell. Default false. */
  readonly isSandbox?: boolean | undefined;
  /** Longest pause between two looks for new log entries while no hint comes, milliseconds. Default 500. */
  readonly watchPollMs?: number;
};

const charactersMax = 255;

/** The caller's own name for a call; undefined for none. Throws IDEMPOTENCY_KEY_INVALID. */
export function readIdempotencyKey(key: string): string | undefined {
  if ([...key].length > charactersMax) throw coreFaults.IDEMPOTENCY_KEY_INVALID(key.length);
  return key === "" ? undefined : key;
}
