import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ListedGrant } from "@svc/db/grants/repo";
import { type Grant, GrantSchema } from "@svc/gen/grants";

/**
 * True if the tokens of a grant (a person's permission for an agent) are still valid. False if the grant was revoked, or if the key with
 * which a person gave it has ended.
 */
export function isActive({ revokedAt, isVouched }: ListedGrant): boolean {
  return revokedAt === null && isVouched;
}

/** Returns a grant (a person's permission for an agent) as callers see it. */
export function grantMessage(grant: ListedGrant): Grant {
  const { id, keyId, voucherKeyId, clientId, clientName, clientOrigin, createdAt, lastUsedAt, revokedAt } = grant;
  const { entityId, accessClasses, toolkitSlugs, agentTools } = grant;
  return create(GrantSchema, {
    ...{ id, keyId, voucherKeyId, clientId, clientName, clientOrigin, entityId, accessClasses, toolkitSlugs },
    agentTools,
    confirm: { ...grant.confirm },
    active: isActive(grant),
    createdAt: timestampFromMs(createdAt),
    ...(lastUsedAt !== null && { usedAt: timestampFromMs(lastUsedAt) }),
    ...(revokedAt !== null && { endedAt: timestampFromMs(revokedAt) }),
  });
}
