import type { JsonSchema } from "@svc/catalog";

/** A JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export type JsonObject = { readonly [name: string]: JsonValue };

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
  readonly result: readonly (readonly [string, ValueTemplate])[];
};

/** An end of a job that undoes what was done. */
export type SagaEnd = "failed" | "aborted" | "cancelled";

/** What a job may use. */
export type Limits = {
  readonly deadlineMs: number;
  readonly toolCalls: number;
  readonly writes: number;
  readonly rows: number;
  readonly asks: number;
  readonly concurrency: number;
};

/** When the plan needs approval, and whom approvals are addressed to: contacts, or all approvers when empty. */
export type Approval = {
  readonly plan: PlanApproval;
  readonly escalation: readonly string[];
};

/** When a plan needs approval: never, when a destructive call stands in it, or always. */
export type PlanApproval = "never" | "destructive" | "always";

/** One step. `pointer` is the JSON Pointer of the step in the program's text. */
export type Step = CallStep | FilterStep | MapStep | ReduceStep | JudgeStep | IfStep | WaitStep;

type StepBase = { readonly id: string; readonly pointer: string };

/** One tool call: a step of its own, or one of a map's `do`, which has no `rows`. */
export type CallStep = StepBase & {
  readonly kind: "call";
  readonly tool: string;
  readonly entity: string;
  /** Of kind `object` or, when it holds no reference, `literal`. */
  readonly args: ValueTemplate;
  readonly rows: RowsSpec | undefined;
  readonly retry: Retry;
  readonly timeoutMs: number;
  readonly undo: UndoCall | undefined;
};

/** The call that takes a call back. Its references may name `output`. */
export type UndoCall = {
  readonly tool: string;
  readonly entity: string;
  readonly args: ValueTemplate;
  readonly retry: Retry;
  readonly timeoutMs: number;
  readonly pointer: string;
};

/** How the list of an answer becomes a row set named as the step. */
export type RowsSpec = {
  /** Path of the list in the trimmed answer. */
  readonly from: Path;
  /** Field that identifies a row, undefined for its ordinal. */
  readonly key: string | undefined;
  /** Fields that are kept. Of items that are no objects the one field is `value`. */
  readonly keep: readonly string[];
  readonly page: PageSpec | undefined;
};

/** How the next page is asked for: argument `arg` takes what stands at `from` in the answer, for at most `max` pages. */
export type PageSpec = { readonly arg: string; readonly from: Path; readonly max: number };

/** How retryable outcomes are tried again: `max` times, waiting initialMs * factor^n, at most capMs. */
export type Retry = {
  readonly max: number;
  readonly initialMs: number;
  readonly factor: number;
  readonly capMs: number;
};

/** The rows of a set for which an expression holds, as a new set. */
export type FilterStep = StepBase & { readonly kind: "filter"; readonly source: string; readonly where: Expression };

/** Calls for each row of a set. Its set has the rows of the source, each with the state it ended in. */
export type MapStep = StepBase & {
  readonly kind: "map";
  readonly source: string;
  readonly concurrency: number;
  /** Failed rows are tolerated while both bounds are kept: at most `count`, and at most `percent` of the rows. */
  readonly tolerate: { readonly count: number; readonly percent: number };
  /** Names of points. */
  readonly onRows: { readonly failed: string | undefined; readonly unknown: string | undefined };
  readonly calls: readonly CallStep[];
};

/** The state a row of a map ended in. */
export type RowState = "ok" | "failed" | "skipped" | "unknown";

/** Numbers over a set, by name. */
export type ReduceStep = StepBase & {
  readonly kind: "reduce";
  readonly source: string;
  readonly as: readonly (readonly [string, Reduction])[];
};

/** One number over a set: how many rows (of one state), or a sum, least, greatest or mean of a field's numbers. */
export type Reduction =
  | { readonly kind: "count"; readonly state: RowState | undefined }
  | { readonly kind: "sum" | "min" | "max" | "avg"; readonly field: Path };

/** Asks a point; with `when` false it is skipped. */
export type JudgeStep = StepBase & {
  readonly kind: "judge";
  readonly point: string;
  readonly when: Expression | undefined;
};

