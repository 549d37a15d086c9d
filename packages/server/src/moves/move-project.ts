import { type Clock, createId, type NodeId, type ProjectId, parseId, type VaultKey } from "@svc/core";
import { type Database, type Executor, withTransaction } from "@svc/db/connect";
import { countMigrations } from "@svc/db/migrate";
import { allowLong, copyProject, deleteMoved, digestProject, tablesThatDiffer } from "@svc/db/moves/copy";
import {
  type BusyTasks,
  countSharedAccounts,
  findMovedProject,
  hasOpenErasure,
  holdTasks,
  lockMove,
  type MovedProject,
  releaseProject,
  setHold,
  writingNow,
} from "@svc/db/moves/hold";
import { MoveError } from "./errors.ts";
import { moveKeys, openKeyrings } from "./keyrings.ts";

/**
 * Points at which tests interrupt the move of a project between two deployments. `held`: the project takes no requests in the source.
 * `quiet`: no node works on it. `copied`: the destination has a copy that does not work yet. `switched`: the source gave the project up.
 * `released`: it works in the destination.
 */
export type MoveFaultPoint = "held" | "quiet" | "copied" | "switched" | "released";

/** Dependencies and options of a move. */
export type MoveOptions = {
  readonly from: Database;
  readonly to: Database;
  readonly clock: Clock;
  readonly vaultKeys: readonly VaultKey[];
  /** Id or name of the project. */
  readonly project: string;
  /** Name of the destination's cell. */
  readonly cell: string;
  /** Name of the project in the destination. Default: its name in the source. */
  readonly name?: string | undefined;
  /** True to move a project whose accounts get posts of shared toolkits. Those posts stay with the cell that their path names. */
  readonly leavesSharedPosts: boolean;
  /** Milliseconds that work in progress gets to end by itself. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  readonly onFaultPoint?: ((point: MoveFaultPoint) => Promise<void> | void) | undefined;
};

/** A project that was moved, with the number of its rows. */
export type MoveResult = { readonly projectId: ProjectId; readonly cell: string; readonly rows: number };

/** Maximum number of copies that are made until nothing of the project changes during one. */
const copiesMax = 3;
/** Milliseconds for which a node may still use what it read before the project was held. Nodes read keys again after a second. */
const cachedMs = 2_500;
const lookEveryMs = 100;

/**
 * Moves a project to another deployment: stops its work, copies its rows, and starts its work in the destination. If anything fails before
 * the source gives the project up, the project works in the source again. An interrupted move is continued by another call with the same
 * options. At every moment, at most one deployment works for the project.
 */
export async function moveProject(options: MoveOptions): Promise<MoveResult> {
  return withLock(options, async (here) => {
    const there = await findMovedProject(options.to, { id: here.id });
    if (here.hold === "moved") return finish(options, here, there);
    if (here.hold === "arriving" || there?.hold === "" || there?.hold === "moved" || there?.hold === "moving")
      throw new MoveError(stateText(here, there));
    await check(options, here, there);
    const move: Move = {
      ...options,
      id: here.id,
      named: options.name ?? here.name,
      owner: createId("node", options.clock.now()),
    };
    await hold(move);
    let rows = 0;
    try {
      await options.onFaultPoint?.("held");
      await quiet(move);
      await options.onFaultPoint?.("quiet");
      rows = await copyUntilSame(move);
    } catch (error) {
      await undo(move);
      throw error;
    }
    await options.onFaultPoint?.("switched");
    await release(options, here.id);
    return { projectId: here.id, cell: options.cell, rows };
  });
}

/** Ends an interrupted move: the project works in the source again, and the copy in the destination is deleted. */
export async function cancelMove(options: MoveOptions): Promise<ProjectId> {
  return withLock(options, async (here) => {
    if (here.hold !== "moving")
      throw new MoveError(
        here.hold === "moved"
          ? `project "${here.name}" works in cell ${here.movedTo} already: move it back from there`
          : `project "${here.name}" is not being moved`,
      );
    await undo({ ...options, id: here.id });
    return here.id;
  });
}

/** Deletes the old copy of a project that works in another cell. Returns the number of its rows. The audit log stays. */
export async function removeMoved(options: MoveOptions): Promise<number> {
  return withLock(options, async (here) => {
    const there = await findMovedProject(options.to, { id: here.id });
    if (here.hold !== "moved" || there?.hold !== "")
      throw new MoveError(
        `project "${here.name}" does not work in cell ${options.cell}, so its rows here are not a copy`,
      );
    return deleteCopy(options.from, here.id);
  });
}

type Move = MoveOptions & { readonly id: ProjectId; readonly named: string; readonly owner: NodeId };

/** Runs `run` while no other process moves a project of the source. */
async function withLock<Result>(
  { from, project }: MoveOptions,
  run: (here: MovedProject) => Promise<Result>,
): Promise<Result> {
  const id = parseId("prj", project);
  const here = await findMovedProject(from, id === undefined ? { name: project } : { id });
  if (here === undefined) throw new MoveError(`the source has no project "${project}": give its id or its name`);
  return withTransaction(from, async (tx) => {
    await allowLong(tx);
    if (!(await lockMove(tx))) throw new MoveError("another process moves a project of the source: wait until it ends");
    // Read again, because the process before may have changed it.
    const now = await findMovedProject(from, { id: here.id });
    if (now === undefined) throw new MoveError(`the source has no project "${project}" any more`);
    return run(now);
  });
}

async function check(options: MoveOptions, here: MovedProject, there: MovedProject | undefined): Promise<void> {
  const { from, to, cell, vaultKeys } = options;
  for (const [which, { sql }] of [
    ["source", from],
    ["destination", to],
  ] as const) {
    const { pending, unknown } = await countMigrations(sql);
    if (pending + unknown > 0)
      throw new MoveError(
        `the database of the ${which} is of another version of svc: both cells and this command need the same version`,
      );
  }
  if (here.hold === "moving" && here.movedTo !== cell)
    throw new MoveError(
      `project "${here.name}" is being moved to cell ${here.movedTo}: continue that move, or cancel it first`,
    );
  if (await hasOpenErasure(from, here.id))
    throw new MoveError(`data of project "${here.name}" is being erased: move it when the erasure is done`);
  const name = options.name ?? here.name;
  const named = await findMovedProject(to, { name });
  if (named !== undefined && named.id !== here.id)
    throw new MoveError(`the destination has another project "${name}": give the project a name that is free there`);
  const shared = options.leavesSharedPosts ? 0 : await countSharedAccounts(from, here.id);
  if (shared > 0)
    throw new MoveError(
      `apps of all projects post about ${shared} accounts of project "${here.name}", and their posts would stay in the source: allow that, or keep the project here`,
    );
  await openKeyrings({ from, to }, here.id, vaultKeys);
  if (there !== undefined) await deleteCopy(to, here.id);
}

/** Ends the work of the source for the project: it takes no calls and posts from now on. */
async function hold({ from, id, cell, onProgress }: Move): Promise<void> {
  if (!(await setHold(from, id, { from: ["", "moving"], to: "moving", movedTo: cell })))
    throw new MoveError("the project changed its state while the move began: try again");
  onProgress("the project is held: calls and posts are answered with 503 until it works in the destination");
}

/**
 * Waits until nothing of the project changes in the source. Work in progress ends by itself within `waitMs`. After that, its tasks are taken
 * from the nodes. Calls that such work has sent are in the ledger.
 */
async function quiet(move: Move): Promise<void> {
  const { from, id, clock, owner, waitMs, signal, onProgress } = move;
  const writing = await writingNow(from);
  const beganMs = clock.now();
  for (let told = ""; ; ) {
    const waitedMs = clock.now() - beganMs;
    const busy = await holdTasks(from, id, { owner, force: waitedMs >= waitMs });
    const open = writing.size === 0 ? [] : [...(await writingNow(from))].filter((name) => writing.has(name));
    const text = busyText(busy, open.length);
    if (text === "" && waitedMs >= cachedMs) return;
    if (waitedMs >= waitMs * 2 + cachedMs) throw new MoveError(`work of the project did not end in time: ${text}`);
    if (text !== "" && text !== told) onProgress(`waiting for ${text}`);
    told = text;
    await clock.wait(lookEveryMs, signal);
    if (signal.aborted) throw new MoveError("the move was interrupted: the project works in the source again");
  }
}

function busyText(busy: BusyTasks, transactions: number): string {
  const tables = Object.entries(busy).map(([table, count]) => `${count} of ${table}`);
  return [...tables, ...(transactions === 0 ? [] : [`${transactions} transactions`])].join(", ");
}

async function copyUntilSame(move: Move): Promise<number> {
  for (let copies = 1; ; copies++) {
    const { rows, differing } = await copyOnce(move);
    if (differing.length === 0) return rows;
    if (copies === copiesMax)
      throw new MoveError(
        `the project changed during each of ${copies} copies, in ${differing.join(", ")}: try again later`,
      );
    move.onProgress(`the project changed during the copy (${differing.join(", ")}): copying again`);
    await quiet(move);
  }
}

/** Copies the project once. If it changed meanwhile, deletes the copy and returns the tables that differ. Otherwise gives it up here. */
async function copyOnce(move: Move): Promise<{ readonly rows: number; readonly differing: readonly string[] }> {
  const { from, to, id, cell, onFaultPoint } = move;
  const { rows, source } = await withTransaction(to, (into) => copyInto(move, into));
  await onFaultPoint?.("copied");
  const differing = await withTransaction(from, async (tx) => {
    await allowLong(tx);
    const left = tablesThatDiffer(source, await digestProject(tx, id, { asCopied: false }));
    if (left.length > 0) return left;
    const there = await findMovedProject(to, { id });
    if (there?.hold !== "arriving") throw new MoveError("the copy is gone: another process moves the project");
    const isSwitched = await setHold(tx, id, { from: ["moving"], to: "moved", movedTo: cell });
    if (!isSwitched) throw new MoveError("the project changed its state during the move: try again");
    return left;
  });
  if (differing.length > 0) await deleteCopy(to, id);
  return { rows, differing };
}

async function copyInto(move: Move, into: Executor) {
  const { from, id, named, cell, vaultKeys, onProgress } = move;
  await allowLong(into);
  return withTransaction(from, async (source) => {
    await source.orm.execute("set transaction isolation level repeatable read");
    await allowLong(source);
    const digests = await digestProject(source, id, { asCopied: false });
    const keyrings = await openKeyrings({ from: source, to: into }, id, vaultKeys);
    const keys = await moveKeys({ from: source, to: into }, id, keyrings);
    const counts = await copyProject({
      ...{ from: source, to: into, projectId: id, name: named, cell, translate: keys.translate, onProgress: undefined },
    });
    await keys.put(into);
    const [a, b] = [
      await digestProject(source, id, { asCopied: true }),
      await digestProject(into, id, { asCopied: true }),
    ];
    const wrong = tablesThatDiffer(a, b);
    if (wrong.length > 0)
      throw new MoveError(`the copy differs from the source in ${wrong.join(", ")}: nothing was moved`);
    const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
    onProgress(`${rows} rows copied, and their digests compared`);
    return { rows, source: digests };
  });
}

async function finish(options: MoveOptions, here: MovedProject, there: MovedProject | undefined): Promise<MoveResult> {
  if (here.movedTo !== options.cell || there === undefined) throw new MoveError(stateText(here, there));
  if (there.hold === "arriving") await release(options, here.id);
  return { projectId: here.id, cell: options.cell, rows: 0 };
}

async function release({ to, clock, onFaultPoint }: MoveOptions, id: ProjectId): Promise<void> {
  const isReleased = await releaseProject(to, id, { from: ["arriving"], nowMs: clock.now() });
  if (!isReleased && (await findMovedProject(to, { id }))?.hold !== "")
    throw new MoveError("the destination has no copy of the project that can begin to work");
  await onFaultPoint?.("released");
}

/** Lets the project work in the source again, unless the source has given it up. */
async function undo({ from, to, clock, id }: MoveOptions & { readonly id: ProjectId }): Promise<void> {
  const here = await findMovedProject(from, { id });
  if (here?.hold !== "moving") return;
  const there = await findMovedProject(to, { id });
  if (there?.hold === "arriving") await deleteCopy(to, id);
  await releaseProject(from, id, { from: ["moving"], nowMs: clock.now() });
}

function deleteCopy(db: Database, id: ProjectId): Promise<number> {
  return withTransaction(db, async (tx) => {
    await allowLong(tx);
    return deleteMoved(tx, id);
  });
}

function stateText(here: MovedProject, there: MovedProject | undefined): string {
  const stateOf = ({ hold, movedTo }: MovedProject) => (hold === "" ? "works there" : `is ${hold} (cell ${movedTo})`);
  const destination = there === undefined ? "has no such project" : stateOf(there);
  return `project "${here.name}" cannot be moved: in the source it ${stateOf(here)}, and the destination ${destination}`;
}
