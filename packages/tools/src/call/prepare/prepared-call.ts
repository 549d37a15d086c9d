import type { Action, SchemaFault, Tool, Toolkit } from "@svc/catalog";
import type { AccountFault, AppRequest, AppTransport, CallableAccount } from "@svc/connections";
import type { HooksOfCall } from "../../hooks/call-hooks.ts";
import type { CallResult, RequestPreview } from "../../outcome.ts";
import type { CallRequest } from "../call-request.ts";
import type { LedgerEntry } from "../record/ledger.ts";

/** A requested call of an existing tool, with the arguments that the tool's schema keeps. */
export type CallPlan = CallRequest & {
  readonly toolkit: Toolkit;
  readonly tool: Tool;
  /** Faults of excess arguments that were removed. */
  readonly excess: readonly SchemaFault[];
  /** Digest of tool, account and arguments. */
  readonly callDigest: Buffer;
  /** Idempotency key for the app; empty for a tool that takes none. */
  readonly appKey: string;
  /** True if the caller sends the same key to the app when it repeats the call. */
  readonly keepsAppKey: boolean;
};

/** Path of a prepared call to its app: the credential and the transport. */
export type CallWay = {
  /** Returns the request with its credential. */
  authorize(): Promise<AppRequest | AccountFault>;
  /** Called when the app refused the credential. True if a new one exists. */
  refused(): Promise<boolean>;
  /** Called when the app executed the request: its account records that the credential was accepted. */
  taken(): Promise<void>;
  readonly transport: AppTransport;
  /** True if the transport is the sandbox. */
  readonly isSandbox: boolean;
};

/** A call ready to be sent, except for the credential. */
export type PreparedCall = {
  readonly action: Action;
  readonly toolkit: Toolkit;
  /** Undefined for a program's own request. */
  readonly account: CallableAccount | undefined;
  readonly way: CallWay;
  readonly request: AppRequest;
  /** Returns the request as people may see it. Most calls never need it. */
  preview(): RequestPreview;
  /** Values of sensitive arguments and other values that the caller keeps secret. No text for people may contain them. */
  readonly secrets: readonly string[];
  /** Values of the project's secrets in the call. Nothing that is stored or answered may repeat them. */
  readonly vaulted: readonly string[];
};

/** A call that ends before anything is sent, with its account if one was found. `forPerson`: a person must confirm it. */
export type EndedCall = {
  readonly result: CallResult;
  readonly account: CallableAccount | undefined;
  readonly forPerson?: { readonly action: Action; readonly name: string } | undefined;
};

/** A call in progress: its ledger entry, its plan, the request to send, and the hooks to ask about it. */
export type MadeCall<Prepared = PreparedCall | EndedCall> = {
  readonly entry: LedgerEntry;
  readonly plan: CallPlan;
  readonly prepared: Prepared;
  readonly hooks: HooksOfCall | undefined;
};
