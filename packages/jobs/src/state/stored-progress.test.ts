import { expect, test } from "vitest";
import { flatten } from "./flow.ts";
import { noProgress } from "./progress.ts";
import { openProgress, type ProgressOwner, readProgress, sealProgress, storedProgress } from "./stored-progress.ts";

const owner: ProgressOwner = {
  status: "running",
  saga: { state: "none", entries: 0, done: 0, failed: 0 },
  index: 0,
  flow: flatten([], {} as never),
  steps: [],
};
const step = { kind: "filter", stepId: "large", next: 500 } as const;
const positions = [{ index: 0, progress: step }];

test("when progress was last logged and how many rows were made is kept, between two steps, too", () => {
  const stored = storedProgress({
    positions,
    blocks: {},
    plan: undefined,
    undo: undefined,
    progressLoggedAt: 7_000,
    rowsMade: 3,
    simulated: {},
  });
  expect(readProgress(stored as never, owner)).toEqual({
    branches: [],
    step,
    blocks: {},
    progressLoggedAt: 7_000,
    rowsMade: 3,
    simulated: {},
  });
  const between = storedProgress({
    positions: [],
    blocks: {},
    plan: undefined,
    undo: undefined,
    progressLoggedAt: 7_000,
    rowsMade: 3,
    simulated: {},
  });
  expect(readProgress(between as never, owner)).toEqual({
    branches: [],
    blocks: {},
    progressLoggedAt: 7_000,
    rowsMade: 3,
    simulated: {},
  });
});

test("the rounds of an until are kept, between two of its steps, too", () => {
  const blocks = { poll: { kind: "until", rounds: 3, wakeAt: 9_000 } } as const;
  const stored = storedProgress({
    positions: [],
    blocks,
    plan: undefined,
    undo: undefined,
    progressLoggedAt: 0,
    rowsMade: 0,
    simulated: {},
  });
  expect(readProgress(stored as never, owner)).toEqual({
    branches: [],
    blocks,
    progressLoggedAt: 0,
    rowsMade: 0,
    simulated: {},
  });
});

test("progress that was stored without it reads as never logged", () => {
  const without = storedProgress({
    positions,
    blocks: {},
    plan: undefined,
    undo: undefined,
    progressLoggedAt: 0,
    rowsMade: 0,
    simulated: {},
  });
  expect(without).toEqual({ version: 2, positions });
  expect(readProgress(without as never, owner)).toEqual({
    branches: [],
    step,
    blocks: {},
    progressLoggedAt: 0,
    rowsMade: 0,
    simulated: {},
  });
});

test("a step that has only begun is stored as empty bytes, anything more encrypted, and every earlier form is read", () => {
  const flow = { instructions: [{ kind: "step", step: { id: "note", kind: "call" } }], indexOf: new Map() } as never;
  const step = { kind: "call", stepId: "note", now: 7_000 } as const;
  const at = { ...noProgress, positions: [{ index: 0, progress: step }] };
  const receipt = { startedAt: 7_000 } as never;
  const begun = { loaded: { flow }, steps: new Map([["note", { receipt }]]) };
  const owned = { ...owner, flow, steps: [{ stepId: "note", receipt }] };
  const seal = (place: string, value: unknown) => Buffer.from(JSON.stringify({ [place]: value }));
  const open = (place: string, sealed: Uint8Array) => JSON.parse(Buffer.from(sealed).toString())[place];
  const short = sealProgress(at, seal, begun);
  expect(short).toEqual(Buffer.alloc(0));
  expect(openProgress(short, owned, open)).toEqual({ ...noProgress, step });
  const others = [
    { ...at, rowsMade: 1 },
    { ...at, positions: [{ index: 0, progress: { ...step, isInDoubt: true as const } }] },
    { ...at, positions: [{ index: 0, progress: { ...step, now: 7_001 } }] },
    { ...at, positions: [{ index: 0, progress: { kind: "call", stepId: "note" } as const }] },
  ];
  for (const other of others) {
    const {
      positions: [position],
      rowsMade,
    } = other;
    const stored = sealProgress(other, seal, begun);
    expect(stored?.byteLength).toBeGreaterThan(0);
    expect(openProgress(stored, owned, open)).toEqual({ ...noProgress, rowsMade, step: position?.progress });
  }
  const inOther = { index: 0, progress: { ...step, stepId: "other" } };
  for (const position of [inOther, { index: 0, progress: step, generation: 2 }]) {
    expect(sealProgress({ ...at, positions: [position] }, seal, begun)?.byteLength).toBeGreaterThan(0);
  }
  expect(sealProgress(at, seal)?.byteLength).toBeGreaterThan(0);
  const { now: _now, ...withoutTime } = step;
  expect(openProgress(seal("progress", { version: 3 }), owned, open)).toEqual({ ...noProgress, step: withoutTime });
  expect([sealProgress({ ...at, positions: [] }, seal, begun), openProgress(null, owned, open)]).toEqual([
    null,
    noProgress,
  ]);
  expect(() => openProgress(short, { ...owned, steps: [] }, open)).toThrow("has no receipt");
});
