import type { JsonSchema } from "@svc/catalog";
import type { JsonObject } from "./json.ts";
import type { Limits } from "./limits.ts";
import type { Point } from "./point.ts";
import type { Step } from "./steps/index.ts";
import type { DeclaredResult } from "./template.ts";

/** A program of version 1 whose form is valid. Defaults are applied, durations are in milliseconds, references are parsed. */
export type Program = {
  readonly version: 1;
  readonly title: string;
  /** Schema of the program's input. Undefined if it has none. A program without an input schema cannot be promoted to a skill. */
  readonly inputSchema: JsonSchema | undefined;
  /** The program's input, with the defaults of inputSchema applied. */
  readonly input: JsonObject;
  readonly params: JsonObject;
  readonly limits: Limits;
  readonly approval: Approval;
  readonly steps: readonly Step[];
  readonly points: ReadonlyMap<string, Point>;
  /** The ways in which a job can end (such as `failed`) after which the saga undoes its calls. Empty if the program has no saga. */
  readonly sagaOn: readonly SagaEnd[];
  /** The values that the program declares as its result, by name and in the declared order. */
  readonly result: DeclaredResult;
};

/**
 * The program's rules for its approval. `plan`: when people must approve it before it runs. `escalation`: the contacts who are asked one
 * after another; an empty list means all approvers.
 */
export type Approval = {
  readonly plan: PlanApproval;
  readonly escalation: readonly string[];
};

/** When people must approve a program before it runs: never, only if the program has a destructive call, or always. */
export type PlanApproval = "never" | "destructive" | "always";

/** End of a job for which a program can request that svc undoes the job's calls (a saga). */
export type SagaEnd = "failed" | "aborted" | "cancelled";
