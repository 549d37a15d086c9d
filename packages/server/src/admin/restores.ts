import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { adminList, byId, requireId } from "@svc/core";
import { countHeldWork, findRestore, type PausedWork, type Restore, resumeRestored } from "@svc/db/restores/repo";
import { type AdminService, type Restore as RestoreMessage, RestoreSchema } from "@svc/gen/admin";
import { quarantinedPostMessage, quarantineFaults, releasePosts } from "@svc/node";
import type { AdminContext } from "./context.ts";
import { adminFaults } from "./errors.ts";

/** Returns the methods of AdminService for a database that was restored from a backup. */
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

const nothing: PausedWork = { deliveries: 0, jobs: 0 };

function restoreMessage(restore: Restore, { deliveries, jobs }: PausedWork): RestoreMessage {
  const { backupEndsAt, restoredAt, resumedAt, isNothingSince } = restore;
  return create(RestoreSchema, {
    backupEndsAt: timestampFromMs(backupEndsAt),
    restoredAt: timestampFromMs(restoredAt),
    ...(resumedAt !== null && { resumedAt: timestampFromMs(resumedAt) }),
    nothingSince: isNothingSince,
    ...{ deliveries, jobs },
  });
}

type Methods = "listQuarantinedPosts" | "getQuarantinedPost" | "releaseQuarantinedPosts";

/**
 * Returns the methods of AdminService for quarantined webhook posts (which svc could not turn into events) to shared toolkits (apps of all
 * projects).
 */
export function quarantineMethods(context: AdminContext): Pick<ServiceImpl<typeof AdminService>, Methods> {
  const { sealer, quarantine, catalog } = context;
  return {
    listQuarantinedPosts: adminList(sealer, {
      call: "ListQuarantinedPosts",
      order: byId("qrn"),
      filter: ({ toolkitSlug, reason, includeReleased }) => ({ toolkitSlug, reason, includeReleased }),
      rows: ({ filter, page }) =>
        quarantine.list({ ...filter, owner: undefined, sinceMs: undefined, untilMs: undefined }, page),
      answer: (rows) => ({ posts: rows.map(quarantinedPostMessage) }),
    }),
    async getQuarantinedPost(request) {
      const id = requireId("qrn", "id", request.id);
      const found = await quarantine.find(id, undefined);
      if (found === undefined) throw quarantineFaults.QUARANTINED_POST_NOT_FOUND(id);
      return { post: quarantinedPostMessage(found.post), body: found.body };
    },
    releaseQuarantinedPosts: (request) =>
      releasePosts(context, { owner: undefined, toolkits: catalog.toolkits }, request),
  };
}
