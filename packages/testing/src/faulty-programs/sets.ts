import { type FaultyProgram, faulty, get } from "./faulty-program.ts";

/**
 * Programs with faults in the lists that steps read as rows: in the rows themselves, in the pages in which a list is read, or in the sets
 * of rows that later steps use.
 */
export const faultySets: readonly FaultyProgram[] = [
  faulty(
    "rows from what is no list",
    {
      "steps/0/rows/from": "nextPageToken[]",
      "steps/2/then/0": { ...get("me"), rows: { from: "items[]", keep: ["id"] } },
    },
    [
      "REFERENCE_INVALID /steps/0/rows/from",
      "REFERENCE_INVALID /steps/2/then/0/rows/from",
      "REFERENCE_INVALID /steps/3/when",
      "REFERENCE_INVALID /result/who",
    ],
  ),
  faulty(
    "fields and pages that are not there",
    {
      "steps/0/rows": {
        from: "items[]",
        key: "uid",
        keep: ["id", "title"],
        page: { arg: "cursor", from: "next", max: 3 },
      },
    },
    [
      "REFERENCE_INVALID /steps/0/rows/key",
      "REFERENCE_INVALID /steps/0/rows/keep/1",
      "REFERENCE_INVALID /steps/0/rows/page/arg",
      "REFERENCE_INVALID /steps/0/rows/page/from",
      "REFERENCE_INVALID /steps/1/where",
      "REFERENCE_INVALID /steps/5/do/0/args/text",
      "REFERENCE_INVALID /steps/5/do/0/args/text",
    ],
  ),
  faulty(
    "paths that are none",
    {
      "steps/0/rows/from": "items",
      "steps/0/rows/page": { arg: "page_token", from: "a b", max: 2 },
      "steps/6/as": { x: "sum", "a b": "count", y: "median id" },
    },
    [
      "MALFORMED /steps/0/rows",
      "MALFORMED /steps/0/rows/from",
      "MALFORMED /steps/0/rows/page/from",
      "MALFORMED /steps/6/as/x",
      "MALFORMED /steps/6/as/a b",
      "MALFORMED /steps/6/as/y",
    ],
  ),
  faulty(
    "keys and tokens of types that do not fit",
    {
      "steps/0/rows": {
        from: "items[]",
        key: "start",
        keep: ["id", "summary", "start"],
        page: { arg: "single_events", from: "nextPageToken", max: 3 },
      },
    },
    ["REFERENCE_INVALID /steps/0/rows/key", "ARGUMENT_INVALID /steps/0/rows/page/from"],
  ),
  faulty("sets that are none", { "steps/1/filter": "nope", "steps/5/map": "choice", "steps/6/reduce": "me" }, [
    "REFERENCE_INVALID /steps/1/filter",
    "REFERENCE_INVALID /steps/5/map",
    "REFERENCE_INVALID /steps/6/reduce",
  ]),
  faulty(
    "states of rows that have none",
    {
      "steps/1/states": ["ok"],
      "steps/6/states": ["done"],
      "steps/7": { id: "r", reduce: "plan", as: { a: "count ok", b: "sum summary", c: "max nope" } },
    },
    [
      "REFERENCE_INVALID /steps/1/states",
      "MALFORMED /steps/6/states/0",
      "REFERENCE_INVALID /steps/7/as/a",
      "REFERENCE_INVALID /steps/7/as/b",
      "REFERENCE_INVALID /steps/7/as/c",
    ],
  ),
  faulty(
    "what is kept of answers and is not there",
    {
      "steps/5/keep": {
        summary: "calls.write.message_id",
        "a b": "calls.write.message_id",
        x: "calls.gone.id",
        y: "calls.write.nope",
        z: "row.id",
        w: "calls",
      },
    },
    [
      "MALFORMED /steps/5/keep/summary",
      "MALFORMED /steps/5/keep/a b",
      "REFERENCE_INVALID /steps/5/keep/x",
      "REFERENCE_INVALID /steps/5/keep/y",
      "MALFORMED /steps/5/keep/z",
      "REFERENCE_INVALID /steps/5/keep/w",
    ],
  ),
  faulty(
    "values of steps and calls that may be skipped, named without else",
    {
      "steps/1/when": "row.id != ''",
      "steps/5/do/0/when": "row.nope != '' && calls.mend.text != ''",
      "steps/5/do/1/when": "calls.write.message_id > 0.0",
      "steps/6/when": "rows.tell > 0",
    },
    [
      "REFERENCE_INVALID /steps/1/when",
      "REFERENCE_INVALID /steps/5/do/0/when",
      "REFERENCE_INVALID /steps/5/do/0/when",
      "REFERENCE_INVALID /steps/5/do/1/args/message_id",
      "REFERENCE_INVALID /steps/5/do/1/when",
      "REFERENCE_INVALID /result/all",
    ],
  ),
  faulty(
    "sets of sets that name what is not there",
    {
      "steps/7": { id: "a", sort: "plan", by: [{ field: "nope" }, { field: "start" }, { field: "start.dateTime" }] },
      "steps/8": { id: "b", distinct: "gone", by: ["id"] },
      "steps/9": { id: "c", join: "plan", with: "gone", on: { id: "id", nope: "x" } },
      "steps/10": {
        id: "d",
        join: "plan",
        with: "named",
        on: { id: "start" },
        keep: { summary: "right.id", y: "right.no" },
      },
      "steps/11": { id: "e", join: "plan", with: "named", on: { id: "id" }, kind: "anti", keep: { y: "right.id" } },
      "steps/12": { id: "f", group: "plan", by: ["id", "no"], as: { id: "count", t: { text: { of: "{row.no}" } } } },
      "steps/13": { id: "g", flatten: "plan", field: "summary", keep: { x: "item" } },
      "steps/14": { id: "h", take: "input.chat", keep: ["id"] },
      "steps/15": { id: "i", take: "input.tags", keep: ["id"], key: "value" },
      "steps/16": { id: "j", compute: "plan", fields: { x: "row.nope + 1.0", y: "row.summary > 1.0" } },
    },
    [
      "REFERENCE_INVALID /steps/7/by/0/field",
      "REFERENCE_INVALID /steps/7/by/1/field",
      "REFERENCE_INVALID /steps/8/distinct",
      "REFERENCE_INVALID /steps/9/with",
      "REFERENCE_INVALID /steps/9/on/nope",
      "REFERENCE_INVALID /steps/10/on/id",
      "MALFORMED /steps/10/keep/summary",
      "REFERENCE_INVALID /steps/10/keep/y",
      "MALFORMED /steps/11/keep",
      "REFERENCE_INVALID /steps/12/by/1",
      "MALFORMED /steps/12/as/id",
      "REFERENCE_INVALID /steps/12/as/t/text/of",
      "REFERENCE_INVALID /steps/13/field",
      "REFERENCE_INVALID /steps/14/take",
      "REFERENCE_INVALID /steps/15/keep/0",
      "REFERENCE_INVALID /steps/16/fields/x",
      "EXPRESSION_INVALID /steps/16/fields/y",
    ],
  ),
  faulty(
    "sets of sets that have not their form",
    {
      "steps/7": { id: "a", sort: "plan", by: [], states: [] },
      "steps/8": { id: "b", limit: "plan", max: 0 },
      "steps/9": { id: "c", join: "plan", with: "named", on: {}, kind: "outer" },
      "steps/10": { id: "d", group: "plan", by: ["id", "id"], as: {} },
      "steps/11": { id: "e", take: "params.list", keep: ["id"] },
      "steps/12": { id: "f", flatten: "plan", field: "a.b", keep: { x: "row.id" } },
      "steps/13": {
        id: "g",
        reduce: "plan",
        as: { t: { text: { of: "{row.id", max: 5000, more: "{x}" } }, u: { text: "x" } },
      },
      "steps/14": { id: "h", compute: "plan", fields: {} },
    },
    [
      "MALFORMED /steps/7/by",
      "MALFORMED /steps/7/states",
      "REFERENCE_INVALID /steps/7/states",
      "MALFORMED /steps/8/max",
      "MALFORMED /steps/9/on",
      "MALFORMED /steps/9/kind",
      "MALFORMED /steps/10/by",
      "MALFORMED /steps/10/as",
      "MALFORMED /steps/11/take",
      "MALFORMED /steps/12/field",
      "MALFORMED /steps/12/keep/x",
      "REFERENCE_INVALID /steps/13/as/t/text/of",
      "MALFORMED /steps/13/as/t/text/max",
      "MALFORMED /steps/13/as/t/text/more",
      "MALFORMED /steps/13/as/u/text",
      "MALFORMED /steps/14/fields",
    ],
  ),
];
