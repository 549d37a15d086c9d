import { requireId, type Work } from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import { requestJobCancel } from "@svc/db/jobs/hold";
import { loadJob } from "@svc/db/jobs/load";
import { type JobSetPositions, readJobSetPositions } from "@svc/db/jobs/sets";
import { findSimulationRun } from "@svc/db/jobs/simulation-run";
import { hasFailedUndo, nextJobUndoEntries } from "@svc/db/jobs/undo";
import { type JsonObject, readSkillName } from "@svc/program";
import type { WorkingJob as JobWork } from "../../state/apply.ts";
import type { JobState } from "../../state/job.ts";
import { undoneJob } from "../../steps/children.ts";
import type { Child, ChunkRange, OpenedRows, SetChunk } from "../../steps/effects.ts";
import { isScattered } from "../../steps/row-fields.ts";
import type { InnerUndo, Port, SimulationRun, UndoEntry } from "../port.ts";
import { createChildPort } from "../run/children.ts";
import { type CommitContext, type Commits, createCommit } from "./commit.ts";
import { openRows } from "./open-rows.ts";
import { openedFactor } from "./row-blocks.ts";
import { readSetRows } from "./rows.ts";
import { type JobSeals, jobSeals } from "./seals.ts";
import { saveRecords } from "./stored-program.ts";

/**
 * Maximum number of rows in one chunk (a group of consecutive rows that are read together). The larger maximum `scatteredRowsMax` is used
 * if the rows of a set are spread over many encrypted blocks, for example after sorting. With larger chunks, each block is decrypted less
 * often.
 */
const rowsMax = 2_000;
const scatteredRowsMax = 20_000;
/** Maximum approximate memory, in bytes, of a chunk (group of consecutive rows that are read together). */
const chunkBytesMax = openedFactor * 2_097_152;

/** Data for reading a job's rows in chunks. `roomOf`: for each set (list of rows), the number of rows that fit into a chunk. */
type ChunkReading = {
  readonly db: Executor;
  readonly seals: JobSeals;
  readonly work: Work;
  readonly roomOf: Map<string, number>;
};

/**
 * Returns the next chunk of a set (the list of rows that a step made), decrypted. A chunk is a group of consecutive rows that fits into
 * memory.
 */
export async function readSetChunk(
  { roomOf, ...reading }: ChunkReading,
  jobId: JobState["id"],
  { setId, states, fromOrdinal, withData = true }: ChunkRange,
): Promise<SetChunk> {
  const read = (limit: number) => readJobSetPositions(reading.db, { jobId, setId, states }, { fromOrdinal, limit });
  let limit = roomOf.get(setId) ?? rowsMax;
  let places = await read(limit);
  if (!withData) return chunkOf(places, { rows: places.ordinals.length, limit, fields: undefined, bytes: 0 });
  if (!roomOf.has(setId) && places.ordinals.length === limit && isScattered(places.rowNumbers)) {
    limit = scatteredRowsMax;
    places = await read(limit);
  }
  const opened = await openRows({ ...reading, jobId }, places.rowNumbers, chunkBytesMax);
  roomOf.set(setId, roomFor(opened, limit === scatteredRowsMax ? scatteredRowsMax : rowsMax));
  return chunkOf(places, { ...opened, limit });
}

function roomFor({ rows, bytes }: OpenedRows, most: number): number {
  const bytesOfOne = Math.max(1, bytes) / Math.max(1, rows);
  return Math.max(1, Math.min(most, Math.floor(chunkBytesMax / bytesOfOne)));
}

const noFields: JsonObject = {};

function chunkOf(
  { ordinals, rowNumbers, states }: JobSetPositions,
  {
    rows,
    limit,
    fields,
    bytes,
  }: { rows: number; limit: number; fields: OpenedRows["fields"] | undefined; bytes: number },
): SetChunk {
  const [lastOrdinal = 0] = ordinals.slice(-1);
  const isEnd = ordinals.length < limit;
  return {
    rows: ordinals.slice(0, rows).map((ordinal, index) => {
      const rowNumber = rowNumbers[index] ?? 0;
      const data = fields === undefined ? noFields : (fields.get(rowNumber) ?? noFields);
      return { ordinal, rowNumber, state: states[index] ?? "in", data };
    }),
    next: rows < ordinals.length ? ordinals[rows] : isEnd ? undefined : lastOrdinal + 1,
    bytes,
  };
}

/**
 * Longest time in milliseconds for which a step evaluates expressions over rows without a commit. Then its results so far are committed.
 */
const evaluatingMs = 1_000;

