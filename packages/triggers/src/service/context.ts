import type { Catalog } from "@svc/catalog";
import type { AddressGuard, Clock, Sealer } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { Restore } from "@svc/db/restores/repo";
import type { Dispatcher } from "@svc/delivery";
import type { StoreOptions } from "../store.ts";

/** Dependencies of the methods of TriggersService. */
export type TriggersContext = {
  db: Executor;
  catalog: Catalog;
  clock: Clock;
  sealer: Sealer;
  guard: AddressGuard;
  dispatcher: Pick<Dispatcher, "wake" | "expire">;
  store: StoreOptions;
  /** Checks for throttled replays now, because one was started or resumed. */
  wakeReplays(): void;
  /** Returns the last restore of the store from a backup. A restored store sends nothing until it is resumed. */
  restored?: (() => Restore | undefined) | undefined;
  /** Returns the current value of a deployment variable. */
  secretOf(name: string): string | undefined;
};
