import type { AccountId, Id, KeyId, ProjectId } from "@svc/core";
import type { CallOutcome } from "../../outcome.ts";

/** A call of the ledger as it ended, for logs and metrics. What was sent, for whom, and what the app said are not among it. */
export type CallObservation = {
  readonly callId: Id<"call">;
  readonly projectId: ProjectId;
  readonly keyId: KeyId | undefined;
  readonly jobId: Id<"job"> | undefined;
  readonly stepId: string | undefined;
  readonly toolSlug: string;
  /** `read`, `write` or `destructive`. */
  readonly accessClass: string;
  readonly accountId: AccountId | undefined;
  readonly outcome: CallOutcome;
  /** 0 when the app did not answer. */
  readonly providerStatus: number;
  readonly retryable: boolean;
  readonly warnings: number;
  /** Whether the sandbox answered in place of the app. */
  readonly sandbox: boolean;
  /** From the request to its end, and how much of it the app took. */
  readonly durationMs: number;
  readonly providerMs: number;
};

/** Who watches the calls of tools; packages/server turns it into log lines and metrics. */
export type CallObserver = {
  /** A call ended; that it did is not committed yet. Repeats that are answered from the ledger, and dry runs, end nothing. */
  ended(call: CallObservation): void;
};
