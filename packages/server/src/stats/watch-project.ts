import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { type Clock, type ProjectId, parseId, requireProject, timeOfId, timeRange } from "@svc/core";
import { readNewOfProject, readWatchedEvents, type WatchedKind, watchedKinds } from "@svc/db/activity/changes";
import type { Executor } from "@svc/db/connect";
import {
  NoticeKind,
  NoticeSchema,
  type WatchProjectRequest,
  type WatchProjectResponse,
  WatchProjectResponseSchema,
} from "@svc/gen/stats";
import { eventMessage } from "@svc/node";
import { bounded, type Watches, type WatchNews } from "./watches.ts";

/**
 * Dependencies of WatchProject, the stream of a project's changes. `keepAliveMs`: maximum time between two messages of the stream in
 * milliseconds, default 20 s.
 */
export type WatchContext = {
  readonly db: Executor;
  readonly clock: Clock;
  readonly watches: Watches;
  readonly keepAliveMs?: number;
};

const kindNumbers = {
  event: NoticeKind.EVENT,
  delivery: NoticeKind.DELIVERY,
  call: NoticeKind.CALL,
  job: NoticeKind.JOB,
  ask: NoticeKind.ASK,
} as const satisfies Readonly<Record<WatchedKind, NoticeKind>>;

/** After an interruption of at most this many milliseconds, WatchProject sends the missed changes, or a gap in place of very many. */
const backMaxMs = 600_000;
/** Longest time in milliseconds between the creation of a row and its commit. */
const lateMs = 5_000;
/**
 * Maximum number of rounds (one read of changes each second) whose messages svc keeps for a slow caller. If there are more, one message
 * with `gap` replaces the messages. `gap` says that changes were left out.
 */
const waitingMax = 30;

/** Yields messages with the new and changed rows of the caller's project, until the caller or the node ends the call. */
export async function* watchProject(
  { db, clock, watches, keepAliveMs = 20_000 }: WatchContext,
  request: WatchProjectRequest,
  { signal, values }: HandlerContext,
): AsyncGenerator<WatchProjectResponse> {
  const { projectId } = requireProject({ values });
  const { sinceMs } = timeRange(request.since, undefined);
  const kinds = watchedKinds.filter((kind) => request.kinds.length === 0 || request.kinds.includes(kindNumbers[kind]));
  const queue: WatchNews[] = [];
  let arrived = new AbortController();
  const { leave } = watches.join(projectId, {
    receive(news) {
      if (queue.length >= waitingMax) queue.splice(0, queue.length, { rows: [], gaps: kinds, atMs: news.atMs });
      queue.push(news);
      arrived.abort("told");
    },
    // Nothing is reported if a round fails, because the next round reports all changes.
    fail: () => {},
  });
  try {
    let atMs = clock.now();
    // The first message is sent at once, so that the caller knows that the watch is running.
    yield message(undefined, atMs);
    if (sinceMs !== undefined) queue.unshift(await missed({ db, projectId, kinds, sinceMs, nowMs: atMs }));
    let silentSinceMs = atMs;
    for (;;) {
      signal.throwIfAborted();
      arrived = new AbortController();
      const news = queue.shift();
      if (news === undefined) {
        const leftMs = silentSinceMs + keepAliveMs - clock.now();
        if (leftMs <= 0) {
          silentSinceMs = clock.now();
          yield message(undefined, atMs);
        } else await clock.wait(leftMs, AbortSignal.any([signal, arrived.signal]));
        continue;
      }
      atMs = Math.max(atMs, news.atMs);
      for await (const one of noticesOf(db, projectId, kinds, news)) {
        signal.throwIfAborted();
        silentSinceMs = clock.now();
        yield message(one, news.atMs);
      }
    }
  } finally {
    leave();
  }
}

type MissedCounts = {
  readonly db: Executor;
  readonly projectId: ProjectId;
  readonly kinds: readonly WatchedKind[];
  readonly sinceMs: number;
  readonly nowMs: number;
};

/**
 * Returns the rows that were created while a caller's stream of project changes was interrupted. If the interruption was too long, also
 * returns a gap (a note that rows are missing) for every kind of row.
 */
async function missed({ db, projectId, kinds, sinceMs, nowMs }: MissedCounts): Promise<WatchNews> {
  const fromMs = Math.max(sinceMs, nowMs - backMaxMs) - lateMs;
  const news = bounded(await readNewOfProject(db, projectId, kinds, fromMs));
  return { ...news, gaps: fromMs > sinceMs ? kinds : news.gaps, atMs: nowMs };
}

type Notice = NonNullable<Parameters<typeof create<typeof NoticeSchema>>[1]>;

async function* noticesOf(
  db: Executor,
  projectId: ProjectId,
  kinds: readonly WatchedKind[],
  { rows, gaps, atMs }: WatchNews,
): AsyncGenerator<Notice> {
  for (const kind of gaps) {
    if (kinds.includes(kind)) yield { kind: kindNumbers[kind], gap: true, at: timestampFromMs(atMs) };
  }
  const wanted = rows.filter(({ kind }) => kinds.includes(kind));
  const ids = wanted.filter(({ kind }) => kind === "event").map(({ id }) => id);
  const events = new Map(
    (ids.length === 0 ? [] : await readWatchedEvents(db, projectId, ids)).map((row) => [row.id as string, row]),
  );
  for (const { kind, id, state } of wanted) {
    const event = events.get(id);
    const at = timestampFromMs(timeOfRow(kind, id));
    yield { kind: kindNumbers[kind], id, state, at, ...(event && { event: eventMessage(event) }) };
  }
}

const prefixes = { event: "evt", delivery: "dlv", call: "call", job: "job", ask: "ask" } as const;

function timeOfRow(kind: WatchedKind, text: string): number {
  const id = parseId(prefixes[kind], text);
  return id === undefined ? 0 : timeOfId(id);
}

function message(notice: Notice | undefined, atMs: number): WatchProjectResponse {
  const at = timestampFromMs(atMs);
  return create(
    WatchProjectResponseSchema,
    notice === undefined ? { at } : { notice: create(NoticeSchema, notice), at },
  );
}
