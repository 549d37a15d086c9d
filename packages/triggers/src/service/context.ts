import type { Catalog, CatalogViews } from "@svc/catalog";
import type { AddressGuard, Clock, KeyId, Sealer, Turns } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { Restore } from "@svc/db/restores/repo";
import type { BodyRenderer, Dispatcher } from "@svc/delivery";
import type { Filters } from "../filters/filters.ts";
import type { PublishContext } from "../own/publish.ts";
import type { EventPolls } from "../polls/polls.ts";
import type { PrivateWebhooks } from "../private-webhooks.ts";
import type { Quarantine } from "../quarantine.ts";
import type { StoreOptions } from "../store.ts";

/** Dependencies of the methods of TriggersService. */
export type TriggersContext = {
  db: Executor;
  catalog: Catalog;
  views: CatalogViews;
  /** Lets the node do other work between the parts of large work. */
  turns: Pick<Turns, "next">;
  storeEvent: PublishContext["storeEvent"];
  onPublished?: PublishContext["onPublished"];
  clock: Clock;
  sealer: Sealer;
  guard: AddressGuard;
  dispatcher: Pick<Dispatcher, "wake" | "expire">;
  store: StoreOptions;
  filters: Filters;
  renderBody: BodyRenderer;
  /** Waits between the attempts of a delivery, milliseconds. Default: the schedule that the engine uses by default. */
  retryScheduleMs?: readonly number[] | undefined;
  privateWebhooks: PrivateWebhooks;
  quarantine: Quarantine;
  polls: EventPolls;
  /** Makes the engine check for due throttled replays now, because a replay was started or resumed. */
  wakeReplays(): void;
  /** Returns the last restore of the database from a backup. After a restore, svc sends nothing until an operator resumes it. */
  restored?: (() => Restore | undefined) | undefined;
  /** Name of the deployment's cell, which the paths of incoming webhooks carry. Undefined if the deployment is not a cell. */
  cell?: string | undefined;
  /** Returns the address of the portal with a trailing slash. Undefined if no console is served, and so no portal. */
  portalUrl?: (() => string) | undefined;
  /**
   * Called with the ids of the keys that an API call has ended (for example by revoking portal links), so that this node refuses these keys
   * at once.
   */
  onKeysEnded?: ((ids: readonly KeyId[]) => void) | undefined;
  /** Returns the current value of an environment variable of the deployment, for example one that contains the secret of a webhook. */
  secretOf(name: string): string | undefined;
};
