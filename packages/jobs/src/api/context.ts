import type { AskPort } from "@svc/asks";
import type { CatalogViews, SandboxMode } from "@svc/catalog";
import type { AccountAccess } from "@svc/connections";
import { type Clock, coreFaults, type Sealer, type WorkMeter } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { JobEngine } from "../drive/engine.ts";
import type { ProgramCache } from "../drive/store/stored-program.ts";
import type { JobHints } from "./notes.ts";
import type { JobWaits } from "./wait.ts";

/** Dependencies of the methods of JobsService. */
export type JobsContext = {
  readonly db: Database;
  readonly clock: Clock;
  /** Seals page tokens and the data of jobs. */
  readonly sealer: Sealer;
  readonly views: CatalogViews;
  /** Charges the check and the description of a program to the project of the caller. */
  readonly meter: Pick<WorkMeter, "begin">;
  readonly accounts: Pick<AccountAccess, "resolve">;
  readonly asks: AskPort;
  /** The engine of this node. Its `wake`, `cancel` and `reserve` make it act at once instead of at its next poll. */
  readonly engine: Pick<JobEngine, "wake" | "cancel" | "reserve" | "pause" | "resume" | "retry" | "whyNotRetried">;
  /** Programs that were checked on this node, cached for its drivers (each runs one job's steps). */
  readonly programs: Pick<ProgramCache, "put" | "get">;
  readonly hints: JobHints;
  /** Lets a call wait until a job has ended. */
  readonly waits: JobWaits;
  /** For which toolkits (apps) the sandbox answers instead of the app. The logs of their jobs then say so. */
  readonly sandboxMode: SandboxMode;
  /** Longest pause between two reads of a job's log while no other node reports a change, in milliseconds. Default 500. */
  readonly watchPollMs?: number;
};

const charactersMax = 255;

/**
 * Returns the caller's idempotency key, or undefined if the caller gave none. Throws the error IDEMPOTENCY_KEY_INVALID if the key has a
 * wrong form.
 */
export function readIdempotencyKey(key: string): string | undefined {
  if ([...key].length > charactersMax) throw coreFaults.IDEMPOTENCY_KEY_INVALID(key.length);
  return key === "" ? undefined : key;
}
