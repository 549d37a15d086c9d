import { programFields, stepKinds } from "./program-fields.ts";
import { items, looked, note, type ProgramProof, type ProgramProofs, point, ran, urlOf } from "./program-proofs.ts";

/** A step of each kind. Those that take rows take those of the step `looked`. */
const steps: Readonly<Record<string, object>> = {
  call: note,
  http: { http: { method: "GET", url: urlOf("/items/a") } },
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
  fail: { fail: "No" },
  // biome-ignore lint/suspicious/noThenProperty: a field of programs
  if: { if: "true", then: [note] },
  parallel: { parallel: { one: [note], two: [{ ...note, id: "other" }] } },
  until: { until: "true", do: [note], max: 1 },
  wait: { wait: "1s" },
  run: { run: "skills.say" },
};

/** Returns a program with a step of a kind, after the step whose rows it takes. */
function programOf(kind: string, more: object) {
  const step = { ...steps[kind], id: "it", ...more };
  const takesRows = JSON.stringify(step).includes('"looked"');
  const before = takesRows ? [items, looked] : [];
  const program = { params: { go: false }, input: { list: [{ id: "a" }] }, steps: [...before, step] };
  return { at: `/steps/${before.length}`, of: kind === "judge" ? { ...program, points: { sure: point } } : program };
}

const answers = { sure: [{ continuation: "proceed" }] };
const ids = ran(({ steps: listed }) => ["it", "renamed"].filter((id) => listed[id] !== undefined), answers);
const state = ran(({ steps: listed }) => listed["it"]?.state, answers);
const taken = ran(({ steps: listed, job }) => listed["it"]?.rows?.in ?? job.receipt?.resultJson, answers);

const endOf: Readonly<Record<string, string>> = { fail: "failed" };

function proofsOf(kind: string): [string, ProgramProof][] {
  const named = programOf(kind, {});
  const passed = programOf(kind, { when: "params.go" });
  const chosen = programOf(kind, { states: ["failed"] });
  const proofs: [string, ProgramProof][] = [
    [`${kind}.id`, { of: named.of, at: `${named.at}/id`, other: "renamed", shows: ids, gives: [["it"], ["renamed"]] }],
    [
      `${kind}.when`,
      { of: passed.of, at: `${passed.at}/when`, shows: state, gives: ["skipped", endOf[kind] ?? "completed"] },
    ],
    [`${kind}.states`, { of: chosen.of, at: `${chosen.at}/states`, shows: taken, gives: [1, 4] }],
  ];
  return proofs.filter(([field]) => programFields.includes(field));
}

/** Proofs for the fields that many kinds of steps have: `id`, `when` and `states`. */
export const stepProofs: ProgramProofs = Object.fromEntries(stepKinds.flatMap(proofsOf));
