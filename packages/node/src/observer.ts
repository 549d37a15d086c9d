import type { AskObserver } from "@svc/asks";
import type { SourceReading } from "@svc/catalog";
import type { RenewalObserver, UpstreamRequest } from "@svc/connections";
import type { BlockedLoop, ProjectId } from "@svc/core";
import type { DeliveryObserver } from "@svc/delivery";
import type { EngineObserver } from "@svc/jobs";
import type { StandingObserver } from "@svc/standing";
import type { CallObserver, EmbeddingsObserver } from "@svc/tools";
import type { EventPollObservation, FilterObservation, ReplayObserver } from "@svc/triggers";

/** Receiver of the observations of a node's engines. packages/server turns them into log lines and metrics. */
export type NodeObserver = {
  /** Called when a new event was stored. Absent if nothing observes stored events. */
  readonly eventStored?: (projectId: ProjectId, toolkitSlug: string) => void;
  /** Called when a client's poll for events was answered. Absent if nothing counts polls. */
  readonly eventsPolled?: (poll: EventPollObservation) => void;
  /** Called when the filters of subscriptions were applied to an event. Absent if nothing counts them. */
  readonly eventFiltered?: (filtered: FilterObservation) => void;
  /**
   * Called each time a project publishes an event of its own through the API. `outcome`: stored, already known (`duplicate`), or refused.
   */
  readonly eventPublished?: (outcome: "stored" | "duplicate" | "refused") => void;
  /** Called when svc has read the source of a toolkit for an import or a refresh. Absent if nothing counts them. */
  readonly sourceRead?: (reading: SourceReading) => void;
  /** Called when a request of svc to an MCP server has ended. Absent if nothing counts them. */
  readonly upstreamAsked?: (request: UpstreamRequest) => void;
  /** Called when a search for tools was answered. `confidence`: that of the first tool; `none` if the search found no tool. */
  readonly toolsSearched?: (confidence: "high" | "medium" | "low" | "none") => void;
  readonly deliveries: DeliveryObserver;
  readonly calls: CallObserver;
  readonly renewals: RenewalObserver;
  readonly jobs: EngineObserver;
  readonly asks: AskObserver;
  readonly standing: StandingObserver;
  readonly replays: ReplayObserver;
  /** Called when one piece of work blocked the event loop for 250 ms or longer, so that all other work waited. */
  heldLoop(held: BlockedLoop): void;
  readonly embeddings: EmbeddingsObserver;
  /**
   * Called when a private toolkit (an app's tools, defined by a project) in the database breaks rules of this version of svc. The toolkit
   * is then not served.
   */
  toolkitBroken(projectId: ProjectId, toolkitSlug: string, error: Error): void;
  /** Called when a tool call was executed but its outcome could not be stored in the ledger (the record of tool calls). */
  callUnrecorded(callId: string, error: unknown): void;
  /**
   * Called when svc could not renew the tokens of a connected account for a reason inside svc, such as the database. svc tries again later.
   */
  renewalFailed(error: unknown): void;
  /**
   * Called when a round of a sweep (a loop that deletes expired rows) failed. The next round runs as usual. `what`: the rows that the sweep
   * deletes.
   */
  sweepFailed(what: string, error: unknown): void;
};
