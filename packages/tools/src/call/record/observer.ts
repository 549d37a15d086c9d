import type { AccountId, Id, KeyId, ProjectId } from "@svc/core";
import type { CallOutcome } from "../../outcome.ts";

/**
 * An ended call of the ledger (stored record of tool calls), for logs and metrics. It does not contain the request, the entity (customer or
 * user) or the app's text.
 */
export type CallObservation = {
  readonly callId: Id<"call">;
  readonly projectId: ProjectId;
  readonly keyId: KeyId | undefined;
  readonly jobId: Id<"job"> | undefined;
  readonly stepId: string | undefined;
  readonly toolSlug: string;
  /** Access class of the called tool: `read`, `write` or `destructive`. */
  readonly accessClass: string;
  readonly accountId: AccountId | undefined;
  readonly outcome: CallOutcome;
  /** The app's HTTP status. 0 if the app did not answer. */
  readonly providerStatus: number;
  readonly retryable: boolean;
  readonly warnings: number;
  /** True if the sandbox of svc answered the call. False if the real app was called. */
  readonly sandbox: boolean;
  /** Time from the request to the end of the call, in milliseconds. The app took `providerMs` of this time. */
  readonly durationMs: number;
  readonly providerMs: number;
};

/** Observes the calls of tools. packages/server writes log lines and metrics from it. */
export type CallObserver = {
  /**
   * Called when a tool call has ended, before its end is committed. Not called for dry runs. Not called if a repeated call gets the stored
   * result of the first one. `message`: the message that the ledger stores encrypted. It may quote the app, so it must not be logged.
   */
  ended(call: CallObservation, message: string): void;
};
