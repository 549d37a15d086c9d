import type { connectedAccounts } from "../schema/connections.ts";
import type { ConnectedAccountState } from "../schema/words.ts";

/** A connected account with its sealed credential. */
export type ConnectedAccount = typeof connectedAccounts.$inferSelect;

/** Columns about the last use of an account's credential. Both are null before the first use. */
export type AttemptColumn = "credentialTriedAt" | "isCredentialTaken";

/** An account to create. The columns that record the last use of its credential, and additional scopes, may be omitted. */
export type NewConnectedAccount = Omit<ConnectedAccount, AttemptColumn | "extraScopes"> &
  Partial<Pick<ConnectedAccount, AttemptColumn | "extraScopes">>;

/** Filter of a list of accounts. A field with an empty string does not filter. */
export type ConnectedAccountFilter = { toolkitSlug: string; entityId: string; state: ConnectedAccountState | "" };

/**
 * Identifies the accounts of one toolkit (one app with its tools). `isPrivate`: true for the project's own toolkit, false for a shared
 * toolkit with the same slug. `isSandbox`: true for sandbox accounts, false for real ones.
 */
export type AccountDefinition = Pick<ConnectedAccount, "toolkitSlug" | "isPrivate" | "isSandbox">;

/**
 * Columns that are cleared when an account ends, with their new values. The account's references (identifiers in webhook posts) stay. svc
 * still needs them for earlier events that were stored without an entity (customer or user), to find out whose they are.
 */
export const erased = {
  credential: null,
  expiresAt: null,
  refreshAt: null,
  refreshLeaseUntil: null,
};
