import { timingSafeEqual } from "node:crypto";
import type { DescMethod } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  bindingFaults,
  type Clock,
  createMinuteCount,
  digestSecret,
  hasRole,
  isWellFormedApiKey,
  type PortalAccess,
  type Principal,
  type ProjectPrincipal,
  principalContext,
  type Sealer,
} from "@svc/core";
import type { CallerKey } from "@svc/db/keys/repo";
import type { Admission } from "../admission/admission.ts";
import type { Sessions } from "../console/sessions.ts";
import { serverFaults } from "../errors.ts";
import { type Call, callContext } from "../rpc/call.ts";
import type { CallErrorMapper } from "../rpc/call-error.ts";
import { toConnectError } from "../rpc/connect-error.ts";
import { isValidKey, type KeyCache, type KeyLookupWait, keyLookupContext, projectPrincipalOf } from "./key-cache.ts";
import type { KeyUse } from "./key-use.ts";
import type { OpenCalls } from "./open-calls.ts";
import type { CallRules, RequiredRole } from "./required-role.ts";

/**
 * Dependencies of the gate, which checks each call. `rules`: returns what each API call requires of its key. The gate calls this function
 * for every call, because the router's calls are registered only after the gate is created.
 */
export type GateOptions = {
  rules: () => CallRules;
  keys: KeyCache;
  use: KeyUse;
  clock: Clock;
  /** Loads the data keys of a caller's project, which encrypt its data. */
  sealer: Pick<Sealer, "ready">;
  adminToken: string | undefined;
  /** True if the deployment has an administrator: one with the administrator's token, or people with the role administrator. */
  hasAdministrator: boolean;
  /** Sessions of the console. Undefined if the server has no console. */
  sessions: Sessions | undefined;
  /** Ends calls whose callers lose their permission. */
  openCalls: OpenCalls;
  /** Admits requests of projects within their quotas. */
  admission: Admission;
  mapError: CallErrorMapper;
};

/** The parts of a call that are known before its body is read. */
export type IncomingCall = {
  readonly method: DescMethod;
  readonly authorization: string | null;
  readonly call: Call | undefined;
  /**
   * Waits for the lookup of the caller's key, and keeps the server from reading the body of the request during this time. If undefined, the
   * gate awaits the lookup, and the body may be read meanwhile.
   */
  readonly wait: KeyLookupWait | undefined;
};

/**
 * Checks a call before its body is read, and returns its caller. Returns undefined for a call that needs no key. Rejects with Connect's
 * error if the caller lacks permission or exceeds a quota.
 */
export type Gate = (arrival: IncomingCall) => Promise<Principal | undefined>;

/** Maximum number of calls that the portal keys of one entity (customer or user) make in a minute, at one node. */
const portalCallsMax = 600;

/**
 * Creates the gate, which checks the credential of each incoming API call. API keys are looked up by digest; the administrator's key is
 * compared in constant time.
 */
export function createGate(options: GateOptions): Gate {
  const { hasAdministrator, admission, mapError, sessions, openCalls } = options;
  const authenticate = createAuthenticator(options);
  const countPortalCall = createMinuteCount({ clock: options.clock, most: portalCallsMax });
  return async ({ method, authorization, call, wait }) => {
    const { roles, unbound, portal } = options.rules();
    const required = roles.get(method);
    if (required === undefined) return undefined;
    try {
      const proof = sessions === undefined ? undefined : call?.session;
      if (proof === undefined && bearerOf(authorization) === undefined) throw serverFaults.API_KEY_MISSING();
      if (required === "admin" && !hasAdministrator) throw serverFaults.ADMIN_DISABLED();
      const identify = (waiting?: KeyLookupWait) =>
        proof === undefined || sessions === undefined
          ? authenticate(authorization, waiting)
          : sessions.authenticate(proof, waiting);
      const principal = await identify(wait);
      if (proof !== undefined && principal.kind === "project") await options.sealer.ready([principal.projectId]);
      if (call !== undefined) call.principal = principal;
      assertRole(method, required, principal);
      if (principal.kind === "project" && principal.portal !== undefined) {
        assertPortal(method, portal.get(method), principal.portal);
        // The calls of customers use the quotas of the project. So one customer gets only a part of them.
        const retryAfterMs = countPortalCall(`${principal.projectId} ${principal.portal.entityId}`);
        if (retryAfterMs !== undefined) throw bindingFaults.PORTAL_CALLS_TOO_MANY(portalCallsMax, retryAfterMs);
      } else if (unbound.has(method)) assertUnbound(method, principal);
      const isStream = method.methodKind !== "unary";
      if (principal.kind === "project") {
        const admitted = admission.enter(principal.projectId, principal.quotas, isStream ? "stream" : "call");
        if ("refusal" in admitted) throw admitted.refusal;
        if (call !== undefined) {
          call.leave = admitted.leave;
          call.enterWait = () => enterWait(admission, principal, call);
        }
      }
      watchCall(openCalls, identify, call);
      return principal;
    } catch (error) {
      // This check of the caller runs before all interceptors of Connect, so no interceptor can convert the error. It is converted to
      // Connect's error here, and the calling function sends it to the client.
      throw toConnectError(mapError(error, call));
    }
  };
}

