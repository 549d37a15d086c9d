import type { Action, Toolkit } from "@svc/catalog";
import type { AccountId, Binding, ConfirmRule, Id, KeyId, ProjectId, Role } from "@svc/core";
import type { CallRecord } from "@svc/db/calls/repo";
import type { SecretUse } from "./prepare/secret-uses.ts";

/** The caller of a tool and its job, if any. */
export type Caller = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId | undefined;
  /** Role of the key, if a key calls. Only an approver's key starts a plan that needs approval. */
  readonly role?: Role | undefined;
  /** Scope of the caller, which its jobs inherit. Undefined: not scoped. */
  readonly binding?: Binding | undefined;
  /** Rules by which a person confirms the caller's calls. Undefined: none. Jobs ask a person themselves. */
  readonly confirm?: readonly ConfirmRule[] | undefined;
  readonly job?: { readonly id: Id<"job">; readonly stepId: string } | undefined;
};

/** Arguments that are created when a call is prepared, and the values among them that no text may repeat. */
export type LateArguments = { readonly args: Readonly<Record<string, unknown>>; readonly secrets: readonly string[] };

/** A job's information about a call that it makes, possibly again. */
type CallOfJob = {
  /** Idempotency key of an earlier svc version. A call that holds it also holds the current key. */
  readonly formerKey?: string | undefined;
  /**
   * True if the job knows of no earlier call with the key; the key is then taken without a lookup. If a call holds it all the same, that
   * call's outcome is returned as usual.
   */
  readonly isFirst?: boolean | undefined;
  /**
   * End of the restored backup, epoch milliseconds, if the original database may have made the call since. A write to an app without
   * idempotency keys is then not sent, and its outcome is unknown.
   */
  readonly restoredFrom?: number | undefined;
  /** Receives the ledger row at the end of the call, to commit it with the job's own changes. Default: the row is committed at once. */
  readonly takeRecord?: ((record: CallRecord) => void) | undefined;
};

/** A request to call a tool. */
export type CallRequest = {
  readonly caller: Caller;
  readonly toolSlug: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly entityId: string;
  readonly accountId: AccountId | undefined;
  /** The caller's idempotency key. Undefined: every call is executed. */
  readonly idempotencyKey: string | undefined;
  readonly job?: CallOfJob | undefined;
  /** True to show the request without sending it. */
  readonly isDryRun: boolean;
  /** Idempotency key for the app, if the caller keeps its own over repeats, as jobs do. */
  readonly appKey?: string | undefined;
  /** Definition to call, instead of the one that the project sees now. */
  readonly pinned?: { readonly toolkit: Toolkit; readonly action: Action } | undefined;
  /** Time for the call, milliseconds. At most 30 s, which is the default. */
  readonly timeoutMs?: number | undefined;
  /** Maximum wait for a full limit, milliseconds. Default 2 s. 0 for callers that try again later by themselves. */
  readonly limitWaitMs?: number | undefined;
  /** Secrets of the project that replace values in `args` when the call is sent. */
  readonly secretUses?: readonly SecretUse[] | undefined;
  /**
   * Creates the arguments when the call is prepared. Parts that differ each time do not count when two calls are compared. Also returns the
   * values that no text may repeat.
   */
  readonly late?: (() => Promise<LateArguments>) | undefined;
  /**
   * Set if the caller can ask a person itself. If the call's rules allow `elicitation`, the caller gets the question and no job starts.
   * `confirmed`: name of the call that the person confirmed.
   */
  readonly person?: { readonly confirmed: string | undefined } | undefined;
  /**
   * Values that no message about the call may quote, in addition to its sensitive arguments: a job passes values that others keep secret.
   */
  readonly secrets?: readonly string[] | undefined;
};
