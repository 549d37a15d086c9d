import type { Catalog } from "@svc/catalog";
import type { AddressGuard, Clock, Sealer } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { Restore } from "@svc/db/restores/repo";
import type { Dispatcher } from "@svc/delivery";
import type { StoreOptions } from "../store.ts";

/** What the methods of TriggersService share. */
export type TriggersContext = {
  db: Executor;
  catalog: Catalog;
  clock: Clock;
  sealer: Sealer;
  guard: AddressGuard;
  dispatcher: Pick<Dispatcher, "wake" | "expire">;
  store: StoreOptions;
  /** Has paced replays looked for now: one was started, or goes on. */
  wakeReplays(): void;
  /** The last restore of the store from a backup, which sends nothing until it is resumed. */
  restored?: (() => Restore | undefined) | undefined;
  /** The present value of a deployment variable. */
  secretOf(name: string): string | undefined;
};
