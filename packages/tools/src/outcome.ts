/**
 * What becomes of a call; the same set in jobs. Nothing was sent: `held` (destructive, unconfirmed), `invalid_arguments`,
 * `no_account`, `missing_scope`, `not_callable`, `not_bound`; nothing was executed: `account_unusable`, `rate_limited`,
 * `unreachable`. `timeout` is a read's; a write whose answer never came is `outcome_unknown`.
 */
export const callOutcomes = [
  "ok",
  "held",
  "invalid_arguments",
  "no_account",
  "account_unusable",
  "missing_scope",
  "not_callable",
  "not_bound",
  "rate_limited",
  "provider_error",
  "timeout",
  "unreachable",
  "outcome_unknown",
] as const;

/** One of the outcomes of a call. */
export type CallOutcome = (typeof callOutcomes)[number];

/** One way in which arguments miss the tool's input schema. */
export type ArgumentFault = {
  /** JSON Pointer to the value; empty for the arguments as a whole. */
  readonly pointer: string;
  readonly message: string;
  /** What was given there, as JSON text of at most 200 characters; empty when it is missing or sensitive. */
  readonly givenJson: string;
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
