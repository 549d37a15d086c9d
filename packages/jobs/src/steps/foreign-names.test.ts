import { createWorld } from "@svc/testing/desk";
import { createBenches } from "@svc/testing/job-benches";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

/** Names that every object inherits. `__proto__` is left out, because the text of a program may not contain it. */
const names = Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== "__proto__");
const all = (write: (name: string) => unknown) => Object.fromEntries(names.map((name) => [name, write(name)]));

test("input, params, fields of rows and results may have the names that every object has, and expressions read them", async () => {
  const world = createWorld();
  world.script = ({ path }) => {
    if (path !== "/items") return undefined;
    return { status: 200, body: { items: [{ id: "i1", ...all((name) => `row ${name}`) }, { id: "i2" }] } };
  };
  const bench = await benches.bench(world);
  bench.engine();
  const type = { type: "string" };
  const program = {
    inputSchema: { type: "object", additionalProperties: false, required: names, properties: all(() => type) },
    input: all((name) => `input ${name}`),
    params: all((name) => `params ${name}`),
    steps: [
      {
        id: "items",
        call: "desk.list_items",
        entity: "ops",
        args: {},
        rows: { from: "items[]", key: "id", keep: ["id", ...names] },
      },
      { id: "odd", filter: "items", where: names.map((name) => `has(row.${name})`).join(" && ") },
      { id: "none", filter: "items", where: names.map((name) => `!has(row.${name})`).join(" && ") },
      {
        id: "send",
        map: "odd",
        do: names.map((name, index) => ({
          id: `n${index}`,
          call: "desk.send_note",
          entity: "ops",
          args: { text: { $text: `{row.${name}}, {input.${name}}, {params.${name}}` } },
        })),
      },
    ],
    result: { ...all((name) => ({ $ref: `input.${name}` })), none: { $ref: "rows.none" }, odd: { $ref: "rows.odd" } },
  };
  const { job, receipt } = await bench.reach(await bench.submit(program), "succeeded", "failed", "parked");
  expect(job.lastError).toBe("");
  expect(JSON.parse(receipt.resultJson)).toEqual({ ...all((name) => `input ${name}`), none: 1, odd: 1 });
  const texts = world.seen.filter(({ path }) => path === "/notes").map(({ body }) => body["text"]);
  expect(texts).toEqual(names.map((name) => `row ${name}, input ${name}, params ${name}`));
});
