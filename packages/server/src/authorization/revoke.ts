import type { IncomingMessage, ServerResponse } from "node:http";
import { type Clock, digestSecret, type KeyId } from "@svc/core";
import { type Database, withTransaction } from "@svc/db/connect";
import { endGrant } from "@svc/db/grants/repo";
import { findGrantToken, type Grant } from "@svc/db/grants/tokens";
import { findKeyById } from "@svc/db/keys/repo";
import { auditAction } from "../audit/audit-action.ts";
import type { AuditLog } from "../audit/log.ts";
import { type AuthorizationOptions, AuthorizationRefusal, answerUnkept, readForm } from "./serve.ts";

/** Services that end a grant. */
export type EndGrantOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly audit: AuditLog;
  /** Called after a grant has ended, with the key that its calls used. */
  readonly onEnded: (keyId: KeyId) => void;
};

/** Audited actions that end a grant without an API call: its client revoked a token, or a code or token was used a second time. */
type GrantEndAction = "GrantToken.Revoke" | "GrantToken.Reuse" | "GrantCode.Reuse";

/** Ends a grant, and records the grant's own key as the actor in the audit log. Does nothing if the grant has ended already. */
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

/** Creates the handler that ends the grant of a token at its client's request (RFC 7009). Unknown tokens get the same answer. */
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
