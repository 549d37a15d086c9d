import type { Action, Toolkit } from "@svc/catalog";
import type { AccountId, ProjectId } from "@svc/core";
import type { AppRequest } from "./app-transport.ts";

/** The account to make a call with: the named one, or the entity's active account of the toolkit. */
export type AccountQuery = {
  readonly projectId: ProjectId;
  readonly toolkit: Toolkit;
  readonly entityId: string;
  /** Only this account is used. If entityId is not empty, the account must be that entity's. */
  readonly accountId?: AccountId | undefined;
};

/** An account for calls, without its credential. */
export type CallableAccount = {
  readonly id: AccountId;
  readonly entityId: string;
  readonly scheme: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Empty if the app named none. Then the scopes are unknown. */
  readonly grantedScopes: readonly string[];
};

/** The reason why a call cannot use an account. `message` says what to do. */
export type AccountFault = { readonly kind: "no_account" | "account_unusable"; readonly message: string };

/** Access of calls to connected accounts. */
export type AccountAccess = {
  /** Returns the account, never one of another project or of another definition with the same slug. */
  resolve(query: AccountQuery): Promise<CallableAccount | AccountFault>;
  /**
   * Returns the request with the account's credential in the place that the toolkit's scheme names. A token that expires within a minute is
   * renewed first, one renewal at a time over all nodes.
   */
  authorize(query: AccountQuery, account: CallableAccount, request: AppRequest): Promise<AppRequest | AccountFault>;
  /** Returns the same request with `***` in place of the credential, for display. */
  preview(toolkit: Toolkit, account: CallableAccount, request: AppRequest): AppRequest;
  /**
   * Handles a 401 of the app to this account's credential. A renewable token is renewed at once; returns true if there is a new one, and
   * the caller may repeat what is safe to repeat. Otherwise the account becomes `expired`.
   */
  refused(query: AccountQuery, account: CallableAccount): Promise<boolean>;
  /** Records that the app executed `action` with this account's credential, at most once an hour for each account. */
  taken(query: AccountQuery, account: CallableAccount, action: Action): Promise<void>;
};
