import type { JsonSchema } from "@svc/catalog";
import type { JsonObject } from "./json.ts";
import type { Limits } from "./limits.ts";
import type { Point } from "./point.ts";
import type { Step } from "./steps/index.ts";
import type { DeclaredResult } from "./template.ts";

/** A program of version 1 with a valid shape: every default applied, durations in milliseconds, references parsed. */
export type Program = {
  readonly version: 1;
  readonly title: string;
  /** Undefined if the program has no input. Such a program cannot be promoted. */
  readonly inputSchema: JsonSchema | undefined;
  /** The input with the defaults of inputSchema. */
  readonly input: JsonObject;
  readonly params: JsonObject;
  readonly limits: Limits;
  readonly approval: Approval;
  readonly steps: readonly Step[];
  readonly points: ReadonlyMap<string, Point>;
  /** The ends that the saga runs for. Empty if none is declared. */
  readonly sagaOn: readonly SagaEnd[];
  /** The declared result by name, in the declared order. */
  readonly result: DeclaredResult;
};

/** When the plan needs approval, and the contacts who are asked. Empty means all approvers. */
export type Approval = {
  readonly plan: PlanApproval;
  readonly escalation: readonly string[];
};

/** When a plan needs approval: never, if it has a destructive call, or always. */
export type PlanApproval = "never" | "destructive" | "always";

/** An end of a job that starts the undo. */
export type SagaEnd = "failed" | "aborted" | "cancelled";
