import { expect, test } from "vitest";
import { flatten } from "./flow.ts";
import { noProgress } from "./progress.ts";
import { type ProgressOwner, readProgress, storedProgress } from "./stored-progress.ts";

const owner: ProgressOwner = {
  status: "running",
  saga: { state: "none", entries: 0, done: 0, failed: 0 },
  index: 0,
  flow: flatten([], {} as never),
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

test("a step that has only begun is stored without words, and anything more in full", () => {
  const flow = { instructions: [{ kind: "step", step: { id: "note", kind: "call" } }], indexOf: new Map() } as never;
  const begun = { kind: "call", stepId: "note" } as const;
  const at = { ...noProgress, positions: [{ index: 0, progress: begun }] };
  expect(storedProgress(at, flow)).toEqual({ version: 3 });
  expect(readProgress({ version: 3 }, { ...owner, flow })).toEqual({ ...noProgress, step: begun });
  const others = [
    { ...at, rowsMade: 1 },
    { ...at, positions: [{ index: 0, progress: { ...begun, isInDoubt: true as const } }] },
    { ...at, positions: [{ index: 0, progress: begun, generation: 2 }] },
    { ...at, positions: [{ index: 0, progress: { kind: "call", stepId: "other" } as const }] },
  ];
  for (const other of others) expect(storedProgress(other, flow)).toMatchObject({ version: 2 });
});
