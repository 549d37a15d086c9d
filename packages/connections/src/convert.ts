import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ConnectedAccount } from "@svc/db/connections/account";
import { type ConnectedAccount as ConnectedAccountMessage, ConnectedAccountSchema } from "@svc/gen/connections";

/**
 * Returns a connected account in the form of the API, with its state at the time `nowMs` (epoch milliseconds). An active account whose
 * credential has expired is shown as expired.
 */
export function toConnectedAccount(row: ConnectedAccount, nowMs: number): ConnectedAccountMessage {
  const { expiresAt } = row;
  const ranOut = row.state === "active" && expiresAt !== null && expiresAt <= nowMs;
  return create(ConnectedAccountSchema, {
    id: row.id,
    toolkitSlug: row.toolkitSlug,
    toolkitOwnerProjectId: row.isPrivate ? row.projectId : "",
    entityId: row.entityId,
    scheme: row.scheme,
    state: ranOut ? "expired" : row.state,
    accountVariables: { ...row.variables },
    grantedScopes: row.grantedScopes,
    // References of a superseded or revoked account are stored only so that they can be erased. The message does not show them.
    references: row.state === "superseded" || row.state === "revoked" ? [] : row.references,
    lastError: ranOut ? "its credential ran out" : row.lastError,
    createdAt: timestampFromMs(row.createdAt),
    updatedAt: timestampFromMs(row.updatedAt),
    sandbox: row.isSandbox,
    ...(expiresAt === null ? {} : { expiresAt: timestampFromMs(expiresAt) }),
    ...credentialTryOf(row),
  });
}

function credentialTryOf({ credentialTriedAt, isCredentialTaken }: ConnectedAccount) {
  if (credentialTriedAt === null) return {};
  const outcome = isCredentialTaken === true ? "worked" : "refused";
  return { credentialTry: { outcome, at: timestampFromMs(credentialTriedAt) } };
}
