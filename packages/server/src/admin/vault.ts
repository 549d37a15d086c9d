import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { findVaultRotation, type VaultRotation } from "@svc/db/vault/rotations";
import { type AdminService, type VaultRotation as VaultRotationMessage, VaultRotationSchema } from "@svc/gen/admin";
import type { AdminContext } from "./context.ts";

/** The methods of AdminService about the vault key. */
export function vaultMethods({
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
