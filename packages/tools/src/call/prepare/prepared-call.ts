import type { Action, SchemaFault, Tool, Toolkit } from "@svc/catalog";
import type { AccountFault, AppRequest, AppTransport, CallableAccount } from "@svc/connections";
import type { HooksOfCall } from "../../hooks/call-hooks.ts";
import type { CallResult, RequestPreview } from "../../outcome.ts";
import type { CallRequest } from "../call-request.ts";
import type { LedgerEntry } from "../record/ledger.ts";

/** A call of an existing tool, before it is sent. Its arguments are only those that the tool's schema allows. */
export type CallPlan = CallRequest & {
  readonly toolkit: Toolkit;
  readonly tool: Tool;
  /** Faults of the arguments that the tool's schema does not allow. These arguments were removed from the call. */
  readonly excess: readonly SchemaFault[];
  /**
   * Digest (hash) of the tool, the account and the arguments. It recognizes the same call, for example if an idempotency key is used again.
   */
  readonly callDigest: Buffer;
  /** Idempotency key for the app. Empty if the tool takes no key. */
  readonly appKey: string;
  /**
   * True if the app gets the same idempotency key when the caller makes this call again, so that the app can recognize the repeat. False if
   * the app gets a new key each time.
   */
  readonly keepsAppKey: boolean;
};

/** How a prepared call reaches its app: the credential and the transport. */
export type CallWay = {
  /** Returns the request with the account's credential added. Returns a fault instead if the account cannot be used. */
  authorize(): Promise<AppRequest | AccountFault>;
  /** Called when the app has refused the credential. Resolves to true if a new credential is available, and to false if not. */
  refused(): Promise<boolean>;
  /** Called when the app has executed the request. Records at the account that the app accepted its credential. */
  taken(): Promise<void>;
  /** Called when the app has refused the request because the account lacks these OAuth scopes. The next consent requests them. */
  lacked(scopes: readonly string[]): Promise<void>;
  readonly transport: AppTransport;
  /** True if the sandbox of svc emulates the apps. False if calls are sent to the real apps. */
  readonly isSandbox: boolean;
};

/** A call that is ready to be sent. Only the credential is added later. */
export type PreparedCall = {
  readonly action: Action;
  readonly toolkit: Toolkit;
  /** Account of the call. Undefined for an HTTP request that a program makes itself, without a tool. */
  readonly account: CallableAccount | undefined;
  readonly way: CallWay;
  readonly request: AppRequest;
  /** Returns the request in a form that people may see. Created only on demand, because most calls never need it. */
  preview(): RequestPreview;
  /** Values of sensitive arguments and other values that the caller keeps secret. No text for people may contain them. */
  readonly secrets: readonly string[];
  /** Values of the project's secrets that the call uses. No stored text and no answer may contain them. */
  readonly vaulted: readonly string[];
};

/** A call that ended before anything was sent. It has an account if one was found. `forPerson`: set if a person must confirm the call. */
export type EndedCall = {
  readonly result: CallResult;
  readonly account: CallableAccount | undefined;
  readonly forPerson?: { readonly action: Action; readonly name: string } | undefined;
};

/**
 * A call in progress. `entry`: its entry in the ledger (record of tool calls). `plan`: its tool and checked arguments. `prepared`: the
 * request to send, or the result of a call that has ended. `hooks`: endpoints that check the call.
 */
export type MadeCall<Prepared = PreparedCall | EndedCall> = {
  readonly entry: LedgerEntry;
  readonly plan: CallPlan;
  readonly prepared: Prepared;
  readonly hooks: HooksOfCall | undefined;
};
