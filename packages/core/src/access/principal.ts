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
  /** Configured quotas of its project; without it, all have their defaults. */
  quotas?: Quotas;
  /** Scope of the key; undefined if it can access the whole project. */
  binding?: Binding | undefined;
  /** Rules for calls that a person confirms, of its project and its own; undefined for none. */
  confirm?: readonly ConfirmRule[] | undefined;
  /** Tool groups it gets over MCP in addition to the tools of apps. Default: none. */
  agentTools?: readonly AgentToolGroup[] | undefined;
  /** True if it is a person's grant, and not a key from the administrator. */
  isGrant?: boolean | undefined;
};

/** The caller of a call: a project's key, or the administrator of the deployment. */
export type Principal = ProjectPrincipal | { kind: "admin" };

/** Identifies a value in a call's context. */
export type ContextKey<Value> = { readonly id: symbol; readonly defaultValue: Value };

/** Context of a call, as far as this package reads it. Connect's context is one. */
export type CallContext = { readonly values: { get<Value>(key: ContextKey<Value>): Value } };

/** Key of the caller in the context, set by the auth gate of packages/server; undefined for calls that need no key. */
export const principalContext: ContextKey<Principal | undefined> = {
  id: Symbol("svc principal"),
  defaultValue: undefined,
};

/**
 * Returns the calling project of a service method. The auth gate refuses other callers, so any other principal is a programming error and
 * throws a plain Error.
 */
export function requireProject(ctx: CallContext): ProjectPrincipal {
  const principal = ctx.values.get(principalContext);
  if (principal?.kind !== "project") {
    throw new Error(`call without a project: principal is ${principal?.kind ?? "missing"}`);
  }
  return principal;
}

/** Returns the keys in a principal chain, such as `["key:key_…", "standing:stp_…"]`, in order. */
export function keysOfChain(chain: readonly string[]): readonly KeyId[] {
  return chain.flatMap((name) => (name.startsWith("key:") ? (parseId("key", name.slice(4)) ?? []) : []));
}
