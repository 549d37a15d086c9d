import type { IncomingMessage, ServerResponse } from "node:http";
import { type Clock, digestSecret, type KeyId } from "@svc/core";
import { type Database, withTransaction } from "@svc/db/connect";
import { endGrant } from "@svc/db/grants/repo";
import { findGrantToken, type Grant } from "@svc/db/grants/tokens";
import { findKeyById } from "@svc/db/keys/repo";
import { auditAction } from "../audit/audit-action.ts";
import type { AuditLog } from "../audit/log.ts";
import { type AuthorizationOptions, AuthorizationRefusal, answerUnkept, readForm } from "./serve.ts";

/** Dependencies for ending a grant (a person's permission for an agent). */
export type EndGrantOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly audit: AuditLog;
  /** Called after a grant (a person's permission for an agent) has ended. `keyId`: the key that the calls of the grant used. */
  readonly onEnded: (keyId: KeyId) => void;
};

/**
 * Audited actions that end a grant (a person's permission for an agent) without a call of the API. `GrantToken.Revoke`: the client revoked
 * a token. `GrantToken.Reuse` and `GrantCode.Reuse`: a token or a code was used a second time.
 */
type GrantEndAction = "GrantToken.Revoke" | "GrantToken.Reuse" | "GrantCode.Reuse";

/**
 * Ends a grant (a person's permission for an agent). The audit log records the key of the grant as the actor. Does nothing if the grant has
 * already ended.
 */
export async function endGrantFor(
  action: GrantEndAction,
  grant: Pick<Grant, "id" | "keyId" | "projectId">,
  { db, clock, audit, onEnded }: EndGrantOptions,
): Promise<void> {
  const { id, keyId, projectId } = grant;
  const key = await findKeyById(db, keyId);
  if (key === undefined || key.revokedAt !== null) return;
  const actor = { kind: "key", keyId } as const;
  await auditAction(audit, { actor, action, projectId, subject: id, entityId: key.entityId }, () =>
    withTransaction(db, (tx) => endGrant(tx, grant, clock.now())),
  );
  onEnded(keyId);
}

/**
 * Creates the handler with which a client ends the grant that a token belongs to (RFC 7009). For an unknown token, the answer is the same.
 */
export function createRevoke(
  options: AuthorizationOptions & EndGrantOptions,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const { db } = options;
  return async (req, res) => {
    const form = await readForm(req, options);
    const text = form.get("token");
    if (text === null || text === "") throw new AuthorizationRefusal("invalid_request", "token is missing");
    const token = await findGrantToken(db, digestSecret(text));
    if (token !== undefined && token.clientId === form.get("client_id")) {
      await endGrantFor("GrantToken.Revoke", token, options);
    }
    answerUnkept(res, 200, {});
  };
}
