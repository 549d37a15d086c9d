import { createClient, type Transport } from "@connectrpc/connect";
import { type JobEvent, JobsService } from "@svc/gen/jobs";
import { inStreamPlace, pauseStream } from "../../calls/live-state.ts";

/** Where no place is free for a stream, one is opened for a moment: until nothing has come for so long. */
const silentMs = 500;

/** How a stream was read: to its end or, in `brief`, for as long as it had something to tell. */
type StreamRead = { hasEnded: boolean; brief: boolean };

/**
 * Reads a stream in one of the browser's places for streams, for as long as it lasts; where all are taken, briefly. Throws what it ends
 * with.
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

/** The log as it is known: without a gap from its first entry on. */
export type JobLogState = {
  readonly entries: readonly JobEvent[];
  /** `opening` before the first entry, `ended` once the job has and its last entry is here. */
  readonly state: "opening" | "live" | "reconnecting" | "ended";
  /** What it failed with, where it did again and again; it is tried on all the same. */
  readonly error: unknown;
};

/** The log of one job, read for as long as somebody looks. */
export type JobLog = { subscribe: (listener: () => void) => () => void; read: () => JobLogState };

const waitsMs = [300, 1_000, 2_000, 5_000];
/** A stream that fails is tried so often before it is said that the log cannot be read. */
const failuresMax = 2;
/** Entries that come together are shown together. */
const gatherMs = 60;
/** Where no place is free for a stream, the log is looked at this often. */
const lookAgainMs = 2_000;

/**
 * Follows the log of a job. A stream that breaks, as when the service starts anew, is opened again behind the last entry that came, so that
 * nothing is missed and nothing is there twice. While the tab is hidden there is none, and none is left open where the browser's few places for
 * streams are taken. `onEntries` is told of what came; `isOver` says whether the job has ended, when a stream has.
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
        // Why it broke does not matter at first: it is tried again, and the band above the page says whether the service can be reached.
        const error = failures < failuresMax ? undefined : cause;
        if (!signal.aborted) change(lastSeq() === 0 ? "opening" : "reconnecting", error);
      }
      if (lastSeq() > before) failures = 0;
      await pause(isBrief ? lookAgainMs : (waitsMs[Math.min(failures, waitsMs.length - 1)] ?? 0), signal);
    }
  };
  const follow = async (signal: AbortSignal) => {
    // The project's stream stands aside: a tab has one at most.
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
