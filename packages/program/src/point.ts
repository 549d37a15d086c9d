import type { JsonSchema } from "@svc/catalog";
import type { TextTemplate } from "./template.ts";

/** The choices of an answer. */
export type Continuation = "proceed" | "retry-with" | "skip" | "abort";

/** A question that a step may put to people. An approval gate has the continuations proceed and abort and no escalation. */
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

/** What a `retry-with` answer changes, and the step that the job goes back to (only at judge steps). */
export type Overrides = { readonly target: OverrideTarget; readonly rerunFrom: string | undefined };

/** The program's params, or the arguments of one call. */
export type OverrideTarget = { readonly kind: "params" } | { readonly kind: "args"; readonly step: string };

/** One hop of an escalation. Without a timeout the question stays there. */
export type Hop = { readonly principal: string; readonly timeoutMs: number | undefined };
