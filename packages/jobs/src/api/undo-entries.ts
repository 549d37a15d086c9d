import type { ServiceImpl } from "@connectrpc/connect";
import { projectList, requireId } from "@svc/core";
import { type ListedUndoEntry, listJobUndoEntries } from "@svc/db/jobs/undo-entries";
import type { JobsService } from "@svc/gen/jobs";
import type { JobsContext } from "./context.ts";
import { findJob } from "./log.ts";

/** ListUndoEntries. */
export function undoMethods(context: JobsContext): Pick<ServiceImpl<typeof JobsService>, "listUndoEntries"> {
  const { db, sealer } = context;
  return {
    listUndoEntries: projectList(sealer, {
      call: "ListUndoEntries",
      order: { placeOf: ({ entry }: ListedUndoEntry) => String(entry), read: Number },
      filter: ({ jobId }) => ({ jobId: requireId("job", "jobId", jobId) }),
      async rows({ filter: { jobId }, page: { after = 0, limit }, caller: { projectId } }) {
        await findJob(context, projectId, jobId);
        return listJobUndoEntries(db, jobId, { afterEntry: after, limit });
      },
      answer: (rows) => ({ entries: [...rows] }),
    }),
  };
}
