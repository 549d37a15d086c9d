import {
  ending,
  items,
  looked,
  note,
  type ProgramProof,
  type ProgramProofs,
  point,
  ran,
  result,
} from "./program-proofs.ts";
import { under } from "./proof.ts";

/** Another set with the same fields, which has only the last item. */
const others = { id: "others", filter: "items", where: "row.n > 2.0" };
const input = {
  orders: [
    { id: "a", sum: 1 },
    { id: "a", sum: 2 },
  ],
  refunds: [{ id: "b", sum: 5 }],
};

/** Returns a program with a step that makes a set, and a result that joins the set's rows as one text. */
function telling(step: object, told: string) {
  return {
    input,
    steps: [items, others, step, { id: "told", reduce: "it", as: { text: { text: { of: told, separator: " " } } } }],
    result: { text: { $ref: "steps.told.text" } },
  };
}

type Gives = readonly [unknown, unknown];

/** Returns a proof for a field of a set's step, which compares the text of the set's rows. */
function tells(step: object, told: string): (field: string, other: unknown, gives: Gives) => ProgramProof {
  const of = telling(step, told);
  const shows = ran(({ result: value }) => value?.text);
  return (field, other, gives) => ({ of, at: `/steps/2/${field}`, other, shows, gives });
}

const filter = tells({ id: "it", filter: "items", where: "row.n > 1.0" }, "{row.id}");
const by = [{ field: "half", order: "desc" }, { field: "n" }];
const sort = tells({ id: "it", sort: "items", by }, "{row.id}");
const limit = tells({ id: "it", limit: "items", max: 2 }, "{row.id}");
const distinct = tells({ id: "it", distinct: "items", by: ["half"] }, "{row.id}");
const sides = { join: "items", with: "others", on: { id: "id" }, kind: "left", keep: { right: "right.half" } };
const join = tells({ id: "it", ...sides }, "{row.id}:{row.right}");
const group = tells({ id: "it", group: "items", by: ["half"], as: { n: "count" } }, "{row.half}={row.n}");
const compute = tells({ id: "it", compute: "items", fields: { id: "row.id + '!'" } }, "{row.id}");
const flatten = tells({ id: "it", flatten: "items", field: "tags", keep: { tag: "item" } }, "{row.tag}");
const take = tells({ id: "it", take: "input.orders", key: "id", keep: ["id", "sum"] }, "{row.id}:{row.sum}");

const joined = "i0: i1: i2: i3:odd";
const tags = "t0 all t1 all t2 all t3 all";

/** Proofs for the text made of rows, by a reduction or in each group. */
function texts(kind: "reduce" | "group"): ProgramProofs {
  const text = { of: "{row.id}", separator: "+", max: 1, more: "and {more}" };
  const step = { id: "it", [kind]: "items", ...(kind === "group" && { by: ["half"] }), as: { all: { text } } };
  const of =
    kind === "group"
      ? telling(step, "{row.all}")
      : { steps: [items, others, step], result: { text: { $ref: "steps.it.all" } } };
  const shows = ran(({ result: value }) => value.text);
  const proof = (field: string, other: unknown, reduced: string, grouped: string): ProgramProof => {
    const gives: Gives = kind === "reduce" ? ["i0+and 3", reduced] : ["i0+and 1 i1+and 1", grouped];
    return { of, at: `/steps/2/as/all/text/${field}`, other, shows, gives };
  };
  return under("as.text", {
    of: proof("of", "{row.n}", "0+and 3", "0+and 1 1+and 1"),
    separator: proof("separator", undefined, "i0\nand 3", "i0\nand 1 i1\nand 1"),
    max: proof("max", 2, "i0+i1+and 2", "i0+i2 i1+i3"),
    more: proof("more", undefined, "i0", "i0 i1"),
  });
}

const reduced = {
  steps: [items, others, { id: "it", reduce: "items", as: { n: "sum n" } }],
  result: { n: { $ref: "steps.it.n" } },
};

