import type { Action, Toolkit } from "@svc/catalog";
import type { SeenAccounts } from "@svc/connections";
import type { AccountId, Binding, ConfirmRule, Id, KeyId, ProjectId, Role } from "@svc/core";
import type { CallRecord } from "@svc/db/calls/repo";
import type { SecretUse } from "./prepare/secret-uses.ts";

/** The caller of a tool, and the caller's job if a job calls. */
export type Caller = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId | undefined;
  /** Role of the key, if a key calls. Only an approver's key can start a plan that needs approval. */
  readonly role?: Role | undefined;
  /** Scope of the caller. Jobs that the caller starts inherit this scope. Undefined: the caller is not scoped. */
  readonly binding?: Binding | undefined;
  /** Rules that say which of the caller's calls a person must confirm. Undefined: no rules. Jobs ask a person themselves. */
  readonly confirm?: readonly ConfirmRule[] | undefined;
  readonly job?: { readonly id: Id<"job">; readonly stepId: string } | undefined;
};

/** Arguments that are created when a call is prepared. `secrets`: the values among these arguments that no text may repeat. */
export type LateArguments = { readonly args: Readonly<Record<string, unknown>>; readonly secrets: readonly string[] };

/** Information from a job about a call that the job makes. The job may repeat the call. */
type CallOfJob = {
  /**
   * Idempotency key that an earlier svc version used for this call. If an earlier call has this former key, that call also counts as the
   * holder of the current key.
   */
  readonly formerKey?: string | undefined;
  /**
   * True if the job knows of no earlier call with the key; svc then takes the key without a lookup. If an earlier call has the key anyway,
   * svc returns the earlier call's outcome as usual.
   */
  readonly isFirst?: boolean | undefined;
  /**
   * End of the restored backup, epoch milliseconds. Set if the original database may have made the call after that time. A write to an app
   * without idempotency keys is then not sent, and the write's outcome is unknown.
   */
  readonly restoredFrom?: number | undefined;
  /**
   * Receives the ledger row at the end of the call, so that the job can commit the row with its own changes. Default: svc commits the row
   * at once.
   */
  readonly takeRecord?: ((record: CallRecord) => void) | undefined;
};

/** A request to call a tool. */
export type CallRequest = {
  readonly caller: Caller;
  readonly toolSlug: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly entityId: string;
  readonly accountId: AccountId | undefined;
  /** Accounts that the caller's request has just looked up. Default: the call looks its account up. */
  readonly seen?: SeenAccounts | undefined;
  /** The caller's idempotency key. Undefined: every call is executed. */
  readonly idempotencyKey: string | undefined;
  readonly job?: CallOfJob | undefined;
  /** True to show the request without sending it. */
  readonly isDryRun: boolean;
  /** Idempotency key for the app. Set if the caller uses the same app key for every repeat of the call, as jobs do. */
  readonly appKey?: string | undefined;
  /** Definition to call, instead of the definition that the project sees now. */
  readonly pinned?: { readonly toolkit: Toolkit; readonly action: Action } | undefined;
  /** Maximum duration of the call, milliseconds. Default and maximum: 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Maximum wait for a full limit, milliseconds. Default 2 s. 0 for callers that repeat the call themselves. */
  readonly limitWaitMs?: number | undefined;
  /** Secrets of the project that replace values in `args` when the call is sent. */
  readonly secretUses?: readonly SecretUse[] | undefined;
  /**
   * Creates arguments when the call is prepared, and names the values that no text may repeat. Created arguments may differ each time, so
   * they are ignored when two calls are compared.
   */
  readonly late?: (() => Promise<LateArguments>) | undefined;
  /**
   * Set if the caller can ask a person itself. If the call's rules allow `elicitation`, the caller then receives the question, and no job
   * starts. `confirmed`: name of the call that the person confirmed.
   */
  readonly person?: { readonly confirmed: string | undefined } | undefined;
  /**
   * Values that no message about the call may quote, in addition to the call's sensitive arguments. A job passes values that other parts of
   * the job keep secret.
   */
  readonly secrets?: readonly string[] | undefined;
};
