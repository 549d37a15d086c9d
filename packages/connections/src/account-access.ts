import type { Action, Toolkit } from "@svc/catalog";
import type { AccountId, ProjectId } from "@svc/core";
import type { CallableAccountRow } from "@svc/db/connections/find-callable";
import type { AppRequest } from "./app-transport.ts";

/** Active accounts as they were read from the database. `readAtMs`: time of this read, in epoch milliseconds. */
export type ReadAccounts = { readonly rows: readonly CallableAccountRow[]; readonly readAtMs: number };

/**
 * Accounts that one request has already looked up in the database. Later steps of the same request use a stored lookup for at most five
 * seconds. They check the found accounts again.
 */
export type SeenAccounts = Map<string, ReadAccounts>;

/**
 * Selects the account for a call: the account with `accountId`, or the active account that the entity (customer or user) has for the
 * toolkit's app.
 */
export type AccountQuery = {
  readonly projectId: ProjectId;
  readonly toolkit: Toolkit;
  readonly entityId: string;
  /** Only this account is used. If entityId is not empty, the account must belong to that entity (customer or user). */
  readonly accountId?: AccountId | undefined;
  /**
   * Results of earlier account lookups that this query may use. The result of a new lookup is added here. By default, every query makes its
   * own lookup.
   */
  readonly seen?: SeenAccounts | undefined;
};

/** An account for calls, without its credential. */
export type CallableAccount = {
  readonly id: AccountId;
  readonly entityId: string;
  readonly scheme: string;
  readonly variables: Readonly<Record<string, string>>;
  /** The scopes that the app granted. An empty list means that they are unknown, because the app listed no scopes. */
  readonly grantedScopes: readonly string[];
};

/** Why a call cannot use an account. `message`: the reason and what to do. */
export type AccountFault = { readonly kind: "no_account" | "account_unusable"; readonly message: string };

/** Gives tool calls the connected account that they need, and its credential. */
export type AccountAccess = {
  /** Returns the account for a call. It never belongs to another project, or to another definition with the same slug. */
  resolve(query: AccountQuery): Promise<CallableAccount | AccountFault>;
  /**
   * Returns the request with the account's credential in the place that the app's authentication scheme names. A token that expires within
   * a minute is renewed first, one renewal at a time over all nodes.
   */
  authorize(query: AccountQuery, account: CallableAccount, request: AppRequest): Promise<AppRequest | AccountFault>;
  /** Returns the request with `***` in place of the credential, so that it can be displayed. */
  preview(toolkit: Toolkit, account: CallableAccount, request: AppRequest): AppRequest;
  /**
   * Handles status 401 from the app. A token that can be renewed is renewed at once. Returns true if there is a new token; the caller may
   * then repeat requests that are safe to repeat. Otherwise the account becomes `expired`.
   */
  refused(query: AccountQuery, account: CallableAccount): Promise<boolean>;
  /**
   * Records that the app executed `action` with this account's credential, which shows that the credential works. It writes at most once an
   * hour for each account.
   */
  taken(query: AccountQuery, account: CallableAccount, action: Action): Promise<void>;
};
