import { programSchema } from "@svc/program";
import { createWorld, type World } from "@svc/testing/desk";
import { createBenches } from "@svc/testing/job-benches";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

type Definition = { readonly properties?: Readonly<Record<string, unknown>> };
const definitions = programSchema["$defs"] as Readonly<Record<string, Definition>>;
/** The kinds of steps that declare a field. */
const kindsWith = (field: string) =>
  Object.keys(definitions).filter(
    (kind) => kind !== "mapCall" && Object.hasOwn(definitions[kind]?.properties ?? {}, field),
  );

const note = { id: "note", call: "desk.send_note", entity: "ops", args: { text: "x" } };
const items = {
  ...{ id: "items", call: "desk.list_items", entity: "ops", args: {} },
  rows: { from: "items[]", key: "id", keep: ["id", "tags"] },
};
/** Of the four items one is not there: its row fails. */
const looked = {
  ...{ id: "looked", map: "items", tolerate: { count: 4 } },
  do: [{ id: "look", call: "desk.get_item", entity: "ops", args: { id: { $ref: "row.id" } } }],
};

/** A step of each kind, at work on `looked` if it reads rows. */
const steps: Readonly<Record<string, object>> = {
  call: note,
  http: { http: { method: "GET", url: "https://api.example.com/x" } },
  filter: { filter: "looked", where: "true" },
  map: { map: "looked", do: [note] },
  reduce: { reduce: "looked", as: { n: "count" } },
  sort: { sort: "looked", by: [{ field: "id" }] },
  limit: { limit: "looked", max: 9 },
  distinct: { distinct: "looked", by: ["id"] },
  join: { join: "looked", with: "items", on: { id: "id" } },
  group: { group: "looked", by: ["id"], as: { n: "count" } },
  compute: { compute: "looked", fields: { copy: "row.id" } },
  flatten: { flatten: "looked", field: "tags", keep: { tag: "item" } },
  take: { take: "input.list", keep: ["id"] },
  judge: { judge: "sure" },
  // biome-ignore lint/suspicious/noThenProperty: steps of a program
  if: { if: "true", then: [note] },
  parallel: { parallel: { one: [note], two: [{ ...note, id: "other" }] } },
  until: { until: "true", do: [note], max: 2 },
  wait: { wait: "1s" },
  run: { run: "skills.known" },
};

const points = {
  sure: { question: "Go on?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner" }] },
};

function world(): World {
  const made = createWorld();
  made.script = ({ path }) => {
    if (path === "/items/i1") return { status: 404 };
    const list = Array.from({ length: 4 }, (_, index) => ({ id: `i${index}`, tags: ["t"] }));
    return path === "/items" ? { status: 200, body: { items: list } } : undefined;
  };
  return made;
}

test("there is a step here of each kind that declares when or states", () => {
  expect(Object.keys(steps).sort()).toEqual([...new Set([...kindsWith("when"), ...kindsWith("states")])].sort());
});

const benched = kindsWith("when").filter((kind) => kind !== "run");

test.each(benched)("when of a step of kind %s passes it over where it does not hold", async (kind) => {
  const desk = world();
  const bench = await benches.bench(desk);
  bench.engine();
  const step = { id: "it", ...steps[kind], when: "params.go" };
  const all = [items, looked, step].filter((one) => one === step || JSON.stringify(step).includes("looked"));
  const program = { params: { go: false }, input: { list: [{ id: "a" }] }, points, steps: all };
  const used = kind === "judge" ? program : { ...program, points: undefined };
  const id = await bench.submit(JSON.parse(JSON.stringify(used)));
  const reading = await bench.reach(id, "succeeded", "failed", "parked");
  expect(reading.job).toMatchObject({ status: "succeeded", lastError: "" });
  // A block leaves no receipt of its own.
  expect(reading.steps["it"]?.state ?? "skipped").toBe("skipped");
  expect(desk.seen.filter(({ method, path }) => method === "POST" || path === "/x")).toEqual([]);
});

/** What a reduction counts. */
const reduced = (kind: string) => (kind === "reduce" ? { result: { n: { $ref: "steps.it.n" } } } : {});

test.each(kindsWith("states"))("states of a step of kind %s say which rows it takes", async (kind) => {
  const bench = await benches.bench(world());
  bench.engine();
  const id = await bench.submit({
    steps: [items, looked, { id: "it", ...steps[kind], states: ["failed"] }],
    ...reduced(kind),
  });
  const reading = await bench.reach(id, "succeeded", "failed", "parked");
  expect(reading.job.lastError).toBe("");
  if (kind === "reduce") expect(JSON.parse(reading.receipt.resultJson)).toEqual({ n: 1 });
  else expect(reading.steps["it"]?.rows?.in).toBe(1);
});
