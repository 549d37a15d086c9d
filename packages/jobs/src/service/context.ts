import type { CatalogViews } from "@svc/catalog";
import type { AccountAccess } from "@svc/connections";
import type { Clock, Sealer } from "@svc/core";
import type { Database } from "@svc/db";
import type { AskPort } from "../asks/types.ts";
import type { JobEngine } from "../engine/engine.ts";
import type { JobHints } from "./hints.ts";

/** What the methods of JobsService share. */
export type JobsContext = {
  readonly db: Database;
  readonly clock: Clock;
  /** Seals page tokens and what jobs keep of their data. */
  readonly sealer: Sealer;
  readonly views: CatalogViews;
  readonly accounts: Pick<AccountAccess, "resolve">;
  readonly asks: AskPort;
  /** The engine of this node; its `wake` and `cancel` save the wait for the next poll. */
  readonly engine: Pick<JobEngine, "wake" | "cancel">;
  readonly hints: JobHints;
  /** Longest pause between two looks for new log entries while no hint comes, milliseconds. Default 500. */
  readonly watchPollMs?: number;
};
