import type { CallOutcome } from "@svc/db/schema/words";

export { type CallOutcome, callOutcomes } from "@svc/db/schema/words";

/** One way in which arguments miss the tool's input schema. */
export type ArgumentFault = {
  /** JSON Pointer to the value; empty for the arguments as a whole. */
  readonly pointer: string;
  readonly message: string;
  /** What was given there, as JSON text of at most 200 characters; empty when it is missing or sensitive. */
  readonly givenJson: string;
  /** The property that is missing there; absent of any other fault. */
  readonly missing?: string;
};

/** A request as people may see it: credential and sensitive values are masked. */
export type RequestPreview = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** What came of a call, before `fields` and `maxBytes` shape it for its caller. */
export type CallResult = {
  readonly outcome: CallOutcome;
  /** The trimmed answer; undefined unless the outcome is `ok`. */
  readonly value: unknown;
  readonly message: string;
  /** Whether the same call may be sent again and may then succeed. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** 0 when the app did not answer. */
  readonly providerStatus: number;
  readonly warnings: readonly string[];
  readonly faults: readonly ArgumentFault[];
  readonly preview: RequestPreview | undefined;
};

/** A result with what most outcomes leave empty. */
export function resultOf(part: Partial<CallResult> & Pick<CallResult, "outcome">): CallResult {
  return {
    value: undefined,
    message: "",
    retryable: false,
    retryAfterMs: undefined,
    providerStatus: 0,
    warnings: [],
    faults: [],
    preview: undefined,
    ...part,
  };
}
