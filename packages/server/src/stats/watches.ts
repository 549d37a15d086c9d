import type { Clock, ProjectId } from "@svc/core";
import {
  readNewOfProject,
  readOpenOfProject,
  readWatchedAgain,
  type WatchedKind,
  type WatchedRow,
  watchedKinds,
} from "@svc/db/activity/changes";
import type { Executor } from "@svc/db/connect";
import { jobStatuses } from "@svc/db/schema/words";
import { serverFaults } from "../errors.ts";

/**
 * Changes of a project's events, deliveries, calls, jobs and questions since the last report. `rows`: new or changed rows. `gaps`: kinds of
 * rows that have more changes than the list contains.
 */
export type WatchNews = {
  readonly rows: readonly WatchedRow[];
  readonly gaps: readonly WatchedKind[];
  readonly atMs: number;
};

/**
 * Registry of the callers that follow the changes of projects. Each watched project is read once a second for all its callers on this node.
 */
export type Watches = {
  /**
   * Adds a watcher of a project. svc reads the project in rounds, one a second. `receive` gets the news of each round until `leave` is
   * called. If a round fails, `fail` is called, and the next round follows. Throws WATCHERS_TOO_MANY.
   */
  join(projectId: ProjectId, listener: Listener): { readonly leave: () => void };
};

/** Receiver of a project's activity for one caller. `receive`: called with the news. `fail`: called if a read fails. */
export type Listener = { receive(news: WatchNews): void; fail(error: unknown): void };

/**
 * Dependencies of the part that reads the changes of watched projects. `everyMs`: pause between two reads of a project in milliseconds,
 * default 1 s.
 */
export type WatchesOptions = { readonly db: Executor; readonly clock: Clock; readonly everyMs?: number };

const watchersMax = 100;
/**
 * Maximum delay, in milliseconds, between the creation of a row's id and the commit of the row. Watchers may miss a row that is committed
 * later.
 */
const lateMs = 5_000;
/**
 * Maximum number of rows of one kind (for example deliveries) that are reported to the watchers of a project after one read of the
 * database.
 */
const toldMax = 200;
/**
 * Maximum number of unfinished rows (such as running jobs) of a watched project that svc remembers and reads again each second, to find
 * changes. Above this number, svc forgets the oldest ones.
 */
const openMax = 1_000;
const unfinished = jobStatuses.slice(0, jobStatuses.indexOf("succeeded"));

/** Creates the part of a node that reads changes of projects for streams (WatchProject). A project without an open stream is not read. */
export function createWatches({ db, clock, everyMs = 1_000 }: WatchesOptions): Watches {
  const watched = new Map<ProjectId, { readonly listeners: Set<Listener>; readonly stop: () => void }>();
  const begin = (projectId: ProjectId) => {
    const stopped = new AbortController();
    const listeners = new Set<Listener>();
    const look = createLook(db, projectId);
    const run = async () => {
      while (!stopped.signal.aborted) {
        try {
          const news = await look(clock.now());
          for (const listener of listeners) listener.receive(news);
        } catch (error) {
          for (const listener of listeners) listener.fail(error);
        }
        await clock.wait(everyMs, stopped.signal);
      }
    };
    void run();
    return { listeners, stop: () => stopped.abort() };
  };
  return {
    join(projectId, listener) {
      const project = watched.get(projectId) ?? begin(projectId);
      if (project.listeners.size >= watchersMax) throw serverFaults.WATCHERS_TOO_MANY(watchersMax);
      watched.set(projectId, project);
      project.listeners.add(listener);
      return {
        leave() {
          project.listeners.delete(listener);
          if (project.listeners.size > 0 || watched.get(projectId) !== project) return;
          watched.delete(projectId);
          project.stop();
        },
      };
    },
  };
}

/**
 * Returns a function that reads events, deliveries, calls, jobs and questions to people (asks) of a project. Each call returns the rows
 * that are new or have changed since the previous call.
 */
function createLook(db: Executor, projectId: ProjectId): (nowMs: number) => Promise<WatchNews> {
  let fromMs: number | undefined;
  const known = new Map<string, { readonly row: WatchedRow; readonly readMs: number }>();
  return async (nowMs) => {
    const isFirst = fromMs === undefined;
    const open = [...known.values()].filter(({ row }) => !row.isFinal).map(({ row }) => row);
    const [fresh, again] = await Promise.all([
      readNewOfProject(db, projectId, watchedKinds, (fromMs ?? nowMs) - lateMs),
      isFirst ? readOpenOfProject(db, projectId, unfinished) : open.length === 0 ? [] : readWatchedAgain(db, open),
    ]);
    // The first read also returns older rows whose work has not ended. They are stored in `known` and not reported, so that later changes
    // to them can be found. New rows of the last seconds are reported.
    if (isFirst) for (const row of again) known.set(row.id, { row, readMs: nowMs });
    const changed = new Map<string, WatchedRow>();
    for (const row of [...fresh, ...again]) {
      const before = known.get(row.id)?.row;
      const isSame = before !== undefined && before.state === row.state && before.turn === row.turn;
      if (!isSame) changed.set(row.id, row);
      known.set(row.id, { row, readMs: nowMs });
    }
    forget(known, nowMs);
    fromMs = nowMs;
    return { ...bounded([...changed.values()]), atMs: nowMs };
  };
}

/**
 * Removes rows that the stream of changes no longer needs to remember: rows that were final some time ago, and the oldest unfinished rows
 * above the maximum.
 */
function forget(known: Map<string, { readonly row: WatchedRow; readonly readMs: number }>, nowMs: number): void {
  let open = 0;
  for (const [id, { row, readMs }] of [...known].reverse()) {
    const isDue = readMs < nowMs - 2 * lateMs;
    if (row.isFinal ? isDue : ++open > openMax && isDue) known.delete(id);
  }
}

/**
 * Returns the newest 200 rows of each kind (such as events, deliveries or jobs), oldest first. `gaps`: the kinds of which more than 200
 * rows were given.
 */
export function bounded(rows: readonly WatchedRow[]): Pick<WatchNews, "rows" | "gaps"> {
  const byKind = Map.groupBy(
    rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    ({ kind }) => kind,
  );
  const gaps = watchedKinds.filter((kind) => (byKind.get(kind)?.length ?? 0) > toldMax);
  return { rows: watchedKinds.flatMap((kind) => byKind.get(kind)?.slice(-toldMax) ?? []), gaps };
}
