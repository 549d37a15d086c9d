import type { JsonSchema } from "@svc/catalog";
import type { JsonObject } from "./json.ts";
import type { Limits } from "./limits.ts";
import type { Point } from "./point.ts";
import type { Step } from "./steps/index.ts";
import type { DeclaredResult } from "./template.ts";

/** A program of version 1 that has its shape: every default applied, durations in milliseconds, references parsed. */
export type Program = {
  readonly version: 1;
  readonly title: string;
  /** Undefined when the program takes no input of its own; such a program cannot be promoted. */
  readonly inputSchema: JsonSchema | undefined;
  /** The input with the inputSchema's defaults applied. */
  readonly input: JsonObject;
  readonly params: JsonObject;
  readonly limits: Limits;
  readonly approval: Approval;
  readonly steps: readonly Step[];
  readonly points: ReadonlyMap<string, Point>;
  /** The ends that the saga runs for; empty when none is declared. */
  readonly sagaOn: readonly SagaEnd[];
  /** The declared result by name, in the order declared. */
  readonly result: DeclaredResult;
};

/** When the plan needs approval, and whom approvals are addressed to: contacts, or all approvers when empty. */
export type Approval = {
  readonly plan: PlanApproval;
  readonly escalation: readonly string[];
};

/** When a plan needs approval: never, when a destructive call stands in it, or always. */
export type PlanApproval = "never" | "destructive" | "always";

/** An end of a job that undoes what was done. */
export type SagaEnd = "failed" | "aborted" | "cancelled";
