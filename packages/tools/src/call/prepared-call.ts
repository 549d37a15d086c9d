import type { Action, SchemaFault, Tool, Toolkit } from "@svc/catalog";
import type { AccountFault, AppRequest, AppTransport, CallableAccount } from "@svc/connections";
import type { AccountId } from "@svc/core";
import type { CallResult, RequestPreview } from "../outcome.ts";
import type { Caller } from "./ledger.ts";
import type { SecretUse } from "./secret-uses.ts";

/** Arguments that are made when a call is prepared, and what of them no text may repeat. */
export type LateArguments = { readonly args: Readonly<Record<string, unknown>>; readonly secrets: readonly string[] };

/** A call as it is asked for, of a tool that exists. */
export type CallPlan = {
  readonly caller: Caller;
  readonly toolkit: Toolkit;
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  /** Faults of what there was too much of in the arguments, and is there no longer. */
  readonly excess: readonly SchemaFault[];
  readonly entityId: string;
  readonly accountId: AccountId | undefined;
  /** Of tool, account and arguments. */
  readonly callDigest: Buffer;
  readonly idempotencyKey: string | undefined;
  /** Which call a person has said yes to, where the caller asks the person itself. */
  readonly person?: { readonly confirmed: string | undefined } | undefined;
  /** The app's idempotency key; empty for a tool that takes none. */
  readonly appKey: string;
  /** What no message may quote, beside sensitive arguments. */
  readonly secrets?: readonly string[] | undefined;
  /** Makes the arguments anew. */
  readonly late?: (() => Promise<LateArguments>) | undefined;
  /** Secrets of the project that are filled in among the arguments. */
  readonly secretUses?: readonly SecretUse[] | undefined;
};

/** How a prepared call reaches its app: the credential, and what carries it. */
export type CallWay = {
  /** The request with its credential. */
  authorize(): Promise<AppRequest | AccountFault>;
  /** The app refused the credential: whether there is a new one. */
  refused(): Promise<boolean>;
  /** The app did what it was asked: its account notes that the credential was taken. */
  taken(): Promise<void>;
  readonly transport: AppTransport;
  /** Whether the transport is the sandbox. */
  readonly isSandbox: boolean;
};

/** A call that may be sent; its request still lacks the credential. */
export type PreparedCall = {
  readonly action: Action;
  readonly toolkit: Toolkit;
  /** Undefined for a request of a program's own. */
  readonly account: CallableAccount | undefined;
  readonly way: CallWay;
  readonly request: AppRequest;
  /** What people are shown of it; most calls show nobody anything. */
  preview(): RequestPreview;
  /** What the sensitive arguments hold, and what the caller knows of: no text that people read may have it. */
  readonly secrets: readonly string[];
  /** Values of the project's secrets that it carries: nothing that is kept or answered repeats one. */
  readonly vaulted: readonly string[];
};

/** A call that ends before anything is sent, with the account where one was found; `forPerson` where a person is to confirm it. */
export type EndedCall = {
  readonly result: CallResult;
  readonly account: CallableAccount | undefined;
  readonly forPerson?: { readonly action: Action; readonly name: string } | undefined;
};
