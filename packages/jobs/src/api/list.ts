import type { Id } from "@svc/core";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import type { JobFilter } from "@svc/db/jobs/list-filter";
import type { JobRepository } from "@svc/db/jobs/repo";

/** Jobs read at once: a program may take 256 KiB. */
const chunkSize = 50;
/** A page ends early once its programs take this much. */
const pageBytesMax = 8_388_608;

/**
 * Reads the rows of one page and, where more follow, one beyond it. However many are asked for, no more programs are held than fit
 * an answer: such a page is shorter, and its token goes on from there.
 */
export async function readPage(
  repository: Pick<JobRepository, "list">,
  filter: JobFilter,
  { after, size }: { readonly after: Id<"job"> | undefined; readonly size: number },
): Promise<{ readonly rows: readonly ListedJob[]; readonly size: number }> {
  const rows: ListedJob[] = [];
  for (let bytes = 0; rows.length <= size; ) {
    const limit = Math.min(chunkSize, size + 1 - rows.length);
    const chunk = await repository.list(filter, { after: rows.at(-1)?.id ?? after, limit });
    for (const row of chunk) {
      // One job is always shown, and the one that does not fit any more tells that there are more.
      bytes += row.sealedProgram?.length ?? row.program?.length ?? 0;
      rows.push(row);
      if (bytes > pageBytesMax && rows.length > 1) return { rows, size: rows.length - 1 };
    }
    if (chunk.length < limit) break;
  }
  return { rows, size };
}

/** What a page looks at where a title is looked for: so many jobs at most, and no more once their programs take this much. */
const walkedMax = 2_000;
const walkedBytesMax = 33_554_432;
const walkChunkSize = 200;

/**
 * Reads the rows of one page that `fits`, and where more follow one beyond it. `walkedTo`: the last that was looked at, where it ends
 * before the list does.
 */
export async function walkPage(
  repository: Pick<JobRepository, "list">,
  filter: JobFilter,
  { after, size }: { readonly after: Id<"job"> | undefined; readonly size: number },
  fits: (job: ListedJob) => boolean,
): Promise<{ readonly rows: readonly ListedJob[]; readonly walkedTo: Id<"job"> | undefined }> {
  const rows: ListedJob[] = [];
  let last = after;
  for (let walked = 0, bytes = 0; walked < walkedMax && bytes < walkedBytesMax; ) {
    const chunk = await repository.list(filter, { after: last, limit: walkChunkSize });
    for (const row of chunk) {
      bytes += row.sealedProgram?.length ?? row.program?.length ?? 0;
      if (fits(row)) rows.push(row);
      if (rows.length > size) return { rows, walkedTo: undefined };
    }
    last = chunk.at(-1)?.id ?? last;
    walked += chunk.length;
    if (chunk.length < walkChunkSize) return { rows, walkedTo: undefined };
  }
  return { rows, walkedTo: last };
}
