import type { JsonSchema } from "@svc/catalog";
import type { TextTemplate } from "./template.ts";

/**
 * What a job does after a person has answered its question. `proceed`: continue. `retry-with`: run again with the values that the person
 * changed. `skip`: skip the next step, or mark the rows that the question is about as skipped. `abort`: end.
 */
export type Continuation = "proceed" | "retry-with" | "skip" | "abort";

/**
 * A question that a step of a program may ask people (a judgment point). An approval gate is a question without an escalation that allows
 * only the answers `proceed` and `abort`.
 */
export type Point = {
  readonly id: string;
  readonly pointer: string;
  readonly isApproval: boolean;
  readonly question: TextTemplate;
  readonly continuations: readonly Continuation[];
  readonly overrides: Overrides | undefined;
  readonly answerSchema: JsonSchema | undefined;
  readonly escalation: readonly Hop[];
  readonly defaultContinuation: Continuation | undefined;
};

/**
 * Changes that a person may make with the answer `retry-with`. `target`: the values that can be changed. `rerunFrom`: the step from which
 * the job then runs again. It is set only for questions of `judge` steps (steps that ask a person).
 */
export type Overrides = { readonly target: OverrideTarget; readonly rerunFrom: string | undefined };

/** The target of changes in a person's answer to a question: the inputs of the program, or the arguments of one call. */
export type OverrideTarget = { readonly kind: "params" } | { readonly kind: "args"; readonly step: string };

/**
 * A hop, one stage of an escalation: the contact who is asked. `timeoutMs`: time until the next hop is asked. Without a timeout, the
 * question stays at this hop.
 */
export type Hop = { readonly principal: string; readonly timeoutMs: number | undefined };
