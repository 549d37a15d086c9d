import type { AskObserver } from "@svc/asks";
import type { RenewalObserver } from "@svc/connections";
import type { HeldLoop, ProjectId } from "@svc/core";
import type { DeliveryObserver } from "@svc/delivery";
import type { EngineObserver } from "@svc/jobs";
import type { StandingObserver } from "@svc/standing";
import type { CallObserver, EmbeddingsObserver } from "@svc/tools";
import type { ReplayObserver } from "@svc/triggers";

/** Who watches the engines of a node; packages/server turns it into log lines and metrics. */
export type NodeObserver = {
  /** An event was stored, and is new. Absent: nobody is told. */
  readonly eventStored?: (projectId: ProjectId, toolkitSlug: string) => void;
  readonly deliveries: DeliveryObserver;
  readonly calls: CallObserver;
  readonly renewals: RenewalObserver;
  readonly jobs: EngineObserver;
  readonly asks: AskObserver;
  readonly standing: StandingObserver;
  readonly replays: ReplayObserver;
  /** Somebody held the event loop for 250 ms or longer, and everybody else waited. */
  heldLoop(held: HeldLoop): void;
  readonly embeddings: EmbeddingsObserver;
  /** A private toolkit of the store breaks the rules of this version, and is left out. */
  toolkitBroken(projectId: ProjectId, toolkitSlug: string, error: Error): void;
  /** The outcome of an executed call could not be recorded. */
  callUnrecorded(callId: string, error: unknown): void;
  /** Renewing tokens failed, by no app's doing; it goes on. */
  renewalFailed(error: unknown): void;
  /** A round of a sweep failed; the next one comes. `what`: the rows that it removes. */
  sweepFailed(what: string, error: unknown): void;
};
