import type { Action, Toolkit } from "@svc/catalog";
import type { AccountId, Binding, ConfirmRule, Id, KeyId, ProjectId, Role } from "@svc/core";
import type { CallRecord } from "@svc/db/calls/repo";
import type { SecretUse } from "./prepare/secret-uses.ts";

/** Who makes a call, and in which job. */
export type Caller = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId | undefined;
  /** The key's role, where a key calls: a plan that needs approval is begun by an approver's. */
  readonly role?: Role | undefined;
  /** What it is bound to, its jobs included; undefined for nothing. */
  readonly binding?: Binding | undefined;
  /** By which rules a person confirms its calls; undefined for none. Jobs have a person confirm their calls themselves. */
  readonly confirm?: readonly ConfirmRule[] | undefined;
  readonly job?: { readonly id: Id<"job">; readonly stepId: string } | undefined;
};

/** Arguments that are made when a call is prepared, and what of them no text may repeat. */
export type LateArguments = { readonly args: Readonly<Record<string, unknown>>; readonly secrets: readonly string[] };

/** What a job says of a call it makes, or makes again. */
type CallOfJob = {
  /** What an earlier version of svc called the idempotency key: a call that holds it holds the key. */
  readonly formerKey?: string | undefined;
  /**
   * True if no call was made under the key before, as far as the job knows: then it is taken without being looked for. One that is
   * held after all is answered from then on as ever.
   */
  readonly isFirst?: boolean | undefined;
  /**
   * The end of the backup that the store was restored from, if the store that it was taken of may have made the call since: a write to
   * an app that takes no keys is not sent, and in doubt. Epoch milliseconds.
   */
  readonly restoredFrom?: number | undefined;
  /** Takes the ledger's row of the call's end, to commit it with what follows from the call. Default: it is committed at once. */
  readonly takeRecord?: ((record: CallRecord) => void) | undefined;
};

/** A call as it is asked for. */
export type CallRequest = {
  readonly caller: Caller;
  readonly toolSlug: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly entityId: string;
  readonly accountId: AccountId | undefined;
  /** The caller's own; undefined when every call is to be executed. */
  readonly idempotencyKey: string | undefined;
  readonly job?: CallOfJob | undefined;
  /** Shows what would be sent, and sends nothing. */
  readonly isDryRun: boolean;
  /** The app's idempotency key where the caller keeps one of its own over repeats, as jobs do. */
  readonly appKey?: string | undefined;
  /** The definition to call by, in place of the one that the project sees now. */
  readonly pinned?: { readonly toolkit: Toolkit; readonly action: Action } | undefined;
  /** Time for the call, 30 s at most, which is the default. */
  readonly timeoutMs?: number | undefined;
  /** How long the call waits for its turn where a limit is full. Default 2 s. Who comes back by itself waits for none. */
  readonly limitWaitMs?: number | undefined;
  /** Secrets of the project that are filled in among the arguments when it is sent, in place of what `args` has there. */
  readonly secretUses?: readonly SecretUse[] | undefined;
  /**
   * Makes the arguments anew when the call is prepared, with what differs each time it is made, and so is no part of what makes two calls the
   * same; and what of them no text may repeat.
   */
  readonly late?: (() => Promise<LateArguments>) | undefined;
  /**
   * Where the caller can ask a person itself about a call that one confirms. If the rules of the call allow that (`elicitation`), it is told
   * what to ask about, and no job is begun. `confirmed` is the name of the call that the person has said yes to.
   */
  readonly person?: { readonly confirmed: string | undefined } | undefined;
  /** What no message about the call may quote, beside its sensitive arguments: a job hands a tool what others keep secret. */
  readonly secrets?: readonly string[] | undefined;
};
