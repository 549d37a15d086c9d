import type { Toolkit } from "@svc/catalog";
import { createId, type ProjectId, type Sealer } from "@svc/core";
import { hastenSource } from "@svc/db/catalog/watched-sources";
import type { ConnectedAccount } from "@svc/db/connections/account";
import { type Activation, activateAccount } from "@svc/db/connections/activate";
import { type Credential, openCredential, sealCredential, tokenOf } from "./credential.ts";
import { definitionOf, exclusiveReferences, originDigestOf } from "./definition.ts";
import type { ConnectionsOptions } from "./options.ts";
import { timesOf } from "./token-times.ts";

/** An account that has all it needs to become active: its owner, its app, and a credential. */
export type ReadyAccount = {
  readonly projectId: ProjectId;
  readonly toolkit: Toolkit;
  readonly entityId: string;
  readonly credential: Credential;
  readonly variables: Readonly<Record<string, string>>;
  readonly grantedScopes?: readonly string[];
  /** True if the app tested the credential and accepted it. */
  readonly isTaken: boolean;
  /**
   * The stored row of this account in state `pending`, from the time when its connection began. Absent if the account becomes active at
   * once.
   */
  readonly pending?: ConnectedAccount;
};

/**
 * Time in milliseconds from the first account of an MCP server to the first read of its tools. A command that reads them itself, such as
 * `svc toolkits connect-mcp --entity`, has ended by then.
 */
const listingDelayMs = 60_000;

/**
 * Stores the encrypted credential, and makes the account the active one of its entity. Returns undefined if the pending connection was
 * already ended. Rejects with a unique violation if another account has one of its references. If the toolkit has no tools yet, because its
 * MCP server lists them only to a connected account, svc reads the list after `listingDelayMs`.
 */
export async function activate(
  { db, clock, sealer, sandboxMode }: Pick<ConnectionsOptions, "db" | "clock" | "sealer" | "sandboxMode">,
  account: ReadyAccount,
): Promise<ConnectedAccount | undefined> {
  const { projectId, toolkit, entityId, credential, variables, grantedScopes = [], isTaken, pending } = account;
  const nowMs = clock.now();
  const id = pending?.id ?? createId("acc", nowMs);
  const token = credential.scheme === "oauth2" ? tokenOf(credential) : undefined;
  const activation: Activation = {
    ...definitionOf(toolkit, sandboxMode),
    ...(token === undefined ? { refreshAt: null, expiresAt: null } : timesOf(token)),
    id,
    projectId,
    entityId,
    scheme: credential.scheme,
    variables,
    credential: sealCredential(sealer, { projectId, id }, credential),
    originDigest: originDigestOf(toolkit),
    grantedScopes: [...grantedScopes],
    createdAt: pending?.createdAt ?? nowMs,
    updatedAt: nowMs,
    credentialTriedAt: isTaken ? nowMs : null,
    isCredentialTaken: isTaken ? true : null,
  };
  const verified = credential.verified_reference;
  const stored = await activateAccount(db, activation, {
    isNew: pending === undefined,
    exclusiveOf: (references) => exclusiveReferences(toolkit, references, verified),
    referencesOf: (superseded, own) => {
      // The new account takes over the references of the account that it replaces, except the id that the app reported.
      const inherited = superseded.flatMap((other) => {
        const theirs = verifiedReferenceOf(sealer, other);
        return other.references.filter((reference) => reference !== theirs);
      });
      return [...new Set([...(verified === undefined ? [] : [verified]), ...own, ...inherited])];
    },
  });
  const isFirst = stored !== undefined && toolkit.ownerProjectId === projectId && toolkit.actions.length === 0;
  // The account is active, also if this write fails. svc then reads the list when it is due anyway.
  if (isFirst) await hastenSource(db, { projectId, slug: toolkit.slug }, nowMs + listingDelayMs).catch(() => undefined);
  return stored;
}

/**
 * Returns the id of the account in the app, as the app itself reported it. Returns undefined if the app reported no id, or if the
 * credential was already deleted (the id is stored inside the credential).
 */
export function verifiedReferenceOf(sealer: Sealer, account: ConnectedAccount): string | undefined {
  if (account.credential === null) return undefined;
  return openCredential(sealer, account, account.credential).verified_reference;
}
