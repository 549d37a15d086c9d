import { type KeyId, type PersonId, type ProjectId, parseId } from "../ids/id.ts";
import type { Quotas } from "../quotas/quota.ts";
import type { AgentToolGroup } from "./agent-tools.ts";
import type { Binding } from "./binding.ts";
import type { ConfirmRule } from "./confirm.ts";

/**
 * The roles of a project's keys, lowest first. A key may do everything that a lower role may do. A viewer reads, and sees neither payloads
 * nor results. A reader reads everything.
 */
export const roles = ["viewer", "reader", "member", "approver"] as const;

/** The role of a project's key. */
export type Role = (typeof roles)[number];

/** True if a key with the role `present` may do what needs the role `required`. */
export function hasRole(present: Role, required: Role): boolean {
  return roles.indexOf(present) >= roles.indexOf(required);
}

/** A caller that presented a project's key. */
export type ProjectPrincipal = {
  kind: "project";
  projectId: ProjectId;
  keyId: KeyId;
  role: Role;
  /** Quotas that are configured for the caller's project. All other quotas have their default values. Absent if none is configured. */
  quotas?: Quotas;
  /** Scope of the key. Undefined if the key can access the whole project. */
  binding?: Binding | undefined;
  /** Confirmation rules of the caller's project and key; undefined if no calls need confirmation. */
  confirm?: readonly ConfirmRule[] | undefined;
  /** Tool groups that the caller may use over MCP, in addition to the tools of apps. Default: none. */
  agentTools?: readonly AgentToolGroup[] | undefined;
  /** True if the caller uses a grant, which a person gave to an agent. False or undefined if it uses an API key. */
  isGrant?: boolean | undefined;
  /**
   * Set if the caller uses the portal, the pages on which a customer manages its own endpoints. Its calls reach only its entity (this
   * customer).
   */
  portal?: PortalAccess | undefined;
  /** The person who makes the call, if that person signed in with a company account. Undefined if the caller presented a key. */
  personId?: PersonId | undefined;
};

/** Access of a portal link to the endpoints of one entity (customer or user). `isReadOnly`: true if the link permits only reading. */
export type PortalAccess = { readonly entityId: string; readonly isReadOnly: boolean };

/**
 * The caller of a call: a project's key, or the administrator of the deployment. `personId`: the person who acts as administrator; undefined
 * if the caller presented the administrator's token.
 */
export type Principal = ProjectPrincipal | { kind: "admin"; personId?: PersonId | undefined };

/** A key under which the context of a call holds one value, for example the caller. `defaultValue`: the value if none was set. */
export type ContextKey<Value> = { readonly id: symbol; readonly defaultValue: Value };

/**
 * The part of a call's context that this package reads. The context that the RPC library Connect passes to service methods has this form.
 */
export type CallContext = { readonly values: { get<Value>(key: ContextKey<Value>): Value } };

/** Context key of the caller. The check of API keys in packages/server sets the value; it is undefined for calls that need no key. */
export const principalContext: ContextKey<Principal | undefined> = {
  id: Symbol("svc principal"),
  defaultValue: undefined,
};

/**
 * Context key of a function that counts an API call as waiting. A handler calls the function before it waits, for example for a job. The
 * function throws an error if too many calls of the project wait.
 */
export const waitContext: ContextKey<(() => void) | undefined> = { id: Symbol("svc wait"), defaultValue: undefined };

/**
 * Returns the project key that calls a service method. Throws a plain Error for any other caller. That would be a programming error,
 * because the check of API keys has already refused other callers.
 */
export function requireProject(ctx: CallContext): ProjectPrincipal {
  const principal = ctx.values.get(principalContext);
  if (principal?.kind !== "project") {
    throw new Error(`call without a project: principal is ${principal?.kind ?? "missing"}`);
  }
  return principal;
}

/**
 * Returns the ids of the API keys in a principal chain, in order. A principal chain lists who caused a job: keys, schedules and other
 * actors, for example `["key:key_…", "standing:stp_…"]`.
 */
export function keysOfChain(chain: readonly string[]): readonly KeyId[] {
  return chain.flatMap((name) => (name.startsWith("key:") ? (parseId("key", name.slice(4)) ?? []) : []));
}
