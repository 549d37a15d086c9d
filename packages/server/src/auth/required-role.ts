import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { Role, required_role } from "@svc/gen/options";

/** Who a call is for. `member` is any key of a project. */
export type RequiredRole = "member" | "approver" | "admin";

/**
 * Reads the role that every call of a router declares. Calls outside svc.v1 (grpc.health.v1) need no key and are left
 * out. Throws an Error for a call of svc.v1 that declares none: such a server must not start.
 */
export function requiredRoles(router: ConnectRouter): ReadonlyMap<DescMethod, RequiredRole> {
  const roles = new Map<DescMethod, RequiredRole>();
  for (const { method, service } of router.handlers) {
    if (!service.typeName.startsWith("svc.v1.")) continue;
    roles.set(method, requiredRole(method));
  }
  return roles;
}

function requiredRole(method: DescMethod): RequiredRole {
  const role = hasOption(method, required_role) ? getOption(method, required_role) : Role.UNSPECIFIED;
  switch (role) {
    case Role.MEMBER:
      return "member";
    case Role.APPROVER:
      return "approver";
    case Role.ADMIN:
      return "admin";
    default:
      throw new Error(`${method.parent.typeName}/${method.name} declares no required_role`);
  }
}