/** Proofs for every field of the steps that take rows and call nothing, except `id`, `when` and `states`. */
export const setProofs: ProgramProofs = {
  ...under("filter", {
    filter: filter("filter", "others", ["i2 i3", "i3"]),
    where: filter("where", "row.n > 0.0", ["i2 i3", "i1 i2 i3"]),
  }),
  ...under("sort", {
    sort: sort("sort", "others", ["i1 i3 i0 i2", "i3"]),
    "by.field": sort("by/0/field", "n", ["i1 i3 i0 i2", "i3 i2 i1 i0"]),
    "by.order": sort("by/0/order", undefined, ["i1 i3 i0 i2", "i0 i2 i1 i3"]),
  }),
  ...under("limit", {
    limit: limit("limit", "others", ["i0 i1", "i3"]),
    max: limit("max", 3, ["i0 i1", "i0 i1 i2"]),
  }),
  ...under("distinct", {
    distinct: distinct("distinct", "others", ["i0 i1", "i3"]),
    by: distinct("by", ["id"], ["i0 i1", "i0 i1 i2 i3"]),
  }),
  ...under("join", {
    join: join("join", "others", [joined, "i3:odd"]),
    with: join("with", "items", [joined, "i0:even i1:odd i2:even i3:odd"]),
    on: join("on", { half: "half" }, [joined, "i0: i1:odd i2: i3:odd"]),
    kind: join("kind", undefined, [joined, "i3:odd"]),
    keep: join("keep", { right: "right.id" }, [joined, "i0: i1: i2: i3:i3"]),
  }),
  ...under("group", {
    group: group("group", "others", ["even=2 odd=2", "odd=1"]),
    by: group("by", ["half", "owner"], ["even=2 odd=2", "even=2 odd=1 odd=1"]),
    as: group("as", { n: "sum n" }, ["even=2 odd=2", "even=2 odd=4"]),
    ...texts("group"),
  }),
  ...under("reduce", {
    reduce: { of: reduced, at: "/steps/2/reduce", other: "others", shows: result, gives: [{ n: 6 }, { n: 3 }] },
    as: { of: reduced, at: "/steps/2/as", other: { n: "count" }, shows: result, gives: [{ n: 6 }, { n: 4 }] },
    ...texts("reduce"),
  }),
  ...under("compute", {
    compute: compute("compute", "others", ["i0! i1! i2! i3!", "i3!"]),
    fields: compute("fields", { id: "row.id + '?'" }, ["i0! i1! i2! i3!", "i0? i1? i2? i3?"]),
  }),
  ...under("flatten", {
    flatten: flatten("flatten", "others", [tags, "t3 all"]),
    field: flatten("field", "owner", [tags, ""]),
    keep: flatten("keep", { tag: "item.name" }, [tags, "       "]),
  }),
  ...under("take", {
    take: take("take", "input.refunds", ["a:1", "b:5"]),
    keep: take("keep", ["id"], ["a:1", ["PROGRAM_REFERENCE_INVALID /steps/3/as/text/text/of"]]),
    key: take("key", undefined, ["a:1", "a:1 a:2"]),
  }),
};

const sendAll = {
  ...{ id: "it", map: "items", concurrency: 1, keep: { said: "calls.note.text" } },
  do: [{ ...note, args: { text: { $ref: "row.id" } } }],
};
const telling4 = { id: "told", reduce: "it", as: { text: { text: { of: "{row.said}", separator: " " } } } };
const sending = { steps: [items, others, sendAll, telling4], result: { text: { $ref: "steps.told.text" } } };
const mapped = (field: string, other: unknown, gives: Gives, shows = result): ProgramProof => {
  return { of: sending, at: `/steps/2/${field}`, other, shows, gives };
};
const ids = { text: "i0 i1 i2 i3" };

const lookAll = { ...looked, tolerate: { count: 1, percent: 50 } };
const tolerated = (field: string, other: number): ProgramProof => {
  const gives: Gives = [
    ["SUCCEEDED", ""],
    ["FAILED", "ROWS_FAILED"],
  ];
  return { of: { steps: [items, lookAll] }, at: `/steps/1/tolerate/${field}`, other, shows: ending, gives };
};

const asked = ran(({ job }) => [job.status.replace("JOB_STATUS_", ""), job.park?.judgment?.question ?? ""]);
/** Returns a proof about a map whose second row fails or is in doubt, and about the question that this raises. */
function askedAbout(state: "failed" | "unknown"): ProgramProof {
  const points = { one: { ...point, question: "One?" }, two: { ...point, question: "Two?" } };
  const write = {
    ...note,
    args: { text: { $cel: `row.n == 1.0 ? '${state === "failed" ? "refused" : "lost"}' : 'x'` } },
  };
  const map = { id: "it", map: "items", onRows: { [state]: "one" }, do: [write] };
  return {
    ...{
      of: {
        points,
        steps: [items, map, { id: "gate", judge: "two", when: "false" }, { id: "also", judge: "one", when: "false" }],
      },
    },
    ...{ at: `/steps/1/onRows/${state}`, other: "two", shows: asked },
    gives: [
      ["PARKED", "One?"],
      ["PARKED", "Two?"],
    ],
  };
}

/** Proofs for every field of a map, except `id`, `when`, `states` and the fields of its calls. */
export const mapProofs: ProgramProofs = under("map", {
  map: mapped("map", "others", [ids, { text: "i3" }]),
  do: mapped("do", [note], [ids, { text: "hello hello hello hello" }]),
  keep: mapped("keep", { said: "calls.note.id" }, [ids, { text: "note-i0 note-i1 note-i2 note-i3" }]),
  concurrency: mapped(
    "concurrency",
    undefined,
    [1, 4],
    ran(({ widest }) => widest),
  ),
  "tolerate.count": tolerated("count", 0),
  "tolerate.percent": tolerated("percent", 10),
  "onRows.failed": askedAbout("failed"),
  "onRows.unknown": askedAbout("unknown"),
});
