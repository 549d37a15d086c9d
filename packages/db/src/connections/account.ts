import type { connectedAccounts } from "../schema/connections.ts";
import type { ConnectedAccountState } from "../schema/words.ts";

/** A connected account with its sealed credential. */
export type ConnectedAccount = typeof connectedAccounts.$inferSelect;

/** The columns of the last try of a credential: null before the first. */
export type AttemptColumn = "credentialTriedAt" | "isCredentialTaken";

/** An account as it is made: its credential was tried, or not. */
export type NewConnectedAccount = Omit<ConnectedAccount, AttemptColumn> &
  Partial<Pick<ConnectedAccount, AttemptColumn>>;

/** Which accounts to list; empty strings match all. */
export type ConnectedAccountFilter = { toolkitSlug: string; entityId: string; state: ConnectedAccountState | "" };

/** The accounts of one definition: a shared toolkit, or the project's private one of the same slug; real ones, or the sandbox's. */
export type AccountDefinition = Pick<ConnectedAccount, "toolkitSlug" | "isPrivate" | "isSandbox">;

/** The columns that an account loses when it ends. Its references stay, since they say whose events were stored without an entity. */
export const erased = {
  credential: null,
  expiresAt: null,
  refreshAt: null,
  refreshLeaseUntil: null,
};
