import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { askFaults } from "@svc/asks";
import { type Id, type ProjectId, projectList, requireId, requireProject } from "@svc/core";
import { loadJob } from "@svc/db/jobs/load";
import type { JobEventRecord, JobRecord } from "@svc/db/jobs/record";
import { jobsForProject } from "@svc/db/jobs/repo";
import {
  type JobEvent,
  JobEventSchema,
  type JobsService,
  type WatchJobRequest,
  type WatchJobResponse,
  WatchJobResponseSchema,
} from "@svc/gen/jobs";
import type { JobsContext } from "./context.ts";

type Methods = Pick<ServiceImpl<typeof JobsService>, "listJobEvents" | "watchJob">;

/** Dependencies of reading logs. */
export type LogContext = Pick<JobsContext, "db" | "clock" | "sealer" | "hints" | "watchPollMs">;

/** Number of log entries that one statement reads. */
const chunkSize = 1000;
/**
 * Shortest pause between two reads of a watched log, in milliseconds. After each read without news the pause doubles, up to `watchPollMs`.
 */
const watchPollMsMin = 25;
const watchPollMsDefault = 500;

/** Returns the methods of JobsService that list the entries of a job's log and stream new entries. */
export function logMethods(context: LogContext): Methods {
  const { sealer } = context;
  return {
    listJobEvents: projectList(sealer, {
      call: "ListJobEvents",
      order: { positionOf: ({ seq }: JobEventRecord) => String(seq), read: Number },
      // Without a page size, the response contains the whole log.
      sizes: { fallback: 0, max: chunkSize },
      filter: ({ jobId }) => ({ jobId: requireId("job", "jobId", jobId) }),
      async rows({ filter: { jobId }, page: { after: afterSeq = 0, size, limit }, caller: { projectId } }) {
        await findJob(context, projectId, jobId);
        const rows = await readLog(context, { projectId, jobId, afterSeq, limit: size === 0 ? undefined : limit });
        return { rows, size: size === 0 ? rows.length : size };
      },
      answer: (rows) => ({ events: rows.map(toJobEvent) }),
    }),
    watchJob: (request, ctx) => watch(context, request, ctx),
  };
}

/** Returns a job of the project. Throws JOB_NOT_FOUND if the project has no such job. */
export async function findJob(
  { db }: Pick<LogContext, "db">,
  projectId: ProjectId,
  jobId: Id<"job">,
): Promise<JobRecord> {
  const job = await loadJob(db, jobId);
  if (job === undefined || job.projectId !== projectId) throw askFaults.JOB_NOT_FOUND("jobId", jobId);
  return job;
}

type LogRange = { projectId: ProjectId; jobId: Id<"job">; afterSeq: number; limit: number | undefined };

/** Returns up to `limit` entries of a log, read in chunks. Without a limit it returns the whole log. */
async function readLog({ db }: LogContext, { projectId, jobId, afterSeq, limit }: LogRange): Promise<JobEventRecord[]> {
  const repository = jobsForProject(db, projectId);
  if (limit !== undefined) return repository.listEvents(jobId, { afterSeq, limit });
  const rows: JobEventRecord[] = [];
  for (;;) {
    const chunk = await repository.listEvents(jobId, { afterSeq: rows.at(-1)?.seq ?? afterSeq, limit: chunkSize });
    rows.push(...chunk);
    if (chunk.length < chunkSize) return rows;
  }
}

/**
 * Streams the log entries of a job, read from the database. The stream ends normally only at the end of the log. If the caller or a
 * shutdown stops the stream, it fails.
 */
async function* watch(
  context: LogContext,
  request: WatchJobRequest,
  { signal, values }: HandlerContext,
): AsyncGenerator<WatchJobResponse> {
  const { projectId } = requireProject({ values });
  const jobId = requireId("job", "jobId", request.jobId);
  let seq = request.afterSeq;
  let grown = new AbortController();
  let pauseMs = watchPollMsMin;
  let isExpected = true;
  const unsubscribe = context.hints.subscribe(jobId, () => grown.abort("grown"));
  try {
    for (;;) {
      // This signal is created before the log is read, so that it also reports commits that happen during the read.
      grown = new AbortController();
      // If the job has already ended, a read that starts after this point returns the complete log.
      const read = () => readLog(context, { projectId, jobId, afterSeq: seq, limit: chunkSize });
      // If the log has probably grown, the job and its new log entries are read at the same time. The log is read a second time only if the
      // job has newer entries.
      const [job, early] = await Promise.all([findJob(context, projectId, jobId), isExpected ? read() : undefined]);
      const isWhole = early !== undefined && (early.length === chunkSize || (early.at(-1)?.seq ?? seq) >= job.lastSeq);
      const rows = isWhole ? early : job.lastSeq > seq ? await read() : [];
      for (const event of rows) {
        signal.throwIfAborted();
        seq = event.seq;
        yield create(WatchJobResponseSchema, { event: toJobEvent(event) });
      }
      if (job.finishedAt !== null && rows.length < chunkSize) return;
      if (rows.length === 0) {
        await context.clock.wait(pauseMs, AbortSignal.any([signal, grown.signal]));
      }
      signal.throwIfAborted();
      isExpected = grown.signal.aborted;
      // The next pause is short in two cases. If entries were read, more entries will probably follow soon. If this node has just announced
      // a new entry, the entry may not be committed yet.
      pauseMs = rows.length > 0 || grown.signal.aborted ? watchPollMsMin : Math.min(2 * pauseMs, pollMsOf(context));
    }
  } finally {
    unsubscribe();
  }
}

function pollMsOf({ watchPollMs = watchPollMsDefault }: LogContext): number {
  return watchPollMs;
}

/** Converts a stored entry of a job's log to the form of the API. */
function toJobEvent(event: JobEventRecord): JobEvent {
  return create(JobEventSchema, {
    jobId: event.jobId,
    seq: event.seq,
    type: event.type,
    stepId: event.stepId,
    at: timestampFromMs(event.at),
    payloadJson: event.payload,
    principalChain: event.principalChain,
  });
}
