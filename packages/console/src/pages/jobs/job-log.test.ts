import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { JobsService, WatchJobResponseSchema } from "@svc/gen/jobs";
import { afterEach, expect, test } from "vitest";
import { createJobLog } from "./job-log.ts";

const last = 7;
const tab = Object.assign(new EventTarget(), { hidden: false });
Object.assign(globalThis, { document: tab });
afterEach(() => Object.assign(tab, { hidden: false }));

/** A service whose streams break after two entries each, as one that is started anew again and again. */
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
