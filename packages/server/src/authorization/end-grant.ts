import type { Clock, KeyId } from "@svc/core";
import { type Database, withTransaction } from "@svc/db/connect";
import { endGrant } from "@svc/db/grants/repo";
import type { Grant } from "@svc/db/grants/tokens";
import { findKeyById } from "@svc/db/keys/repo";
import { asDeed } from "../audit/enter-deeds.ts";
import type { AuditLog } from "../audit/log.ts";

/** What ending a grant works with. */
export type EndGrantOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly audit: AuditLog;
  /** A grant has ended, by the key of its calls. */
  readonly onEnded: (keyId: KeyId) => void;
};

/** Why a grant ends without a call of the API: its client gave a token back, or a code or token was shown a second time. */
type EndOfGrant = "GrantToken.Revoke" | "GrantToken.Reuse" | "GrantCode.Reuse";

/** Ends a grant, entered in the audit log as done by its own key. One that has ended is left as it is, and no row tells of it again. */
export async function endGrantFor(
  action: EndOfGrant,
  grant: Pick<Grant, "id" | "keyId" | "projectId">,
  { db, clock, audit, onEnded }: EndGrantOptions,
): Promise<void> {
  const { id, keyId, projectId } = grant;
  const key = await findKeyById(db, keyId);
  if (key === undefined || key.revokedAt !== null) return;
  const actor = { kind: "key", keyId } as const;
  await asDeed(audit, { actor, action, projectId, subject: id, entityId: key.entityId }, () =>
    withTransaction(db, (tx) => endGrant(tx, grant, clock.now())),
  );
  onEnded(keyId);
}
