import type { Executor } from "../src/connect.ts";
import { allowLong, copyProject, deleteMoved, digestProject } from "../src/moves/copy.ts";
import { putMovedDataKeys, reserveDataKeyNumbers } from "../src/moves/data-keys.ts";
import {
  countSharedAccounts,
  findMovedProject,
  hasOpenErasure,
  holdTasks,
  lockMove,
  lockUnheld,
  releaseProject,
  setHold,
  writingNow,
} from "../src/moves/hold.ts";
import { keysWithoutPrefix, projectsHere } from "../src/moves/listed.ts";
import { movedTables } from "../src/moves/tables.ts";
import { nowMs } from "../src/test-rows.ts";
import { destroyDataKeys } from "../src/vault/data-keys.ts";
import { plan } from "./planner/plan.ts";
import { seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 9);
const owner = seededId("node", 1);

plan("find a project that moves", (db) => findMovedProject(db, { id: projectId }));
plan("find a project that moves by its name", (db) => findMovedProject(db, { name: "project-9" }));
plan("whether data of a project is being erased", (db) => hasOpenErasure(db, projectId));
plan("hold a project", (db) => setHold(db, projectId, { from: [""], to: "moving", movedTo: "c2" }));
plan("that no project of stored posts moves", (db) => lockUnheld(db, [projectId]));
plan("the accounts of a project that shared apps post about", (db) => countSharedAccounts(db, projectId));

// An operator runs these now and then. They read tables as a whole that have no index by project: queues, and tables of the catalog of
// PostgreSQL. Most statements of a move delete or digest all rows of a project.
const wholeReads = [...movedTables.map(({ name }) => name), "data_keys", "ledger_state", "console_seats"];
const byOperator = { wholeReads, statistics: ["fresh"] } as const;

plan("the transactions that write now", (db) => writingNow(db), byOperator);
plan("the lock of a move", (db) => lockMove(db), byOperator);
plan("take the tasks of a project", (db) => holdTasks(db, projectId, { owner, force: true }), byOperator);
plan(
  "release a project",
  async (db) => {
    await setHold(db, projectId, { from: [""], to: "moving", movedTo: "c2" });
    await releaseProject(db, projectId, { from: ["moving"], nowMs });
  },
  byOperator,
);
plan(
  "compare a project",
  async (db) => {
    await allowLong(db);
    await digestProject(db, projectId, { asCopied: false });
    await digestProject(db, projectId, { asCopied: true });
  },
  byOperator,
);
plan("copy a project", (db) => copyProject({ ...copied, from: db, to: unwritten }), byOperator);
plan("delete the copy of a project", (db) => deleteMoved(db, projectId), byOperator);
plan(
  "store the data keys of a project",
  async (db) => {
    await destroyDataKeys(db, projectId);
    const [number = 0] = await reserveDataKeyNumbers(db, 1);
    await putMovedDataKeys(db, projectId, [{ former: 1, use: "seal", wrapped: Buffer.alloc(1), number }]);
  },
  byOperator,
);
plan(
  "the map of a cell",
  async (db) => {
    for await (const _id of projectsHere(db)) break;
    for await (const _digest of keysWithoutPrefix(db, "svc_c2_")) break;
  },
  byOperator,
);

const copied = { projectId, name: "project-9", cell: "c2", translate: (_table: string, sealed: Buffer) => sealed };
/** A destination that stores nothing: the rows of the project are in this database already. */
const unwritten = { orm: { execute: async () => [] } } as unknown as Executor;
