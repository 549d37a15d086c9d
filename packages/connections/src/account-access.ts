import type { Action, Toolkit } from "@svc/catalog";
import type { AccountId, ProjectId } from "@svc/core";
import type { AppRequest } from "./app-transport.ts";

/** Whose account a call is made with: the named one, or the entity's active one of the toolkit. */
export type AccountQuery = {
  readonly projectId: ProjectId;
  readonly toolkit: Toolkit;
  readonly entityId: string;
  /** When given, this account and no other; with a non-empty entityId it must be that entity's. */
  readonly accountId?: AccountId | undefined;
};

/** An account as calls see it. It carries no credential. */
export type CallableAccount = {
  readonly id: AccountId;
  readonly entityId: string;
  readonly scheme: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Empty when the app named none: then nothing is known of them. */
  readonly grantedScopes: readonly string[];
};

/** Why a call cannot be made with an account; `message` says what to do about it. */
export type AccountFault = { readonly kind: "no_account" | "account_unusable"; readonly message: string };

/** What calls need of connected accounts. */
export type AccountAccess = {
  /** Finds the account. Never returns one of another project or of another definition of the same slug. */
  resolve(query: AccountQuery): Promise<CallableAccount | AccountFault>;
  /**
   * The request with the account's credential placed where the toolkit's scheme says. A token that runs out within a minute is
   * renewed first, one renewal at a time over all nodes.
   */
  authorize(query: AccountQuery, account: CallableAccount, request: AppRequest): Promise<AppRequest | AccountFault>;
  /** The same request with `***` in place of the credential, for people to read. */
  preview(toolkit: Toolkit, account: CallableAccount, request: AppRequest): AppRequest;
  /**
   * The app answered 401 to a credential of this account. With a token that can be renewed it is renewed at once: true when a
   * new one is there, and the caller may send once more what is safe to send twice. Else the account turns `expired`.
   */
  refused(query: AccountQuery, account: CallableAccount): Promise<boolean>;
  /** The app did what `action` asks with a credential of this account. That is noted at most once an hour for an account. */
  taken(query: AccountQuery, account: CallableAccount, action: Action): Promise<void>;
};
