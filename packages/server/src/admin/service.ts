import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { findVaultRotation, type VaultRotation } from "@svc/db/vault/rotations";
import { type AdminService, type VaultRotation as VaultRotationMessage, VaultRotationSchema } from "@svc/gen/admin";
import { auditMethods } from "./audit.ts";
import type { AdminContext } from "./context.ts";
import { erasureMethods } from "./erasures.ts";
import { keyMethods } from "./keys.ts";
import { peopleMethods } from "./people.ts";
import { projectMethods } from "./projects.ts";
import { usageMethods } from "./quotas.ts";
import { quarantineMethods, restoreMethods } from "./restores.ts";
import { secretMethods } from "./secrets.ts";

/** Returns the methods of AdminService for the vault key. */
function vaultMethods({
  db,
  rotateVault,
}: AdminContext): Pick<ServiceImpl<typeof AdminService>, "rotateVault" | "getVaultRotation"> {
  return {
    async rotateVault() {
      return { rotation: rotationMessage(await rotateVault()) };
    },
    async getVaultRotation() {
      const rotation = await findVaultRotation(db);
      return rotation === undefined ? {} : { rotation: rotationMessage(rotation) };
    },
  };
}

function rotationMessage(rotation: VaultRotation): VaultRotationMessage {
  const { number, state, toKeyId, fromKeyIds, resealed, pass, seen, total, problem, startedAt, finishedAt } = rotation;
  return create(VaultRotationSchema, {
    ...{ number, state, toKeyId, fromKeyIds, resealed, pass, seen, total, problem },
    startedAt: timestampFromMs(startedAt),
    ...(finishedAt !== null && { finishedAt: timestampFromMs(finishedAt) }),
  });
}

/**
 * Creates AdminService for a database. Every caller is the administrator, because the check of credentials has already refused all others.
 */
export function createAdminService(context: AdminContext): ServiceImpl<typeof AdminService> {
  return {
    ...projectMethods(context),
    ...usageMethods(context),
    ...keyMethods(context),
    ...peopleMethods(context),
    ...quarantineMethods(context),
    ...erasureMethods(context),
    ...vaultMethods(context),
    ...secretMethods(context),
    ...restoreMethods(context),
    ...auditMethods(context),
    ...context.jobs.administration,
  };
}