/** One of two lists of steps, which hold any step but `if`. */
export type IfStep = StepBase & {
  readonly kind: "if";
  readonly condition: Expression;
  readonly whenTrue: readonly PlainStep[];
  readonly whenFalse: readonly PlainStep[];
};

/** A step that may stand in a branch. */
export type PlainStep = Exclude<Step, IfStep>;

/** Waits for a time to pass, or until a time. */
export type WaitStep = StepBase & {
  readonly kind: "wait";
  readonly wait: { readonly forMs: number } | { readonly until: ValueTemplate };
};

/** What an answer may pick. */
export type Continuation = "proceed" | "retry-with" | "skip" | "abort";

/** A question that a step may put to people. Of an approval gate, continuations are proceed and abort, and the ladder is empty. */
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

/** What a `retry-with` answer changes, and the step that the job goes back to (at judge steps only). */
export type Overrides = { readonly target: OverrideTarget; readonly rerunFrom: string | undefined };

/** The program's params, or the arguments of one call. */
export type OverrideTarget = { readonly kind: "params" } | { readonly kind: "args"; readonly step: string };

/** One hop of a ladder. Without a timeout the question stays there. */
export type Hop = { readonly principal: string; readonly timeoutMs: number | undefined };

/** A CEL expression; `pointer` is where it stands. compileExpression makes it run, once for each of these objects. */
export type Expression = { readonly source: string; readonly pointer: string };

/** Steps into a value: names of fields and indexes of lists. */
export type Path = readonly (string | number)[];

/** Where a reference may start. */
export type ReferenceRoot = "input" | "params" | "steps" | "row" | "output" | "calls" | "rows";

/** A parsed path. After `steps`, `calls` and `rows` the first entry of `path` is the id. */
export type Reference = {
  readonly text: string;
  readonly root: ReferenceRoot;
  readonly path: Path;
  readonly pointer: string;
};

/** A text with references in it. */
export type TextTemplate = { readonly kind: "text"; readonly parts: readonly (string | Reference)[] };

/** A JSON value with references in it. `otherwise` stands in where a source was skipped or is absent. */
export type ValueTemplate =
  | { readonly kind: "literal"; readonly value: JsonValue }
  | {
      readonly kind: "reference";
      readonly reference: Reference;
      readonly otherwise: { readonly value: JsonValue } | undefined;
    }
  | TextTemplate
  | { readonly kind: "object"; readonly entries: readonly (readonly [string, ValueTemplate])[] }
  | { readonly kind: "list"; readonly items: readonly ValueTemplate[] };

/** A kind of fault: exactly the PROGRAM_* reasons of SubmitJob. */
export type ProgramFaultCode =
  | "PROGRAM_TOO_LARGE"
  | "PROGRAM_MALFORMED"
  | "PROGRAM_REFERENCE_INVALID"
  | "PROGRAM_TOOL_UNKNOWN"
  | "PROGRAM_TOOL_NOT_CALLABLE"
  | "PROGRAM_ACCOUNT_MISSING"
  | "PROGRAM_ARGUMENT_INVALID"
  | "PROGRAM_CONFIRM_MISSING"
  | "PROGRAM_EXPRESSION_INVALID"
  | "PROGRAM_POINT_INVALID"
  | "PROGRAM_CONTACT_UNKNOWN"
  | "PROGRAM_LIMIT_INVALID";

/** One thing wrong with a program. `pointer` is a JSON Pointer that resolves in it; `hint` says what would be right. */
export type ProgramFault = {
  readonly code: ProgramFaultCode;
  readonly pointer: string;
  readonly message: string;
  readonly hint: string;
};

/** Every step of a list and of its branches, in program order; calls inside maps are not among them. */
export function* stepsOf(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step;
    if (step.kind !== "if") continue;
    yield* stepsOf(step.whenTrue);
    yield* stepsOf(step.whenFalse);
  }
}

/** Every call of a list of steps, in program order: steps of their own and those of maps. Undo calls are not among them. */
export function callsOf(steps: readonly Step[]): CallStep[] {
  return [...stepsOf(steps)].flatMap((step) => {
    if (step.kind === "call") return [step];
    return step.kind === "map" ? step.calls : [];
  });
}
