import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createId, digestSecret, equalConstantTime, generateToken, type KeyId, noConfirmRule } from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import { findGrantCode, type GrantCode, noteGrantOfCode, spendGrantCode, touchGrantClient } from "@svc/db/grants/codes";
import { findGrant, insertGrant } from "@svc/db/grants/repo";
import { findGrantToken, type Grant, insertGrantTokens, spendGrantToken } from "@svc/db/grants/tokens";
import { type ApiKey, findKeyById } from "@svc/db/keys/repo";
import { isValidKey } from "../auth/key-cache.ts";
import { originOfRedirect } from "./clients.ts";
import { generateText } from "./grants.ts";
import { assertionGrantType, deviceGrantType, type ServiceUrlsOf } from "./metadata.ts";
import { type EndGrantOptions, endGrantFor } from "./revoke.ts";
import { scopeText } from "./scopes.ts";
import { type AuthorizationOptions, AuthorizationRefusal, answerUnkept, readForm } from "./serve.ts";

/** Lifetime of an access token, in milliseconds. Its grant (a person's permission for an agent) may end earlier. */
const accessTokenMs = 3_600_000;
/** Lifetime of a refresh token, in milliseconds. A grant (a person's permission for an agent) that is not used for this time ends. */
const refreshTokenMs = 30 * 86_400_000;

/** Answer of the token endpoint with new tokens (RFC 6749, 5.1). */
type TokenAnswer = {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly refresh_token: string;
  /** Scopes that the person granted. They may be more or fewer than the client requested. */
  readonly scope: string;
};

/** Returns the next access token and refresh token of a grant (a person's permission for an agent), and stores their digests. */
async function issueTokens(
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

/**
 * Creates the grant (a client's access to a project) for an OAuth authorization code, and returns it. The grant gets an API key for its
 * calls. The secret of this key is not stored or returned, so the client can call only with access tokens.
 */
async function issueGrant(db: Executor, code: GrantCode, clientOrigin: string, nowMs: number): Promise<Grant> {
  const { projectId, voucherKeyId, clientId, clientName, resource } = code;
  const { entityId, accessClasses, toolkitSlugs, agentTools } = code;
  // The grant gets the confirmation rule of the key with which the person gave it.
  const confirm = (await findKeyById(db, voucherKeyId))?.confirm ?? noConfirmRule;
  const key: ApiKey = {
    ...{ id: createId("key", nowMs), projectId, role: "member", name: clientName, hint: "" },
    ...{ entityId, accessClasses, toolkitSlugs, agentTools, confirm, makerKeyId: null, purpose: "" },
    ...{ digest: digestSecret(generateToken()), createdAt: nowMs, expiresAt: null, revokedAt: null, lastUsedAt: null },
  };
  const grant: Grant = {
    ...{ id: createId("grt", nowMs), projectId, keyId: key.id, voucherKeyId },
    ...{ clientId, clientName, clientOrigin, resource, assertedClasses: null, createdAt: nowMs },
  };
  await insertGrant(db, grant, key);
  return grant;
}

/** Dependencies of the token endpoint. */
export type TokenOptions = AuthorizationOptions &
  EndGrantOptions & {
    readonly urlsOf: ServiceUrlsOf;
    /** Exchanges assertions of the identity provider. Undefined if the deployment has none. */
    readonly exchangeAssertion: ExchangeAssertion | undefined;
    /** Exchanges the code of a program's sign-in for its key. */
    readonly exchangeDeviceCode: (form: URLSearchParams) => Promise<object>;
  };

/**
 * Exchanges an assertion of the company's identity provider for an access token. Rejects with AuthorizationRefusal if the assertion is not
 * valid.
 */
export type ExchangeAssertion = (
  request: TokenRequest & { readonly issuer: string },
  req: IncomingMessage,
) => Promise<Omit<TokenAnswer, "refresh_token">>;

/** A token request. Its client id and its resource were checked as far as possible without the database. */
type TokenRequest = { readonly form: URLSearchParams; readonly clientId: string; readonly resource: string };

/** Creates the handler that exchanges a code or a refresh token for new tokens (RFC 6749, 4.1.3 and 6). */
export function createToken(options: TokenOptions): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (req, res) => {
    const form = await readForm(req, options);
    // The key of a program is valid for every call, and not for a resource of OAuth.
    if (form.get("grant_type") === deviceGrantType)
      return answerUnkept(res, 200, await options.exchangeDeviceCode(form));
    const request = { form, clientId: requireField(form, "client_id"), resource: requireResource(form, req, options) };
    const grantType = requireField(form, "grant_type");
    answerUnkept(res, 200, await exchange(grantType, request, req, options));
  };
}

function exchange(grantType: string, request: TokenRequest, req: IncomingMessage, options: TokenOptions) {
  const { exchangeAssertion, urlsOf } = options;
  if (grantType === "authorization_code") return changeCode(request, options);
  if (grantType === "refresh_token") return changeRefreshToken(request, options);
  if (grantType === assertionGrantType && exchangeAssertion !== undefined)
    return exchangeAssertion({ ...request, issuer: urlsOf(req).issuer }, req);

  throw new AuthorizationRefusal("unsupported_grant_type", "grant_type must be authorization_code or refresh_token");
}

