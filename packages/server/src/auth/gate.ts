import { timingSafeEqual } from "node:crypto";
import type { DescMethod } from "@bufbuild/protobuf";
import { type ContextKey, createContextKey, type HandlerContext } from "@connectrpc/connect";
import { type Clock, digestSecret, isWellFormedApiKey, type Principal, principalContext } from "@svc/core";
import type { CallerKey } from "@svc/db";
import type { Admission } from "../admission/admission.ts";
import { callContext } from "../calls/call.ts";
import type { CallErrorMapper } from "../calls/call-error.ts";
import { toConnectError } from "../calls/connect-error.ts";
import { adminDisabled, apiKeyInvalid, apiKeyMissing, roleRequired } from "../errors.ts";
import type { KeyCache } from "./key-cache.ts";
import type { KeyUse } from "./key-use.ts";
import type { RequiredRole } from "./required-role.ts";

/** What the gate decides with. `roles` is read at each call: the router's calls are known after the gate is made. */
export type GateOptions = {
  roles: () => ReadonlyMap<DescMethod, RequiredRole>;
  keys: KeyCache;
  use: KeyUse;
  clock: Clock;
  adminToken: string | undefined;
  /** Lets the requests of projects in, within their quotas. */
  admission: Admission;
  mapError: CallErrorMapper;
};

/**
 * Makes the request gate: it runs before a body is read, refuses whoever may not make the call, or has made as many as its project
 * may, and leaves the caller in `principalContext`. Bearers are looked up by digest; the administrator's is compared in constant time.
 */
export function createGate(options: GateOptions): (ctx: HandlerContext) => Promise<void> | void {
  const { adminToken, admission, mapError } = options;
  const authenticate = createAuthenticator(options);
  return async (ctx) => {
    const required = options.roles().get(ctx.method);
    if (required === undefined) return;
    const call = ctx.values.get(callContext);
    try {
      const authorization = ctx.requestHeader.get("authorization");
      if (bearerOf(authorization) === undefined) throw apiKeyMissing();
      if (required === "admin" && adminToken === undefined) throw adminDisabled();
      const principal = await authenticate(authorization, ctx.values.get(keyLookupContext));
      if (call !== undefined) call.principal = principal;
      assertRole(ctx.method, required, principal);
      if (principal.kind === "project") {
        const kind = ctx.method.methodKind === "unary" ? "call" : "stream";
        const admitted = admission.enter(principal.projectId, principal.quotas, kind);
        if ("refusal" in admitted) throw admitted.refusal;
        if (call !== undefined) call.leave = admitted.leave;
      }
      ctx.values.set(principalContext, principal);
    } catch (error) {
      // No interceptor has begun: Connect answers what the gate throws.
      throw toConnectError(mapError(error, call));
    }
  };
}

/** Waits for a key that the store is asked for, in place of a plain `await`: for what is to be held back meanwhile. */
export type KeyLookupWait = <Found>(lookup: Promise<Found>) => Promise<Found>;

/** Where the HTTP layer leaves a call's KeyLookupWait for the gate. */
export const keyLookupContext: ContextKey<KeyLookupWait | undefined> = createContextKey<KeyLookupWait | undefined>(
  undefined,
  { description: "svc key lookup" },
);

/**
 * Finds who sends an Authorization header. Rejects with API_KEY_MISSING or API_KEY_INVALID, because the store is away, or as `wait`
 * does.
 */
export type Authenticate = (authorization: string | null, wait?: KeyLookupWait) => Promise<Principal>;

/** Makes the authenticator of a node. */
export function createAuthenticator({
  keys,
  use,
  clock,
  adminToken,
}: Pick<GateOptions, "keys" | "use" | "clock" | "adminToken">): Authenticate {
  const adminDigest = adminToken === undefined ? undefined : digestSecret(adminToken);
  return async (authorization, wait = untilFound) => {
    const bearer = bearerOf(authorization);
    if (bearer === undefined) throw apiKeyMissing();
    const digest = digestSecret(bearer);
    if (adminDigest !== undefined && timingSafeEqual(digest, adminDigest)) return { kind: "admin" };
    const found = keys.find(digest);
    const key = found instanceof Promise ? await wait(found) : found;
    if (key === undefined || !isValid(key, clock.now())) throw apiKeyInvalid(isMistyped(bearer));
    use.note(key.id);
    return { kind: "project", projectId: key.projectId, keyId: key.id, role: key.role, quotas: key.quotas };
  };
}

const untilFound: KeyLookupWait = (lookup) => lookup;

function isValid(key: CallerKey, nowMs: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > nowMs);
}

function assertRole(method: DescMethod, required: RequiredRole, principal: Principal): void {
  const present = principal.kind === "admin" ? "admin" : principal.role;
  const isAllowed = required === present || (required === "member" && present === "approver");
  if (!isAllowed) throw roleRequired(`${method.parent.typeName}/${method.name}`, required, present);
}

/** Whether a text that should be a generated key has a typing error; a bootstrap key has no form to judge it by. */
function isMistyped(bearer: string): boolean {
  return bearer.startsWith("svc_") && !isWellFormedApiKey(bearer);
}

/** The token of an `Authorization: Bearer` header; the scheme's case does not matter (RFC 9110, 11.1). */
function bearerOf(header: string | null): string | undefined {
  if (header === null || !/^bearer /i.test(header)) return undefined;
  return header.slice("bearer ".length).trim() || undefined;
}
