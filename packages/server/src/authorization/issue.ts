import { createId, digestSecret, generateToken, noConfirmRule } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { GrantCode } from "@svc/db/grants/codes";
import { insertGrant } from "@svc/db/grants/repo";
import { type Grant, insertGrantTokens } from "@svc/db/grants/tokens";
import { type ApiKey, findKeyById } from "@svc/db/keys/repo";
import { generateText } from "./token-texts.ts";

/** How long an access token is good, milliseconds: its grant may end before. */
const accessTokenMs = 3_600_000;
/** How long a refresh token is good, milliseconds: a grant that is unused for so long is over. */
const refreshTokenMs = 30 * 86_400_000;

/** What a client is answered with new tokens (RFC 6749, 5.1). */
export type TokenAnswer = {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly refresh_token: string;
  /** What the person gave, which may be more or less than was asked for. */
  readonly scope: string;
};

/** Makes the two tokens that a grant's client has next. */
export async function issueTokens(
  db: Executor,
  { grantId, scope, nowMs }: { grantId: Grant["id"]; scope: string; nowMs: number },
): Promise<TokenAnswer> {
  const [access, refresh] = [generateText("access"), generateText("refresh")];
  const token = { grantId, spentAt: null };
  await insertGrantTokens(db, [
    { ...token, kind: "access", digest: digestSecret(access), expiresAt: nowMs + accessTokenMs },
    { ...token, kind: "refresh", digest: digestSecret(refresh), expiresAt: nowMs + refreshTokenMs },
  ]);
  return {
    ...{ access_token: access, token_type: "Bearer", refresh_token: refresh },
    ...{ expires_in: accessTokenMs / 1_000, scope },
  };
}

/** Makes the grant that a code stands for, with a key of its own whose text nobody has. */
export async function issueGrant(db: Executor, code: GrantCode, clientOrigin: string, nowMs: number): Promise<Grant> {
  const { projectId, voucherKeyId, clientId, clientName, resource } = code;
  const { entityId, accessClasses, toolkitSlugs, agentTools } = code;
  // What a person confirms of the calls of whoever gives it, a person confirms of its own.
  const confirm = (await findKeyById(db, voucherKeyId))?.confirm ?? noConfirmRule;
  const key: ApiKey = {
    ...{ id: createId("key", nowMs), projectId, role: "member", name: clientName, hint: "" },
    ...{ entityId, accessClasses, toolkitSlugs, agentTools, confirm, makerKeyId: null },
    ...{ digest: digestSecret(generateToken()), createdAt: nowMs, expiresAt: null, revokedAt: null, lastUsedAt: null },
  };
  const grant: Grant = {
    ...{ id: createId("grt", nowMs), projectId, keyId: key.id, voucherKeyId },
    ...{ clientId, clientName, clientOrigin, resource, createdAt: nowMs },
  };
  await insertGrant(db, grant, key);
  return grant;
}
