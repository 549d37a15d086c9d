import type { Action, SchemaFault, Tool, Toolkit } from "@svc/catalog";
import type { AccountFault, AppRequest, AppTransport, CallableAccount } from "@svc/connections";
import type { HooksOfCall } from "../../hooks/call-hooks.ts";
import type { CallResult, RequestPreview } from "../../outcome.ts";
import type { CallRequest } from "../call-request.ts";
import type { LedgerEntry } from "../record/ledger.ts";

/** A call as it is asked for, of a tool that exists, with the arguments that the tool's schema leaves. */
export type CallPlan = CallRequest & {
  readonly toolkit: Toolkit;
  readonly tool: Tool;
  /** Faults of what there was too much of in the arguments, and is there no longer. */
  readonly excess: readonly SchemaFault[];
  /** Of tool, account and arguments. */
  readonly callDigest: Buffer;
  /** The app's idempotency key; empty for a tool that takes none. */
  readonly appKey: string;
  /** True if the caller sends the same key to the app when it repeats the call. */
  readonly keepsAppKey: boolean;
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

/** A call that is made so far: how the ledger knows it, what it was planned as, what would be sent, and who is asked about it. */
export type MadeCall<Prepared = PreparedCall | EndedCall> = {
  readonly entry: LedgerEntry;
  readonly plan: CallPlan;
  readonly prepared: Prepared;
  readonly hooks: HooksOfCall | undefined;
};
