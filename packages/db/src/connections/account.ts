import type { connectedAccounts } from "../schema/connections.ts";
import type { ConnectedAccountState } from "../schema/words.ts";

/** A connected account with its sealed credential. */
export type ConnectedAccount = typeof connectedAccounts.$inferSelect;

/** Columns of the last use of a credential; null before the first. */
export type AttemptColumn = "credentialTriedAt" | "isCredentialTaken";

/** An account to create, with or without a known use of its credential. */
export type NewConnectedAccount = Omit<ConnectedAccount, AttemptColumn> &
  Partial<Pick<ConnectedAccount, AttemptColumn>>;

/** Filter of a list of accounts; empty strings match all. */
export type ConnectedAccountFilter = { toolkitSlug: string; entityId: string; state: ConnectedAccountState | "" };

/** The accounts of one definition: a shared toolkit, or the project's private one of the same slug; real or sandbox accounts. */
export type AccountDefinition = Pick<ConnectedAccount, "toolkitSlug" | "isPrivate" | "isSandbox">;

/** Columns cleared when an account ends. Its references stay, because they identify the owner of events stored without an entity. */
export const erased = {
  credential: null,
  expiresAt: null,
  refreshAt: null,
  refreshLeaseUntil: null,
};
