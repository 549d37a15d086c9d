import { type FaultyProgram, faulty, get } from "./faulty-program.ts";

/** Faults of rows, pages and sets. */
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
];
