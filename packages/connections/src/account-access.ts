import type { Action, Toolkit } from "@svc/catalog";
import type { AccountId, ProjectId } from "@svc/core";
import type { CallableAccountRow } from "@svc/db/connections/find-callable";
import type { AppRequest } from "./app-transport.ts";

/** Active accounts as they were read from the database. `readAtMs`: time of this read, in epoch milliseconds. */
export type ReadAccounts = { readonly rows: readonly CallableAccountRow[]; readonly readAtMs: number };

/**
 * Accounts that one request has already looked up in the database. Later steps of the same request may use an entry for at most five
 * seconds, so that they need no new lookup. Each step still checks that the account may be used.
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
  /**
   * Id of the account to use. If `entityId` is not empty, the account must belong to this entity (customer or user). Without `accountId`,
   * svc uses the entity's active account.
   */
  readonly accountId?: AccountId | undefined;
  /**
   * Results of earlier account lookups that this query may use. The result of a new lookup is added here. By default, every query makes its
   * own lookup.
   */
  readonly seen?: SeenAccounts | undefined;
};

/** The values of a connected account that a tool call needs, without the account's credential. */
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
  /**
   * Returns the account for a call, or the reason why there is none. The account always belongs to the calling project. It also belongs to
   * the toolkit that the call uses, never to another toolkit with the same slug (a shared and a private toolkit can have the same slug).
   */
  resolve(query: AccountQuery): Promise<CallableAccount | AccountFault>;
  /**
   * Returns the request with the account's credential in the place that the app's authentication scheme names. A token that expires within
   * a minute is renewed first, one renewal at a time over all nodes.
   */
  authorize(query: AccountQuery, account: CallableAccount, request: AppRequest): Promise<AppRequest | AccountFault>;
  /** Returns the request with `***` in place of the credential, so that it can be displayed. */
  preview(toolkit: Toolkit, account: CallableAccount, request: AppRequest): AppRequest;
  /**
   * Handles the HTTP status 401, with which the app refuses the account's credential. If the token can be renewed, renews it at once and
   * returns true; the caller may then send the request again if it is safe to repeat. Otherwise sets the account to `expired` and returns
   * false.
   */
  refused(query: AccountQuery, account: CallableAccount): Promise<boolean>;
  /**
   * Records that the app executed `action` with this account's credential, which shows that the credential works. It writes at most once an
   * hour for each account.
   */
  taken(query: AccountQuery, account: CallableAccount, action: Action): Promise<void>;
  /**
   * Records that a call lacked OAuth scopes. When the entity connects the account again, svc requests them too. Does nothing for other
   * schemes than `oauth2`.
   */
  lacked(query: AccountQuery, account: CallableAccount, scopes: readonly string[]): Promise<void>;
};
