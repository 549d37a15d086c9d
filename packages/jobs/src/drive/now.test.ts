import { expect, test } from "vitest";
import type { JobState } from "../state/job.ts";
import { isEnd } from "../state/statuses.ts";
import { createDriver, drive } from "./run/loop.ts";
import { createMemory, deskTools, NodeDied } from "./test-memory.ts";

// Tests that `now` in expressions is the time when the step began, even if an action is repeated. So an app that gets a write twice gets
// the same content.

const tools = deskTools();

const fetch = {
  id: "items",
  call: "desk.list_items",
  entity: "ops",
  args: { shelf: { $cel: "'before ' + string(now)" } },
  rows: { from: "items[]", keep: ["id"], page: { arg: "page", from: "next", max: 5 } },
};
const steps = [
  fetch,
  { id: "all", filter: "items", where: "now > timestamp('2026-01-01T00:00:00Z')" },
  {
    id: "send",
    map: "all",
    do: [
      {
        id: "note",
        call: "desk.send_keyed",
        entity: "ops",
        args: { text: { $cel: "row.id + ' ' + string(now)" } },
        retry: { max: 3, initial: "10s" },
        undo: {
          call: "desk.delete_note",
          entity: "ops",
          args: { id: { $cel: "output.id + string(now)" }, confirm: true },
        },
      },
    ],
  },
  { id: "last", call: "desk.send_note", entity: "ops", args: { text: { $cel: "'last ' + string(now)" } } },
  { id: "pause", wait: { until: { $cel: "now + duration('1h')" } } },
  { id: "fail", call: "desk.get_item", entity: "ops", args: { id: "x" } },
];

/** Returns what the app received, by tool, in a run whose node dies at its nth opportunity, or never. */
async function sentIn(death: number): Promise<{ texts: Record<string, string[]>; state: JobState; chances: number }> {
  let chances = 0;
  let notes = 0;
  const texts: Record<string, string[]> = {};
  const memory = createMemory(
    { steps, saga: { on: ["failed"] } },
    {
      dies: () => chances++ === death,
      answer({ action: { name } }, args) {
        const { shelf, text, id, page } = args as Record<string, string>;
        texts[name] = [...(texts[name] ?? []), shelf ?? text ?? id ?? ""];
        if (name === "get_item") return { outcome: "provider_error", value: {} };
        // The app refuses the first write for some time, so it is tried again much later.
        if (name === "send_keyed" && notes++ === 0) return { outcome: "rate_limited", value: {}, retryable: true };
        return {
          outcome: "ok",
          value: { id: "n", items: [{ id: page === undefined ? "a" : "b" }], ...(page === undefined && { next: "2" }) },
        };
      },
    },
    tools,
  );
  const idle = { isStopping: false, isCancelSeen: false, isPauseSeen: false, hasOthersWaiting: () => false };
  for (let round = 0; round < 100 && !isEnd(memory.reopen().state.status); round++) {
    await memory.port.clock.wait(60_000);
    try {
      await drive({ work: memory.reopen(), call: undefined }, createDriver(memory.port, idle));
    } catch (error) {
      if (!(error instanceof NodeDied)) throw error;
    }
  }
  return { texts, state: memory.reopen().state, chances };
}

/** Returns the different times that occur in texts. */
function timesOf(texts: readonly string[] | undefined): string[] {
  return [...new Set(texts?.map((text) => /\d{4}-.*Z/.exec(text)?.[0] ?? text))];
}

test("whenever the node dies, all that a step sends tells one time, and its undoing the same", async () => {
  const { chances } = await sentIn(Number.POSITIVE_INFINITY);
  expect(chances).toBeGreaterThan(15);
  for (let death = 0; death <= chances; death++) {
    const { texts, state } = await sentIn(death);
    expect(state.status, `${death}`).toBe("failed");
    for (const name of ["send_keyed", "send_note"]) expect(timesOf(texts[name]), `${name} ${death}`).toHaveLength(1);
    expect(new Set(texts["send_keyed"]?.map((text) => text.slice(0, 1)))).toEqual(new Set(["a", "b"]));
    // The first page may be requested before the beginning of the step is committed. All reads of one beginning use the same time.
    expect(timesOf(texts["list_items"]).length, `${death}`).toBe(1);
    expect(timesOf(texts["delete_note"])).toEqual(timesOf(texts["send_keyed"]));
  }
});
