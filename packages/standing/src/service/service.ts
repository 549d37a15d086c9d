import type { ServiceImpl } from "@connectrpc/connect";
import type { StandingService } from "@svc/gen/standing";
import type { StandingContext } from "../engine/context.ts";
import type { StandingEngine } from "../engine/engine.ts";
import { programMethods } from "./programs.ts";
import { runMethods } from "./runs.ts";

/** What the methods of StandingService share. */
export type StandingServiceContext = StandingContext & {
  /** The engine of this node: it decides about calls, and is woken by what becomes due. */
  readonly engine: Pick<StandingEngine, "wake" | "call">;
};

/** StandingService over one store; every method takes its project from the calling key. */
export function createStandingService(context: StandingServiceContext): ServiceImpl<typeof StandingService> {
  return { ...programMethods(context), ...runMethods(context) };
}
