import { createClient, type Transport } from "@connectrpc/connect";
import { type JobEvent, JobsService } from "@svc/gen/jobs";
import { inStreamPlace, pauseStream } from "../../calls/live-state.ts";

/**
 * Time without messages, in milliseconds, after which the page closes a stream. Used only if all of the browser's slots for streams are
 * taken.
 */
const silentMs = 500;

/**
 * Result of reading a stream of log entries. `hasEnded`: true if the service ended the stream. `brief`: true if the page itself closed the
 * stream, because no entry arrived for `silentMs` and all of the browser's slots for streams were taken.
 */
type StreamRead = { hasEnded: boolean; brief: boolean };

/**
 * Reads a stream until it ends. If the browser has too many open streams already, reads only until messages stop for a short time. Throws
 * the stream's error.
 */
async function readInPlace<Message>(
  open: (signal: AbortSignal) => AsyncIterable<Message>,
  take: (message: Message) => void,
  signal: AbortSignal,
): Promise<StreamRead> {
  let hasEnded = false;
  const inPlace = await inStreamPlace(async () => {
    for await (const message of open(signal)) take(message);
    hasEnded = true;
  }, signal);
  return inPlace || signal.aborted ? { hasEnded, brief: false } : readBriefly(open, take, signal);
}

async function readBriefly<Message>(
  open: (signal: AbortSignal) => AsyncIterable<Message>,
  take: (message: Message) => void,
  signal: AbortSignal,
): Promise<StreamRead> {
  const silent = new AbortController();
  const begin = () => setTimeout(() => silent.abort(), silentMs);
  let silence = begin();
  try {
    for await (const message of open(AbortSignal.any([signal, silent.signal]))) {
      clearTimeout(silence);
      silence = begin();
      take(message);
    }
    return { hasEnded: true, brief: true };
  } catch (err) {
    if (!silent.signal.aborted) throw err;
    return { hasEnded: false, brief: true };
  } finally {
    clearTimeout(silence);
  }
}

/** Entries of the job's log that are loaded so far. They begin with the first entry and have no gaps. */
export type JobLogState = {
  readonly entries: readonly JobEvent[];
  /** `opening`: before the first entry. `ended`: the job has ended and its last entry is loaded. */
  readonly state: "opening" | "live" | "reconnecting" | "ended";
  /** The error, set after reading failed several times in a row. Reading is retried anyway. */
  readonly error: unknown;
};

/** The log of one job for the job's page. The log is read from the service while at least one component has subscribed to it. */
export type JobLog = { subscribe: (listener: () => void) => () => void; read: () => JobLogState };

const waitsMs = [300, 1_000, 2_000, 5_000];
/** Number of failures in a row after which the page reports that the log cannot be read. */
const failuresMax = 2;
/** Time in milliseconds for which arriving entries are collected. Then the page draws all of them at once. */
const gatherMs = 60;
/**
 * Interval between short reads of the job's log, in milliseconds. The page uses short reads if the browser's few slots for streams are
 * taken.
 */
const lookAgainMs = 2_000;

/**
 * Creates a reader that follows the log of a job.
 * - If a stream breaks (for example because the service restarts), it is opened again after the last received entry. So no entry is lost or
 *   repeated.
 * - While the browser tab is hidden, no stream is open.
 * - A browser allows only a few streams at a time. If all are in use, the reader reads the log at intervals without an open stream.
 * - `onEntries` receives the new entries. `isOver` is called after a stream has ended, and returns true if the job has ended.
 */
export function createJobLog(
  transport: Transport,
  jobId: string,
  { onEntries, isOver }: { onEntries: () => void; isOver: () => Promise<boolean> },
): JobLog {
  const client = createClient(JobsService, transport);
  const listeners = new Set<() => void>();
  let shown: JobLogState = { entries: [], state: "opening", error: undefined };
  let fresh: JobEvent[] = [];
  let gathering: ReturnType<typeof setTimeout> | undefined;
  let stop: AbortController | undefined;

  const change = (state: JobLogState["state"], error?: unknown) => {
    shown = { entries: fresh.length === 0 ? shown.entries : [...shown.entries, ...fresh], state, error };
    fresh = [];
    clearTimeout(gathering);
    gathering = undefined;
    for (const listener of listeners) listener();
  };
  const take = (event: JobEvent) => {
    if (event.seq <= lastSeq()) return;
    fresh.push(event);
    gathering ??= setTimeout(() => {
      change("live");
      onEntries();
    }, gatherMs);
  };
  const lastSeq = () => fresh.at(-1)?.seq ?? shown.entries.at(-1)?.seq ?? 0;

  const watch = (signal: AbortSignal) => client.watchJob({ jobId, afterSeq: lastSeq() }, { signal });
  const readOn = async (signal: AbortSignal) => {
    for (let failures = 0; !signal.aborted; failures += 1) {
      const before = lastSeq();
      let isBrief = false;
      try {
        const read = await readInPlace(watch, ({ event }) => event !== undefined && take(event), signal);
        if (read.hasEnded && (await isOver())) {
          change("ended");
          onEntries();
          return;
        }
        isBrief = read.brief;
      } catch (cause) {
        // The first failure is not shown, because the stream is opened again at once. If the service is unreachable, the message at the top
        // of the page says so.
        const error = failures < failuresMax ? undefined : cause;
        if (!signal.aborted) change(lastSeq() === 0 ? "opening" : "reconnecting", error);
      }
      if (lastSeq() > before) failures = 0;
      await pause(isBrief ? lookAgainMs : (waitsMs[Math.min(failures, waitsMs.length - 1)] ?? 0), signal);
    }
  };
  const follow = async (signal: AbortSignal) => {
    // The project's stream is closed while the log is read, because a tab has at most one stream.
    const resume = pauseStream();
    await readOn(signal).finally(resume);
  };
  const look = () => {
    if (document.hidden || listeners.size === 0) {
      stop?.abort();
      stop = undefined;
    } else if (stop === undefined && shown.state !== "ended") {
      stop = new AbortController();
      void follow(stop.signal);
    }
  };
  return {
    read: () => shown,
    subscribe: (listener) => {
      listeners.add(listener);
      if (listeners.size === 1) document.addEventListener("visibilitychange", look);
      look();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) document.removeEventListener("visibilitychange", look);
        look();
      };
    },
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
