import type { CatalogViews } from "@svc/catalog";
import type { AddressGuard, Clock, Sealer } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { Dispatcher } from "@svc/delivery";
import type { EventPolls } from "../polls/polls.ts";

/** Objects that the MCP methods for events (such as `events/subscribe` and `events/poll`) need. */
export type AgentEventsContext = {
  readonly db: Executor;
  /** The catalog of each project. */
  readonly views: Pick<CatalogViews, "forProject">;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly guard: AddressGuard;
  readonly dispatcher: Pick<Dispatcher, "wake" | "expire" | "tell">;
  readonly polls: EventPolls;
};
