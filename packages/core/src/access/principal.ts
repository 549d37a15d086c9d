import { type KeyId, type ProjectId, parseId } from "../ids/id.ts";
import type { Quotas } from "../quotas/quota.ts";
import type { AgentToolGroup } from "./agent-tools.ts";
import type { Binding } from "./binding.ts";
import type { ConfirmRule } from "./confirm.ts";

/** The role of a project's key; an approver may do everything a member may. */
export type Role = "member" | "approver";

/** A caller that presented a project's key. */
export type ProjectPrincipal = {
  kind: "project";
  projectId: ProjectId;
  keyId: KeyId;
  role: Role;
  /** What is set of its project's quotas; without it, all have their defaults. */
  quotas?: Quotas;
  /** What it is bound to; undefined for a key that reaches the whole project. */
  binding?: Binding | undefined;
  /** Which of its calls a person confirms, by its project's rule and by its own; undefined for none. */
  confirm?: readonly ConfirmRule[] | undefined;
  /** The tools that it was given over MCP beside those of apps. Default: none. */
  agentTools?: readonly AgentToolGroup[] | undefined;
  /** Whether it is a grant, which a person gave, and not a key that the administrator issued. */
  isGrant?: boolean | undefined;
};

/** Who makes a call: a project's key, or the administrator of the deployment. */
export type Principal = ProjectPrincipal | { kind: "admin" };

/** Names a value that goes with a call. */
export type ContextKey<Value> = { readonly id: symbol; readonly defaultValue: Value };

/** What a service method is told of its call, as far as this package reads it. Connect's own context is one. */
export type CallContext = { readonly values: { get<Value>(key: ContextKey<Value>): Value } };

/** Where the auth gate of packages/server leaves the caller; undefined on calls that need no key. */
export const principalContext: ContextKey<Principal | undefined> = {
  id: Symbol("svc principal"),
  defaultValue: undefined,
};

/**
 * The calling project of a service method. The auth gate lets nobody else reach such a method, so
 * anything else is a fault of wiring and throws a plain Error.
 */
export function requireProject(ctx: CallContext): ProjectPrincipal {
  const principal = ctx.values.get(principalContext);
  if (principal?.kind !== "project") {
    throw new Error(`call without a project: principal is ${principal?.kind ?? "missing"}`);
  }
  return principal;
}

/** Returns the keys that a chain of principals names, such as `["key:key_…", "standing:stp_…"]`, in its order. */
export function keysOfChain(chain: readonly string[]): readonly KeyId[] {
  return chain.flatMap((name) => (name.startsWith("key:") ? (parseId("key", name.slice(4)) ?? []) : []));
}
