import type { ResultImage } from "@svc/connections";
import type { CallOutcome } from "@svc/db/schema/words";

export { type CallOutcome, callOutcomes } from "@svc/db/schema/words";

/** A fault of a call's arguments against the tool's input schema. */
export type ArgumentFault = {
  /** JSON Pointer to the argument with the fault. Empty if the fault concerns the arguments as a whole. */
  readonly pointer: string;
  readonly message: string;
  /** Given value as JSON text, at most 200 characters; empty if it is missing or sensitive. */
  readonly givenJson: string;
  /** Name of the missing property; absent for other faults. */
  readonly missing?: string;
};

/** A request as people may see it: the credential and sensitive values are masked. */
export type RequestPreview = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Result of a tool call, before it is cut to the fields and the size that the caller requested. */
export type CallResult = {
  readonly outcome: CallOutcome;
  /** The app's answer, reduced to the fields that the tool's output schema declares. Undefined unless the outcome is `ok`. */
  readonly value: unknown;
  readonly message: string;
  /** True if the same call may be sent again and may then succeed. False if a repeat cannot help or is not safe. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** HTTP status of the app's answer. 0 if the app did not answer. */
  readonly providerStatus: number;
  readonly warnings: readonly string[];
  readonly faults: readonly ArgumentFault[];
  readonly preview: RequestPreview | undefined;
  /**
   * True if svc did not send the call, because the MCP server describes the tool otherwise than when an approver accepted it. The same call
   * may be sent after the change was accepted or taken back. Absent for every other result.
   */
  readonly isWithheld?: true | undefined;
  /** Images of the app's answer, for agents. They are not stored. Absent if there are none, or if the caller takes none. */
  readonly images?: readonly ResultImage[] | undefined;
};

/**
 * Returns a complete result of a call. Fields that `part` does not contain are filled with empty values, because most outcomes leave them
 * empty.
 */
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
