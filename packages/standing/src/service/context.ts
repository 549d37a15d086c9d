import type { StandingContext } from "../engine/context.ts";
import type { StandingEngine } from "../engine/engine.ts";

/** What the methods of StandingService share. */
export type StandingServiceContext = StandingContext & {
  /** The engine of this node: it decides about calls, and is woken by what becomes due. */
  readonly engine: Pick<StandingEngine, "wake" | "call">;
};