function enterWait(admission: Admission, { projectId, quotas }: ProjectPrincipal, call: Call): void {
  const entered = admission.enter(projectId, quotas, "wait");
  if ("refusal" in entered) throw entered.refusal;
  const { leave } = call;
  call.leave = () => {
    entered.leave();
    leave?.();
  };
}

/**
 * Watches a call that may run long: a stream can stay open for hours, and a call may wait. The call is ended if the caller's key ends. A
 * call from a console page is also ended if the session ends, or if the session loses the key that the call uses.
 */
function watchCall({ watch }: OpenCalls, identify: () => Promise<Principal>, call: Call | undefined): void {
  if (call?.end === undefined) return;
  const [watched, leave] = [watch(identify, call.end), call.leave];
  call.confirm = watched.confirm;
  call.leave = () => {
    watched.end();
    leave?.();
  };
}

/**
 * Returns a function with which Connect's handlers call the gate (`admit`, the check of a call's key). The function stores the caller in
 * `principalContext`.
 */
export function createRequestGate(admit: Gate): (ctx: HandlerContext) => Promise<void> {
  return async ({ method, requestHeader, values }) => {
    const authorization = requestHeader.get("authorization");
    const [call, wait] = [values.get(callContext), values.get(keyLookupContext)];
    const principal = await admit({ method, authorization, call, wait });
    if (principal !== undefined) values.set(principalContext, principal);
  };
}

/**
 * Returns the caller that an Authorization header identifies. Rejects with API_KEY_MISSING or API_KEY_INVALID. Also rejects if the database
 * is unavailable, and with the errors of `wait`.
 */
export type Authenticate = (authorization: string | null, wait?: KeyLookupWait) => Promise<Principal>;

/** Creates the function with which a node finds out which caller an Authorization header identifies. */
export function createAuthenticator({
  keys,
  use,
  clock,
  sealer,
  adminToken,
}: Pick<GateOptions, "keys" | "use" | "clock" | "sealer" | "adminToken">): Authenticate {
  const adminDigest = adminToken === undefined ? undefined : digestSecret(adminToken);
  const withDataKeys = async (key: CallerKey | undefined) => {
    if (key !== undefined) await sealer.ready([key.projectId]);
    return key;
  };
  return async (authorization, wait = untilFound) => {
    const bearer = bearerOf(authorization);
    if (bearer === undefined) throw serverFaults.API_KEY_MISSING();
    const digest = digestSecret(bearer);
    if (adminDigest !== undefined && timingSafeEqual(digest, adminDigest)) return { kind: "admin" };
    const found = keys.find(digest);
    // Another node may have encrypted the call's data with a data key that this node does not know yet. The key of the caller and the data
    // keys are loaded in one wait.
    const key = found instanceof Promise ? await wait(found.then(withDataKeys)) : found;
    if (key === undefined || key.purpose !== "" || !isValidKey(key, clock.now()))
      throw serverFaults.API_KEY_INVALID(isMistyped(bearer));
    const loading = sealer.ready([key.projectId]);
    if (loading !== undefined) await wait(loading);
    use.note(key.id);
    return projectPrincipalOf(key);
  };
}

const untilFound: KeyLookupWait = (lookup) => lookup;

function assertRole(method: DescMethod, required: RequiredRole, principal: Principal): void {
  const present = principal.kind === "admin" ? "admin" : principal.role;
  const isAllowed = present === "admin" || required === "admin" ? present === required : hasRole(present, required);
  if (!isAllowed) throw serverFaults.ROLE_REQUIRED(`${method.parent.typeName}/${method.name}`, required, present);
}

/** Throws ENTITY_BOUND if a scoped key makes a call that no scoped key may make. */
function assertUnbound(method: DescMethod, principal: Principal): void {
  if (principal.kind !== "project" || principal.binding === undefined) return;
  throw bindingFaults.CALL_NOT_FOR_BOUND(`${method.parent.typeName}/${method.name}`, principal.binding);
}

/**
 * Checks a call with the key of a portal link. Throws ENTITY_BOUND if the call does not belong to the portal. Throws PORTAL_READ_ONLY if
 * the link permits only reading and the call changes something. `isRead`: true if the call only reads; undefined if the call does not
 * belong to the portal.
 */
function assertPortal(method: DescMethod, isRead: boolean | undefined, portal: PortalAccess): void {
  const name = `${method.parent.typeName}/${method.name}`;
  if (isRead === undefined) throw bindingFaults.CALL_NOT_FOR_PORTAL(name, portal.entityId);
  if (!isRead && portal.isReadOnly) throw bindingFaults.PORTAL_READ_ONLY(name);
}

/**
 * True if a text that should be a generated key contains a typing error. Keys of the bootstrap configuration have no fixed form, so they
 * are not checked.
 */
function isMistyped(bearer: string): boolean {
  return bearer.startsWith("svc_") && !isWellFormedApiKey(bearer);
}

/** Returns the token of an `Authorization: Bearer` header. The word `Bearer` may be in upper or lower case (RFC 9110, 11.1). */
export function bearerOf(header: string | null): string | undefined {
  if (header === null || !/^bearer /i.test(header)) return undefined;
  return header.slice("bearer ".length).trim() || undefined;
}