/** Returns the functions through which a node runs one job: they read and change the database and call apps. */
export function createStorePort(committing: CommitContext, work: Work): Port {
  const { context, lease, seals, db } = committing;
  const { clock, limits, asks, evaluator, onFaultPoint } = context;
  const { commit, commitUnlessLogged } = createCommit(committing);
  const reading = { db, seals, work, roomOf: new Map<string, number>() };
  return {
    clock,
    knownKeys: new Map(),
    atWork: work.atWork,
    patienceMs: limits.patienceMs,
    busyPollMs: limits.inDoubtPollMs,
    sliceMs: limits.sliceMs,
    lossesMax: limits.lossesMax,
    undoTries: limits.undoTries,
    undoBackoffMs: limits.undoBackoffMs,
    ...context.calls,
    confirmerOf: context.confirms.confirmerOf,
    saveRecords: (records) => saveRecords(context.db, records),
    async test({ scope }, condition, at) {
      // If the condition is false for many rows, no call is made for a long time. So other work of the node runs here when the time slice
      // is over.
      if (work.isSliceOver()) await work.turn();
      return evaluator.test(condition, { ...scope, calls: at?.calls }, work, at?.row);
    },
    testRows({ scope }, condition, rows, isDue) {
      const data = rows.map((row) => row.data);
      const untilMs = clock.now() + evaluatingMs;
      return evaluator.testRows(condition, data, scope, { work, isDue: () => clock.now() >= untilMs || isDue() });
    },
    computeRows({ scope }, expression, rows, isDue) {
      const data = rows.map((row) => row.data);
      const untilMs = clock.now() + evaluatingMs;
      return evaluator.computeRows(expression, data, scope, { work, isDue: () => clock.now() >= untilMs || isDue() });
    },
    compute: (scope, expression) => evaluator.compute(expression, scope, scope.row ?? null, work),
    inTurns: (parts) => runInTurns(parts, work),
    spareTime: work.spareTime,
    holdMemory: () => work.hold(),
    readRows: ({ id, projectId }, range) => context.rowStatements.run(projectId, () => readSetRows(reading, id, range)),
    readChunk: ({ id }, range) => readSetChunk(reading, id, range),
    openRows: ({ id: jobId }, rowNumbers, bytesMax) => openRows({ ...reading, jobId }, rowNumbers, bytesMax),
    commit,
    commitUnlessLogged,
    locked: (run) =>
      withTransaction(db, async (tx) => {
        const { jobId } = lease;
        const job = await loadJob(tx, jobId, { lock: true });
        return run({
          lastSeq: job?.lastSeq ?? 0,
          isPaused: (job?.pausedAt ?? null) !== null,
          async closeAsks(principalChain) {
            const events = principalChain && (await asks.withdraw(tx, { jobId, nowMs: clock.now(), principalChain }));
            return { events: events ?? [], asks: await asks.list(tx, jobId) };
          },
          commit: (work, parts) => commit(work, parts, tx),
        });
      }),
    prepareAsk: (input) => asks.prepare(db, input),
    findAsk: ({ id }, askId) => asks.find(db, id, askId as Parameters<typeof asks.find>[2], context.sealer),
    ...createUndoReader(committing),
    ...createChildPort(committing, commit),
    waitForTwin: (work) => waitForTwin(db, work, commit),
    async cancelTwin({ id, projectId }, chain) {
      const twin = await findSimulationRun(db, id);
      if (twin !== undefined) await requestJobCancel(db, { jobId: twin, projectId, chain, nowMs: clock.now() });
    },
    hashReceipt: context.hashReceipt,
    onFaultPoint,
  };
}

async function runInTurns<T>(parts: Iterator<Promise<void> | undefined, T>, work: Work): Promise<T> {
  const slice = () => {
    for (;;) {
      const reached = parts.next();
      if (reached.done === true || reached.value !== undefined || work.isSliceOver()) return reached;
    }
  };
  for (;;) {
    const { done, value } = work.run(slice);
    if (done === true) return value;
    if (value !== undefined) await value;
    if (work.isSliceOver()) await work.turn();
  }
}

/** Returns the state of the job's simulation run. If the simulation still runs, stores that this job waits for its end. */
async function waitForTwin(db: Executor, work: JobWork, commit: Commits["commit"]): Promise<SimulationRun> {
  const id = await findSimulationRun(db, work.state.id);
  if (id === undefined) return { kind: "gone" };
  return withTransaction(db, async (tx) => {
    // With this lock, an end of the simulation commits after this transaction. The end then makes this job's task due, and is not missed.
    const twin = await loadJob(tx, id, { lock: true });
    if (twin === undefined) return { kind: "gone" };
    if (twin.finishedAt === null) {
      await commit(work, { task: "end" }, tx);
      return { kind: "running" };
    }
    const receipt = twin.receipt;
    const { lastError } = twin;
    return { kind: "ended", id, status: twin.status, lastError, outcome: receipt?.outcome ?? "" };
  });
}

/** Returns the function that reads the next undo entry of a job, including entries of its child jobs. */
function createUndoReader({ context, db }: CommitContext): Pick<Port, "nextUndo"> {
  const next = async (projectId: JobState["projectId"], jobId: Child["id"]): Promise<UndoEntry | undefined> => {
    const [found] = await nextJobUndoEntries(db, jobId, 1);
    if (found === undefined) return undefined;
    const { entry, stepId, toolSlug, entityId, args } = found;
    const seals = jobSeals(context.sealer, projectId, jobId);
    return { entry, stepId, toolSlug, entityId, args: seals.openObject(`undo/${entry}`, args) };
  };
  /** Returns the next undo entry (the recorded way to undo one call) of a child job or of its own children, at any depth. */
  const within = async (projectId: JobState["projectId"], jobId: Child["id"]): Promise<InnerUndo> => {
    const entry = await next(projectId, jobId);
    if (entry === undefined) return { kind: "over", hasFailed: await hasFailedUndo(db, jobId) };
    const inner = childOfEntry(entry);
    const found = inner && (await within(projectId, inner));
    if (found === undefined) return { kind: "call", jobId, entry };
    return found.kind === "over" ? { kind: "close", jobId, entry, hasFailed: found.hasFailed } : found;
  };
  return {
    async nextUndo({ id, projectId }) {
      const entry = await next(projectId, id);
      const child = entry && childOfEntry(entry);
      return child === undefined ? entry : entry && { ...entry, inner: await within(projectId, child) };
    },
  };
}

/** Returns the child job that an undo entry represents, or undefined if the entry is a call. */
function childOfEntry({ toolSlug, args }: UndoEntry): Child["id"] | undefined {
  return readSkillName(toolSlug) === undefined ? undefined : requireId("job", undoneJob, String(args[undoneJob]));
}
