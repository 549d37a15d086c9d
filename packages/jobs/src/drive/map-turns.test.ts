import { expect, test } from "vitest";
import { createDriver, drive } from "./run/loop.ts";
import { type Chooser, createMemory, deskTools } from "./test-memory.ts";

const itemsMax = 40;
const program = {
  limits: { writes: 1_000, concurrency: 32 },
  steps: [
    {
      id: "items",
      call: "desk.list_items",
      entity: "ops",
      args: {},
      rows: { from: "items[]", key: "id", keep: ["id"], page: { arg: "page", from: "next", max: 5 } },
    },
    {
      id: "each",
      map: "items",
      concurrency: 32,
      do: [{ id: "note", call: "desk.send_keyed", entity: "ops", args: { text: { $ref: "row.id" } } }],
    },
  ],
};

const items = Array.from({ length: itemsMax }, (_, n) => ({ id: `i${n}` }));
const chooser: Chooser = {
  answer: ({ action }) => ({
    outcome: "ok",
    value: action.slug === "desk.list_items" ? { items } : { id: "n" },
  }),
  dies: () => false,
};

const interrupts = { isStopping: false, isCancelSeen: false, isPauseSeen: false, hasOthersWaiting: () => false };

test("a map begins a row for each turn that the node gives it, and none before", async () => {
  const memory = createMemory(program, chooser, deskTools());
  const turns: (() => void)[] = [];
  let asked = 0;
  const spareTime = () => {
    asked++;
    return new Promise<void>((resolve) => turns.push(resolve));
  };
  const { port } = memory;
  // In this test no call limit is ever full.
  const call: typeof port.call = async (...given) => {
    const attempted = await port.call(...given);
    return attempted.kind === "limited" ? call(...given) : attempted;
  };
  let isOver = false;
  const driver = createDriver({ ...port, call, spareTime }, interrupts);
  const over = drive({ work: memory.reopen(), call: undefined }, driver).then(() => {
    isOver = true;
  });
  let given = 0;
  while (!isOver) {
    await new Promise(setImmediate);
    expect(memory.executed.length).toBeLessThanOrEqual(given);
    // Only one row waits for a turn at a time, in addition to the code that reads rows and the code that stores them.
    expect(turns.length).toBeLessThanOrEqual(3);
    const next = turns.shift();
    if (next === undefined) continue;
    given++;
    next();
  }
  await over;
  expect(memory.reopen().state.status).toBe("succeeded");
  expect(memory.executed).toHaveLength(itemsMax);
  expect(asked).toBeGreaterThan(itemsMax);
});
