import type { AskObserver } from "@svc/asks";
import type { RenewalObserver } from "@svc/connections";
import type { BlockedLoop, ProjectId } from "@svc/core";
import type { DeliveryObserver } from "@svc/delivery";
import type { EngineObserver } from "@svc/jobs";
import type { StandingObserver } from "@svc/standing";
import type { CallObserver, EmbeddingsObserver } from "@svc/tools";
import type { ReplayObserver } from "@svc/triggers";

/** Receiver of the observations of a node's engines. packages/server turns them into log lines and metrics. */
export type NodeObserver = {
  /** Called when a new event was stored. Absent if there is no receiver. */
  readonly eventStored?: (projectId: ProjectId, toolkitSlug: string) => void;
  readonly deliveries: DeliveryObserver;
  readonly calls: CallObserver;
  readonly renewals: RenewalObserver;
  readonly jobs: EngineObserver;
  readonly asks: AskObserver;
  readonly standing: StandingObserver;
  readonly replays: ReplayObserver;
  /** Called when work held the event loop for 250 ms or longer, and everything else waited. */
  heldLoop(held: BlockedLoop): void;
  readonly embeddings: EmbeddingsObserver;
  /** Called when a private toolkit of the store breaks the rules of this version. It is left out. */
  toolkitBroken(projectId: ProjectId, toolkitSlug: string, error: Error): void;
  /** Called when the outcome of an executed call could not be recorded. */
  callUnrecorded(callId: string, error: unknown): void;
  /** Called when renewing tokens failed for a reason that no app caused. It is tried again. */
  renewalFailed(error: unknown): void;
  /** Called when a round of a sweep failed. The next round follows. `what`: the rows that it removes. */
  sweepFailed(what: string, error: unknown): void;
};
