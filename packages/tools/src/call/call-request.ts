import type { Action, Toolkit } from "@svc/catalog";
import type { SeenAccounts } from "@svc/connections";
import type { AccountId, Binding, ConfirmRule, Id, KeyId, ProjectId, Role } from "@svc/core";
import type { CallRecord } from "@svc/db/calls/repo";
import type { SecretUse } from "./prepare/secret-uses.ts";

/** The caller of a tool: a key of a project and, if a job makes the call, this job. */
export type Caller = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId | undefined;
  /** Role of the calling key, if a key calls. */
  readonly role?: Role | undefined;
  /** Scope of the caller. Jobs that the caller starts inherit this scope. Undefined: the caller is not scoped. */
  readonly binding?: Binding | undefined;
  /**
   * Rules that say which calls of the caller a person must confirm. Undefined if there are none. For calls of jobs it is always undefined,
   * because a job asks people itself.
   */
  readonly confirm?: readonly ConfirmRule[] | undefined;
  readonly job?: { readonly id: Id<"job">; readonly stepId: string } | undefined;
};

/** Arguments that are made only when the call is prepared. `secrets`: values in these arguments that no message may quote. */
export type LateArguments = { readonly args: Readonly<Record<string, unknown>>; readonly secrets: readonly string[] };

/** Facts from a job about one of its calls. A job may make the same call again after a crash. */
type CallOfJob = {
  /** Idempotency key that an earlier version of svc used for the same call. svc searches for an earlier call under both keys. */
  readonly formerKey?: string | undefined;
  /**
   * True if the job knows of no earlier call with this idempotency key. svc then takes the key without a search for an earlier call. If an
   * earlier call has the key anyway, svc returns that call's outcome.
   */
  readonly isFirst?: boolean | undefined;
  /**
   * End of the backup that was restored, in epoch milliseconds. Set if the call may have been made after that time, in the lost part of the
   * database. A write to an app without idempotency keys is then not sent, and its outcome is unknown.
   */
  readonly restoredFrom?: number | undefined;
  /**
   * Receives the call's ledger row (the stored record of a tool call) when the call ends. The job then commits the row together with its
   * own changes. Default: svc commits the row at once.
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
  /**
   * Accounts that the caller has just read from the database for the same API request, so that the call need not read them again. Default:
   * the call reads its account itself.
   */
  readonly seen?: SeenAccounts | undefined;
  /** The caller's idempotency key. Undefined: every call is executed. */
  readonly idempotencyKey: string | undefined;
  readonly job?: CallOfJob | undefined;
  /** True for a dry run: the caller gets the request that svc would send to the app, and nothing is sent. False for a real call. */
  readonly isDryRun: boolean;
  /**
   * Idempotency key that is sent to the app. A job sets it, because the job sends the app the same key each time it repeats the call.
   * Default: svc derives a key from the caller's idempotency key and the call.
   */
  readonly appKey?: string | undefined;
  /** Stored (pinned) tool definition to call, instead of the definition that the project sees now. */
  readonly pinned?: { readonly toolkit: Toolkit; readonly action: Action } | undefined;
  /** Maximum duration of the call, milliseconds. Default and maximum: 30 s. */
  readonly timeoutMs?: number | undefined;
  /**
   * Maximum time to wait until a call limit permits the call, in milliseconds. Default 2 s. Callers that repeat the call themselves pass 0.
   */
  readonly limitWaitMs?: number | undefined;
  /** Secrets of the project that replace values in `args` when the call is sent. */
  readonly secretUses?: readonly SecretUse[] | undefined;
  /**
   * Returns arguments that are added to the call when it is prepared, for example a link. They may be different each time, so they are
   * ignored when two calls are compared. The result also names those values in them that no message may quote.
   */
  readonly late?: (() => Promise<LateArguments>) | undefined;
  /**
   * Set if the client can ask its own user to confirm the call. svc then needs no job to ask, if the project's rules allow this.
   * `confirmed`: identifies the call that the user has confirmed.
   */
  readonly person?: { readonly confirmed: string | undefined } | undefined;
  /** True if the caller takes images of the answer. Default: the result has a warning in their place. */
  readonly takesImages?: boolean | undefined;
  /**
   * Values that no message about the call may quote, in addition to the call's sensitive arguments. A job passes values that other parts of
   * the job keep secret.
   */
  readonly secrets?: readonly string[] | undefined;
};
