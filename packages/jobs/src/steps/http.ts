import { callKind } from "./call.ts";
import type { StepKind } from "./step-kind.ts";

/** A request of the program's own. It runs as a call does, by a definition that takes any answer: keys, doubt, retries and rows alike. */
export const httpKind: StepKind<"http"> = callKind;
