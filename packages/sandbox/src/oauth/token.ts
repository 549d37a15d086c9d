import { createHash } from "node:crypto";
import { type Clock, equalConstantTime, LeastRecentlyUsed } from "@svc/core";
import { sandboxClientId } from "./authorize.ts";
import type { TokenSeals } from "./seals.ts";

/** Dependencies of the token endpoint. `refreshes`: returns true if an app issues refresh tokens. */
export type SandboxTokenOptions = {
  readonly clock: Clock;
  readonly seals: TokenSeals;
  readonly refreshes: (toolkitSlug: string) => boolean;
};

/** Lifetime of an access token, in seconds. */
const accessSeconds = 3600;
const refreshMs = 30 * 86_400_000;
/**
 * Maximum number of used codes and used refresh tokens that are remembered, so that they cannot be used again; the latest ones are kept. A
 * code is valid for a minute, so it normally expires before it is forgotten.
 */
const usedMax = 100_000;

const tokenHost = "oauth.sandbox.invalid";

/** Returns the address of the token endpoint of an app in the sandbox. Only the sandbox's own `fetch` answers this address. */
export function sandboxTokenUrl(toolkitSlug: string): string {
  return `https://${tokenHost}/${toolkitSlug}/token`;
}

type Reply = { readonly status: number; readonly body: Readonly<Record<string, unknown>>; readonly challenge?: string };
type Grant = { readonly toolkit: string; readonly form: URLSearchParams };

/**
 * Creates the token endpoint (RFC 6749, 3.2) with the interface of `fetch`. It supports codes with PKCE (each is valid once), refresh
 * tokens (each is replaced when it is used) and client credentials. Only this process knows which codes and tokens were used.
 */
export function createTokenEndpoint(options: SandboxTokenOptions): typeof fetch {
  const used = new LeastRecentlyUsed<string, true>(usedMax);
  const issue = createIssuer(options);
  const useOnce = (text: string): boolean => {
    const digest = createHash("sha256").update(text).digest("hex");
    if (used.get(digest) !== undefined) return false;
    used.set(digest, true);
    return true;
  };
  return async (input, init) => {
    const request = new Request(input, init);
    const { hostname, pathname } = new URL(request.url);
    const [, toolkit] = /^\/([a-z][a-z0-9_]{0,63})\/token$/.exec(pathname) ?? [];
    if (hostname !== tokenHost || toolkit === undefined) return respond({ status: 404, body: { error: "not_found" } });
    if (request.method !== "POST") return respond({ status: 405, body: { error: "invalid_request" } });
    const type = request.headers.get("content-type") ?? "";
    if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
      return respond(refused("invalid_request", "the body must be application/x-www-form-urlencoded"));
    }
    const form = new URLSearchParams(await request.text());
    const client = refuseClient(request.headers.get("authorization"), form);
    return respond(client ?? exchange({ toolkit, form }, options, issue, useOnce));
  };
}

function respond({ status, body, challenge }: Reply): Response {
  return Response.json(body, {
    status,
    headers: { "cache-control": "no-store", ...(challenge !== undefined && { "www-authenticate": challenge }) },
  });
}

function refused(error: string, description: string): Reply {
  return { status: 400, body: { error, error_description: description } };
}

function refuseClient(authorization: string | null, form: URLSearchParams): Reply | undefined {
  const [, encoded] = /^Basic ([A-Za-z0-9+/]+={0,2})$/i.exec(authorization ?? "") ?? [];
  const basic = encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString("utf8").split(":")[0];
  if ((basic ?? form.get("client_id")) === sandboxClientId) return undefined;
  const body = { error: "invalid_client", error_description: `the client is ${sandboxClientId}` };
  return { status: 401, body, challenge: "Basic" };
}

type Issue = (toolkit: string, scope: string, withRefresh: boolean) => Reply;

function createIssuer({ clock, seals }: SandboxTokenOptions): Issue {
  // A counter that is part of every token. Together with the nonce of the seal, it makes two tokens of the same millisecond different.
  let serial = 0;
  return (toolkit, scope, withRefresh) => {
    serial += 1;
    const now = clock.now();
    const content = { toolkit, scope, serial };
    const access = seals.seal("access", { ...content, expiresAtMs: now + accessSeconds * 1000 });
    const refresh = { ...content, expiresAtMs: now + refreshMs };
    return {
      status: 200,
      body: {
        access_token: access,
        token_type: "Bearer",
        expires_in: accessSeconds,
        scope,
        ...(withRefresh && { refresh_token: seals.seal("refresh", refresh) }),
      },
    };
  };
}

function exchange(grant: Grant, options: SandboxTokenOptions, issue: Issue, useOnce: (text: string) => boolean): Reply {
  const { form, toolkit } = grant;
  switch (form.get("grant_type")) {
    case "authorization_code":
      return exchangeCode(grant, options, issue, useOnce);
    case "refresh_token":
      return refresh(grant, options, issue, useOnce);
    case "client_credentials":
      return issue(toolkit, form.get("scope") ?? "", false);
    case null:
      return refused("invalid_request", "grant_type is missing");
    default:
      return refused("unsupported_grant_type", "use authorization_code, refresh_token or client_credentials");
  }
}

function exchangeCode(
  { toolkit, form }: Grant,
  { clock, seals, refreshes }: SandboxTokenOptions,
  issue: Issue,
  useOnce: (text: string) => boolean,
): Reply {
  const text = form.get("code") ?? "";
  const code = seals.open("code", text, clock.now());
  if (code === undefined || code.toolkit !== toolkit)
    return refused("invalid_grant", "the code is not valid, or expired");
  if (form.get("redirect_uri") !== code.redirectUri)
    return refused("invalid_grant", "redirect_uri is another than before");
  const verifier = form.get("code_verifier") ?? "";
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  if (!/^[\w.~-]{43,128}$/.test(verifier) || !equalConstantTime(challenge, code.codeChallenge)) {
    return refused("invalid_grant", "code_verifier does not belong to the code");
  }
  if (!useOnce(text)) return refused("invalid_grant", "the code was used before");
  return issue(toolkit, code.scope, code.refreshes ?? refreshes(toolkit));
}

function refresh(
  { toolkit, form }: Grant,
  { clock, seals }: SandboxTokenOptions,
  issue: Issue,
  useOnce: (text: string) => boolean,
): Reply {
  const text = form.get("refresh_token") ?? "";
  const held = seals.open("refresh", text, clock.now());
  if (held === undefined || held.toolkit !== toolkit) {
    return refused("invalid_grant", "the refresh token is not valid, or expired");
  }
  const scope = form.get("scope") ?? held.scope;
  const granted = new Set(held.scope.split(" "));
  if (!scope.split(" ").every((name) => granted.has(name))) return refused("invalid_scope", "scope may only shrink");
  if (!useOnce(text)) return refused("invalid_grant", "the refresh token was replaced by a newer one");
  return issue(toolkit, scope, true);
}
