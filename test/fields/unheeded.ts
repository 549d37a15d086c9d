import { items, looked, note, point, urlOf } from "./program-proofs.ts";

const listed = (http: object, page: object) => ({
  id: "it",
  http: { method: "GET", url: urlOf("/shelf"), ...http },
  rows: { from: "items[]", keep: ["id"], page: { max: 5, ...page } },
});
const undo = { call: "desk.delete_note", args: { id: { $ref: "output.id" }, confirm: true } };
const undoing = (more: object) => ({
  saga: { on: ["failed"] },
  approval: { plan: "never" },
  steps: [{ ...note, undo: { ...undo, ...more } }],
});
const asking = (more: object) => ({ points: { some: point }, steps: [items, { ...looked, ...more }] });
const handling = (then: string, more: object = {}) => ({
  steps: [{ ...note, onError: { ...more, then } }],
});
const sending = (method: string, more: object) => ({
  steps: [{ id: "it", http: { method, url: urlOf("/items") }, ...more }],
});
const rounds = { id: "it", until: "true", do: [note], max: 2, every: "10s" };
const { tolerate: _, ...lookedAll } = looked;

/**
 * Programs with a field that works elsewhere but would have no effect at its place, each with the refused place. Each program is accepted
 * without the field, or with the other field that it needs.
 */
export const unheeded: Readonly<
  Record<string, { readonly program: object; readonly refused: string; readonly mended: object }>
> = {
  "retry of an undo, which is always tried alike": {
    program: undoing({ retry: { max: 5 } }),
    refused: "/steps/0/undo/retry",
    mended: undoing({}),
  },
  "timeout of an undo": { program: undoing({ timeout: "5s" }), refused: "/steps/0/undo/timeout", mended: undoing({}) },
  "start of pages beside the number of the first one in the query": {
    ...{
      program: { steps: [listed({ query: { page: 3 } }, { arg: "page", start: 1 })] },
      refused: "/steps/0/http/query/page",
    },
    mended: { steps: [listed({ query: { size: 3 } }, { arg: "page", start: 3 })] },
  },
  "start of offsets beside the first one in the arguments": {
    program: {
      steps: [
        {
          ...items,
          call: "desk.list_shelf",
          args: { offset: 2 },
          rows: { from: "items[]", keep: ["id"], page: { arg: "offset", by: "rows", start: 1, max: 5 } },
        },
      ],
    },
    refused: "/steps/0/args/offset",
    mended: {
      steps: [
        {
          ...items,
          call: "desk.list_shelf",
          args: { offset: 2 },
          rows: { from: "items[]", keep: ["id"], page: { arg: "offset", by: "rows", max: 5 } },
        },
      ],
    },
  },
  "confirm beside a POST": {
    program: sending("POST", { confirm: true }),
    refused: "/steps/0/confirm",
    mended: sending("POST", {}),
  },
  "confirm beside a GET": {
    program: sending("GET", { confirm: true }),
    refused: "/steps/0/confirm",
    mended: sending("GET", {}),
  },
  "idempotency beside a GET": {
    program: sending("GET", { idempotency: { header: "x-key" } }),
    refused: "/steps/0/idempotency",
    mended: sending("GET", {}),
  },
  "rows of a HEAD": {
    ...{ program: sending("HEAD", { rows: { from: "items[]", keep: ["id"] } }), refused: "/steps/0/rows" },
    mended: sending("GET", { rows: { from: "items[]", keep: ["id"] } }),
  },
  "onRows.unknown of a map that only reads": {
    program: asking({ onRows: { unknown: "some" } }),
    refused: "/steps/1/onRows/unknown",
    mended: asking({ onRows: { failed: "some" } }),
  },
  "onRows.failed where every row may fail": {
    ...{
      program: asking({ tolerate: { percent: 100 }, onRows: { failed: "some" } }),
      refused: "/steps/1/onRows/failed",
    },
    mended: asking({ tolerate: { percent: 99 }, onRows: { failed: "some" } }),
  },
  "cap of rounds whose pause does not grow": {
    program: { steps: [{ ...rounds, cap: "1m" }] },
    refused: "/steps/0/cap",
    mended: { steps: [{ ...rounds, cap: "1m", factor: 2 }] },
  },
  "cap of retries below the first wait": {
    ...{
      program: { steps: [{ ...note, retry: { max: 2, initial: "10s", cap: "1s" } }] },
      refused: "/steps/0/retry/cap",
    },
    mended: { steps: [{ ...note, retry: { max: 2, initial: "10s", cap: "10s" } }] },
  },
  "onError that handles nothing": {
    program: handling("fail"),
    refused: "/steps/0/onError",
    mended: handling("continue"),
  },
  "a code that no step fails with": {
    ...{ program: handling("continue", { codes: ["PAGES_LIMIT"] }), refused: "/steps/0/onError/codes/0" },
    mended: handling("continue", { codes: ["PAGE_LIMIT"] }),
  },
  "states of a set that is no map": {
    program: { steps: [items, { id: "it", filter: "items", where: "true", states: ["ok"] }] },
    refused: "/steps/1/states",
    mended: { steps: [items, lookedAll, { id: "it", filter: "looked", where: "true", states: ["ok"] }] },
  },
  "keep of an anti join": {
    ...{
      program: {
        steps: [
          items,
          { id: "it", join: "items", with: "items", on: { id: "id" }, kind: "anti", keep: { other: "right.n" } },
        ],
      },
      refused: "/steps/1/keep",
    },
    mended: {
      steps: [items, { id: "it", join: "items", with: "items", on: { id: "id" }, keep: { other: "right.n" } }],
    },
  },
};
