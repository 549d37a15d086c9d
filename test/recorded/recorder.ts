import { AsyncLocalStorage } from "node:async_hooks";
import type { Database } from "@svc/db/connect";
import type { SentRequest } from "./app-request.ts";
import type { Act, Entry, RecordedAnswer, RecordedRequest } from "./history.ts";
import { changeOf, type Row, readStore, type Store, type Tables } from "./store.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** Writes down a run while it goes on. */
export type Recorder = {
  readonly entries: readonly Entry[];
  readonly acts: readonly Act[];
  /** Looks at the store before anything is done, and answers what it holds. */
  begin(): Promise<Readonly<Record<string, readonly Row[]>>>;
  /** Adds an entry for a point that was come to. Whoever came there goes on when it is written. */
  note(point: string, step: string): Promise<void>;
  /** Adds a request that is about to reach an app, and answers its place. */
  request(request: SentRequest): Promise<number>;
  answered(place: number, answer: RecordedAnswer): void;
  /** Does an act and adds an entry for it; nothing else is noted meanwhile. */
  act(act: Act, does: () => Promise<void>): Promise<void>;
  /** Throws while a request has no answer. */
  requests(): RecordedRequest[];
};

/** Makes the recorder of one run over a database of its own. */
export function createRecorder(db: Database, tables: Tables, clock: VirtualClock): Recorder {
  const entries: Entry[] = [];
  const acts: Act[] = [];
  const requests: (SentRequest & { answer?: RecordedAnswer })[] = [];
  const acting = new AsyncLocalStorage<true>();
  let store: Store = new Map();
  let last: Promise<unknown> = Promise.resolve();
  // One at a time: what an entry says of requests and acts is true of the moment at which it looked at the store.
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };
  const look = async (point: string, step: string) => {
    const at = new Date(clock.now()).toISOString();
    const next = await readStore(db, tables);
    const counts = { acts: acts.length, requests: requests.length };
    entries.push({ point, step, at, ...counts, ...changeOf(tables, store, next) });
    store = next;
  };
  return {
    entries,
    acts,
    async begin() {
      store = await readStore(db, tables);
      return changeOf(tables, new Map(), store).upserts ?? {};
    },
    // An answer moves its job in a transaction of its own: what it comes to there is not seen from outside.
    note: async (point, step) => (acting.getStore() === true ? undefined : alone(() => look(point, step))),
    request: (request) =>
      alone(async () => {
        if (request.class !== "read") await look("before-send", request.tool);
        requests.push(request);
        await look("in-send", request.tool);
        return requests.length - 1;
      }),
    answered(place, answer) {
      requests[place] = { ...(requests[place] as SentRequest), answer };
    },
    act: (act, does) =>
      alone(async () => {
        await acting.run(true, does);
        acts.push(act);
        await look(act.does.kind, "");
      }),
    requests: () =>
      requests.map(({ answer, ...request }) => {
        if (answer === undefined) throw new Error(`${request.tool} has no answer`);
        return { ...request, answer };
      }),
  };
}
