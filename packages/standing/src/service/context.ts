import type { StandingContext } from "../context.ts";
import type { StandingEngine } from "../claim/engine.ts";

/** What the methods of StandingService share. */
export type StandingServiceContext = StandingContext & {
  /** The engine of this node: it decides about calls, and is woken by what becomes due. */
  readonly engine: Pick<StandingEngine, "wake" | "call">;
};
