import type { Work } from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import { requestJobCancel } from "@svc/db/jobs/cancel";
import { findJobTwin } from "@svc/db/jobs/find-twin";
import { loadJob } from "@svc/db/jobs/load";
import type { Work as JobWork } from "../state/apply.ts";
import { createChildPort, createUndoReader } from "./children.ts";
import { type CommitContext, type Commits, createCommit } from "./commit.ts";
import { openRows } from "./open-rows.ts";
import type { Port, Twin } from "./port.ts";
import { saveRecords } from "./records.ts";
import { readSetRows } from "./rows.ts";
import { readSetChunk } from "./set-chunks.ts";

/** How long the rows of one act are evaluated before what is known of them is committed. Milliseconds. */
const evaluatingMs = 1_000;

/** The port of a driver over the store and the apps, under one lease. */
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
      // Conditions of rows follow each other without a call between them, where they do not hold.
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
      const twin = await findJobTwin(db, id);
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

/** Under the twin's lock: one that ends meanwhile makes the task due after this commit has removed it. */
async function waitForTwin(db: Executor, work: JobWork, commit: Commits["commit"]): Promise<Twin> {
  const id = await findJobTwin(db, work.state.id);
  if (id === undefined) return { kind: "gone" };
  return withTransaction(db, async (tx) => {
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
