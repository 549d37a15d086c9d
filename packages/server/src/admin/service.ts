import type { ServiceImpl } from "@connectrpc/connect";
import type { AdminService } from "@svc/gen/admin";
import { auditMethods } from "./audit.ts";
import type { AdminContext } from "./context.ts";
import { erasureMethods } from "./erasures.ts";
import { keyMethods } from "./keys.ts";
import { projectMethods } from "./projects.ts";
import { quarantineMethods } from "./quarantine.ts";
import { usageMethods } from "./quotas.ts";
import { restoreMethods } from "./restores.ts";
import { secretMethods } from "./secrets.ts";
import { vaultMethods } from "./vault.ts";

/** AdminService over one store. Whoever reaches it is the administrator: the auth gate lets nobody else through. */
export function createAdminService(context: AdminContext): ServiceImpl<typeof AdminService> {
  return {
    ...projectMethods(context),
    ...usageMethods(context),
    ...keyMethods(context),
    ...quarantineMethods(context),
    ...erasureMethods(context),
    ...vaultMethods(context),
    ...secretMethods(context),
    ...restoreMethods(context),
    ...auditMethods(context),
    ...context.jobs.administration,
  };
}
