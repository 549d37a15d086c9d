import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { openPageToken, pageSizeOf, requireId, requireProject, sealPageToken } from "@svc/core";
import { listJobUndoEntries } from "@svc/db";
import { type JobsService, ListUndoEntriesResponseSchema, UndoEntrySchema } from "@svc/gen/jobs";
import type { JobsContext } from "./context.ts";
import { findJob } from "./log.ts";

type Methods = Pick<ServiceImpl<typeof JobsService>, "listUndoEntries">;

/** ListUndoEntries. */
export function undoMethods(context: JobsContext): Methods {
  const { db, sealer } = context;
  return {
    async listUndoEntries(request, ctx) {
      const { projectId } = requireProject(ctx);
      const jobId = requireId("job", "jobId", request.jobId);
      const scope = { call: "ListUndoEntries", projectId, filters: { jobId } };
      const size = pageSizeOf(request.pageSize);
      const afterEntry = request.pageToken === "" ? 0 : Number(openPageToken(sealer, scope, request.pageToken));
      await findJob(context, projectId, jobId);
      const rows = await listJobUndoEntries(db, jobId, { afterEntry, limit: size + 1 });
      const shown = rows.slice(0, size);
      const last = rows.length > size ? shown.at(-1) : undefined;
      return create(ListUndoEntriesResponseSchema, {
        entries: shown.map((row) => create(UndoEntrySchema, row)),
        nextPageToken: last === undefined ? "" : sealPageToken(sealer, scope, String(last.entry)),
      });
    },
  };
}
