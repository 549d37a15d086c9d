import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { hasRole, type Role as KeyRole } from "@svc/core";
import { BoundKey, bound_key, portal as portalOption, Role, required_role } from "@svc/gen/options";
import { readKeyRole } from "./role-message.ts";

/** Role that a call requires. `viewer`: any key of a project is sufficient. */
export type RequiredRole = KeyRole | "admin";

/**
 * Requirements of a router's calls. `roles`: required role; `unbound`: calls that no scoped key may make. `portal`: the calls that the keys
 * of portal links may make, each with true if it only reads.
 */
export type CallRules = {
  readonly roles: ReadonlyMap<DescMethod, RequiredRole>;
  readonly unbound: ReadonlySet<DescMethod>;
  readonly portal: ReadonlyMap<DescMethod, boolean>;
};

/**
 * Returns two declarations of each API call of a router: the role that its key needs, and the rule for scoped keys (keys limited to one
 * customer or to some calls). Calls outside svc.v1 (grpc.health.v1) need no key and are left out. Throws an Error if a call of svc.v1 has
 * no declaration, so that such a server does not start.
 */
export function readCallRules(router: Pick<ConnectRouter, "handlers">): CallRules {
  const roles = new Map<DescMethod, RequiredRole>();
  const unbound = new Set<DescMethod>();
  const portal = new Map<DescMethod, boolean>();
  for (const { method, service } of router.handlers) {
    if (!service.typeName.startsWith("svc.v1.")) continue;
    roles.set(method, requiredRole(method));
    if (isForUnbound(method)) unbound.add(method);
    if (isForPortal(method)) portal.set(method, /^(?:Get|List|Preview)[A-Z]/.test(method.name));
  }
  return { roles, unbound, portal };
}

function requiredRole(method: DescMethod): RequiredRole {
  const role = hasOption(method, required_role) ? getOption(method, required_role) : Role.UNSPECIFIED;
  const required = role === Role.ADMIN ? "admin" : readKeyRole(role);
  if (required !== undefined) return required;
  throw new Error(`${method.parent.typeName}/${method.name} declares no required_role`);
}

function isForUnbound(method: DescMethod): boolean {
  const declared = hasOption(method, bound_key) ? getOption(method, bound_key) : BoundKey.UNSPECIFIED;
  if (declared !== BoundKey.UNSPECIFIED) return declared === BoundKey.REFUSED;
  throw new Error(`${method.parent.typeName}/${method.name} declares no bound_key`);
}

/** True if a call can be made with the key of a portal link. Throws if such a call requires a role that these keys do not have. */
function isForPortal(method: DescMethod): boolean {
  if (!getOption(method, portalOption)) return false;
  const required = requiredRole(method);
  if (required !== "admin" && hasRole("member", required)) return true;
  throw new Error(
    `${method.parent.typeName}/${method.name} declares portal, and a required_role that no portal key has`,
  );
}
