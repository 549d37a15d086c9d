import { type ContextKey, createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { KeyId, ProjectId } from "./id.ts";

/** The role of a project's key; an approver may do everything a member may. */
export type Role = "member" | "approver";

/** A caller that presented a project's key. */
export type ProjectPrincipal = {
  kind: "project";
  projectId: ProjectId;
  keyId: KeyId;
  role: Role;
};

/** Who makes a call: a project's key, or the administrator of the deployment. */
export type Principal = ProjectPrincipal | { kind: "admin" };

/** Where the auth gate of packages/server leaves the caller; undefined on calls that need no key. */
export const principalContext: ContextKey<Principal | undefined> = createContextKey<Principal | undefined>(undefined, {
  description: "svc principal",
});

/**
 * The calling project of a service method. The auth gate lets nobody else reach such a method, so
 * anything else is a fault of wiring and throws a plain Error.
 */
export function requireProject(ctx: Pick<HandlerContext, "values">): ProjectPrincipal {
  const principal = ctx.values.get(principalContext);
  if (principal?.kind !== "project") {
    throw new Error(`call without a project: principal is ${principal?.kind ?? "missing"}`);
  }
  return principal;
}
