import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { JobsService, WatchJobResponseSchema } from "@svc/gen/jobs";
import { afterEach, expect, test } from "vitest";
import { createJobLog } from "./job-log.ts";

const last = 7;
const tab = Object.assign(new EventTarget(), { hidden: false });
Object.assign(globalThis, { document: tab });
afterEach(() => Object.assign(tab, { hidden: false }));

/** A service whose streams break after two entries each, as if it restarted every time. */
function breakingService(asked: number[]) {
  return createRouterTransport(({ service }) =>
    service(JobsService, {
      async *watchJob({ afterSeq }) {
        asked.push(afterSeq);
        for (let seq = afterSeq + 1; seq <= last; seq += 1) {
          if (seq > afterSeq + 2) throw new ConnectError("the node stops", Code.Unavailable);
          yield create(WatchJobResponseSchema, { event: { seq, type: "step-progress" } });
        }
      },
    }),
  );
}

test("a log is read over streams that break, without a gap and without an entry twice", async () => {
  const asked: number[] = [];
  const log = createJobLog(breakingService(asked), "job_1", { onEntries: () => undefined, isOver: async () => true });
  let leave: () => void = () => undefined;
  await new Promise<void>((resolve) => {
    leave = log.subscribe(() => log.read().state === "ended" && resolve());
  });
  leave();
  expect(log.read().entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(asked).toEqual([0, 2, 4, 6]);
});

test("a hidden tab holds no stream, and goes on where it was when it is seen again", async () => {
  const asked: number[] = [];
  Object.assign(tab, { hidden: true });
  const log = createJobLog(breakingService(asked), "job_1", { onEntries: () => undefined, isOver: async () => true });
  const ended = new Promise<void>((resolve) => {
    log.subscribe(() => log.read().state === "ended" && resolve());
  });
  expect(asked).toEqual([]);
  Object.assign(tab, { hidden: false });
  tab.dispatchEvent(new Event("visibilitychange"));
  await ended;
  expect(log.read().entries).toHaveLength(last);
});

test("where the browser's places for streams are taken, none stays open, and the log goes on all the same", async () => {
  let [entries, open] = [2, 0];
  const service = createRouterTransport(({ service: add }) =>
    add(JobsService, {
      async *watchJob({ afterSeq }, { signal }) {
        open += 1;
        try {
          for (let seq = afterSeq + 1; seq <= entries; seq += 1)
            yield create(WatchJobResponseSchema, { event: { seq } });
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
        } finally {
          open -= 1;
        }
      },
    }),
  );
  const taken = new AbortController();
  for (let place = 0; place < 3; place += 1) {
    void navigator.locks.request(
      `svc-stream-${place}`,
      () => new Promise((resolve) => taken.signal.addEventListener("abort", resolve)),
    );
  }
  const log = createJobLog(service, "job_1", { onEntries: () => undefined, isOver: async () => false });
  const leave = log.subscribe(() => undefined);
  const seqs = () => log.read().entries.map(({ seq }) => seq);
  const waiting = { timeout: 10_000 };
  await expect.poll(() => seqs().length, waiting).toBe(2);
  await expect.poll(() => open, waiting).toBe(0);
  entries = 4;
  await expect.poll(() => seqs().length, waiting).toBe(4);
  taken.abort();
  await expect.poll(async () => (await navigator.locks.query()).held?.length, waiting).toBe(1);
  leave();
  await expect.poll(() => open, waiting).toBe(0);
  expect(seqs()).toEqual([1, 2, 3, 4]);
});
