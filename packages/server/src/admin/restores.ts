import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { countHeldWork, findRestore, type HeldWork, type Restore, resumeRestored } from "@svc/db/restores/repo";
import { type AdminService, type Restore as RestoreMessage, RestoreSchema } from "@svc/gen/admin";
import type { AdminContext } from "./context.ts";
import { adminFaults } from "./errors.ts";

/** The methods of AdminService about a store that was restored from a backup. */
export function restoreMethods({
  db,
  clock,
}: AdminContext): Pick<ServiceImpl<typeof AdminService>, "getRestore" | "resumeRestored"> {
  return {
    async getRestore() {
      const restore = await findRestore(db);
      if (restore === undefined) return {};
      const waiting = restore.resumedAt === null ? await countHeldWork(db) : nothing;
      return { restore: restoreMessage(restore, waiting) };
    },
    async resumeRestored({ nothingSince }) {
      const resumed = await resumeRestored(db, { nowMs: clock.now(), isNothingSince: nothingSince });
      if (resumed === undefined) throw adminFaults.STORE_NOT_HELD();
      return { restore: restoreMessage(resumed.restore, resumed.waited) };
    },
  };
}

const nothing: HeldWork = { deliveries: 0, jobs: 0 };

function restoreMessage(restore: Restore, { deliveries, jobs }: HeldWork): RestoreMessage {
  const { backupEndsAt, restoredAt, resumedAt, isNothingSince } = restore;
  return create(RestoreSchema, {
    backupEndsAt: timestampFromMs(backupEndsAt),
    restoredAt: timestampFromMs(restoredAt),
    ...(resumedAt !== null && { resumedAt: timestampFromMs(resumedAt) }),
    nothingSince: isNothingSince,
    ...{ deliveries, jobs },
  });
}
