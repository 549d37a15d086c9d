export type { StandingEngine } from "./claim/engine.ts";
export type { StandingFaultPoint, StandingLimits } from "./context.ts";
export { createStanding, type StandingOptions, type StandingParts } from "./create-standing.ts";
export { standingSchema } from "./definition/forms.ts";
export { type DecidedRun, type StandingObserver, silentStandingObserver } from "./observer.ts";
export { type StandingSweepOptions, standingSweep } from "./retention.ts";