/**
 * Returns the error for an invalid code or token. The text is the same for every reason, so that it does not help an attacker who found the
 * code or token.
 */
function invalid(what: "code" | "refresh token"): AuthorizationRefusal {
  const why = `the ${what} is unknown, used or expired, or belongs to another client, address or verifier`;
  return new AuthorizationRefusal("invalid_grant", why);
}

async function changeCode({ form, clientId, resource }: TokenRequest, options: TokenOptions): Promise<TokenAnswer> {
  const { db, clock } = options;
  const digest = digestSecret(requireField(form, "code"));
  const redirectUri = requireField(form, "redirect_uri");
  const verifier = requireField(form, "code_verifier");
  const nowMs = clock.now();
  const code = await findGrantCode(db, digest);
  if (code === undefined) throw invalid("code");
  const answer = await withTransaction(db, async (tx) => {
    if (!(await spendGrantCode(tx, digest, nowMs))) return "replayed";
    // Any mismatch makes the code unusable, so that an attacker has only one attempt to use it.
    const isFit = code.clientId === clientId && code.redirectUri === redirectUri && code.resource === resource;
    if (!isFit || code.expiresAt <= nowMs || !isVerifierOf(verifier, code)) return "unfit";
    if (!(await isKeyValid(code.voucherKeyId, nowMs, options))) return "unfit";
    const grant = await issueGrant(tx, code, originOfRedirect(code.redirectUri), nowMs);
    await noteGrantOfCode(tx, digest, grant.id);
    await touchGrantClient(tx, clientId, nowMs);
    return issueTokens(tx, { grantId: grant.id, scope: scopeText(code), nowMs });
  });
  if (answer === "replayed") await endGrantOfCode(digest, options);
  if (typeof answer === "string") throw invalid("code");
  return answer;
}

/**
 * Ends the grant (a person's permission for an agent) of an authorization code that was used twice. Two uses mean that the code was stolen,
 * and one of the two senders may be the thief.
 */
async function endGrantOfCode(digest: Buffer, options: TokenOptions): Promise<void> {
  const code = await findGrantCode(options.db, digest);
  const grant = code?.grantId == null ? undefined : await findGrant(options.db, code.grantId);
  if (grant !== undefined) await endGrantFor("GrantCode.Reuse", grant, options);
}

async function changeRefreshToken(
  { form, clientId, resource }: TokenRequest,
  options: TokenOptions,
): Promise<TokenAnswer> {
  const { db, clock } = options;
  const digest = digestSecret(requireField(form, "refresh_token"));
  const nowMs = clock.now();
  const token = await findGrantToken(db, digest);
  const isFit = token?.kind === "refresh" && token.clientId === clientId && token.resource === resource;
  if (token === undefined || !isFit || token.expiresAt <= nowMs) throw invalid("refresh token");
  const key = await findKeyById(db, token.keyId);
  const isOpen = key !== undefined && isValidKey(key, nowMs) && (await isKeyValid(token.voucherKeyId, nowMs, options));
  if (!isOpen) throw invalid("refresh token");
  const answer = await withTransaction(db, async (tx) => {
    if (!(await spendGrantToken(tx, digest, nowMs))) return undefined;
    await touchGrantClient(tx, clientId, nowMs);
    return issueTokens(tx, { grantId: token.id, scope: scopeText(key), nowMs });
  });
  if (answer !== undefined) return answer;
  // Two parties have used the same refresh token, and svc cannot know which one is the client. So the grant ends for both.
  await endGrantFor("GrantToken.Reuse", token, options);
  throw invalid("refresh token");
}

async function isKeyValid(id: KeyId, nowMs: number, { db }: Pick<TokenOptions, "db">): Promise<boolean> {
  const key = await findKeyById(db, id);
  return key !== undefined && isValidKey(key, nowMs);
}

/** True if the verifier matches the challenge of a code (RFC 7636, 4.6, method S256). */
function isVerifierOf(verifier: string, { challenge }: Pick<GrantCode, "challenge">): boolean {
  return (
    /^[A-Za-z0-9._~-]{43,128}$/.test(verifier) && equalConstantTime(hash("sha256", verifier, "base64url"), challenge)
  );
}

/**
 * Returns the resource that a token request names; the parameter is optional. Throws AuthorizationRefusal if the resource is not this
 * service.
 */
function requireResource(form: URLSearchParams, req: IncomingMessage, { urlsOf }: TokenOptions): string {
  const { resource } = urlsOf(req);
  const named = form.get("resource") ?? resource;
  if (named === resource) return resource;
  throw new AuthorizationRefusal("invalid_target", `resource must be ${resource}, the address of this service`);
}

function requireField(form: URLSearchParams, name: string): string {
  const value = form.get(name);
  if (value === null || value === "") throw new AuthorizationRefusal("invalid_request", `${name} is missing`);
  return value;
}
