import {
  bodies,
  ending,
  faults,
  note,
  type ProgramProof,
  type ProgramProofs,
  ran,
  requests,
  result,
  times,
  urlOf,
} from "./program-proofs.ts";
import { under } from "./proof.ts";

/** Builds the steps that call an app, either directly or for each row of a map. */
type Caller = {
  /** Returns a step that reads a path. `args` are parameters of the query, `more` are further fields of the step. */
  read(path: string, args?: object, more?: object): object;
  /** Returns a step that writes a text. */
  write(text: string, more?: object): object;
};

const tools: Caller = {
  read: (path, args = {}, more = {}) => {
    const call = path === "/items" ? "desk.list_items" : path === "/shelf" ? "desk.list_shelf" : "desk.get_item";
    return {
      id: "it",
      call,
      entity: "ops",
      args: call === "desk.get_item" ? { id: path.split("/")[2] } : args,
      ...more,
    };
  },
  write: (text, more = {}) => ({ ...note, id: "it", args: { text }, ...more }),
};

const hosts: Caller = {
  read: (path, query = {}, more = {}) => ({ id: "it", http: { method: "GET", url: urlOf(path), query }, ...more }),
  write: (text, more = {}) => ({ id: "it", http: { method: "POST", url: urlOf("/notes"), body: { text } }, ...more }),
};

/** A program with one step, and the place of that step. The other variant is a map that runs the step for one row. */
const alone = { at: "/steps/0", program: (step: object) => ({ steps: [step] }) };
const inMap = {
  at: "/steps/1/do/0",
  program: (step: object) => ({
    input: { list: [{ id: "a" }] },
    steps: [
      { id: "rows", take: "input.list", keep: ["id"] },
      { id: "each", map: "rows", do: [step] },
    ],
  }),
};

/** Proofs for the fields that say how a call is tried again and how long one try may take. */
function tried({ read }: Caller, { at, program }: typeof alone): ProgramProofs {
  const retry = { max: 3, initial: "4s", factor: 3, cap: "20s" };
  const of = program(read("/items/down", {}, { retry }));
  const waits = (field: string, other: unknown, [...seconds]: number[]): ProgramProof => {
    return { of, at: `${at}/retry/${field}`, other, shows: times, gives: [[0, 4, 16, 36], seconds] };
  };
  return {
    "retry.max": waits("max", 1, [0, 4]),
    "retry.initial": waits("initial", undefined, [0, 1, 4, 13]),
    "retry.factor": waits("factor", undefined, [0, 4, 12, 28]),
    "retry.cap": waits("cap", undefined, [0, 4, 16, 52]),
    timeout: {
      ...{ of: program(read("/items/a", {}, { timeout: "5s" })), at: `${at}/timeout` },
      shows: ran(({ sent }) => sent.map(({ timeoutMs }) => Math.round(timeoutMs / 1000))),
      gives: [[5], [30]],
    },
  };
}

/** Proofs for the fields that say how a list becomes rows and how its pages are requested. */
function rowsOf({ read }: Caller): ProgramProofs {
  const of = (path: string, args: object, rows: object) => ({
    steps: [
      read(path, args, { rows: { from: "items[]", keep: ["id", "n"], ...rows } }),
      { id: "all", reduce: "it", as: { sum: "sum n" } },
    ],
    result: { sum: { $ref: "steps.all.sum" }, rows: { $ref: "rows.it" } },
  });
  const tags = {
    steps: [
      read("/items", {}, { rows: { from: "items[0].tags[]", keep: ["value"] } }),
      { id: "all", reduce: "it", as: { text: { text: { of: "{row.value}" } } } },
    ],
    result: { text: { $ref: "steps.all.text" } },
  };
  const at = (field: string) => `/steps/0/rows/${field}`;
  const token = { arg: "page", from: "next", max: 5 };
  const paged = of("/items", { shelf: "paged" }, { page: token });
  const shelf = (args: object, page: object) => of("/shelf", args, { page: { max: 5, ...page } });
  const counted = shelf({ size: 2 }, { arg: "page", start: 1 });
  const pages = ["GET /items?shelf=paged", "GET /items?page=p2&shelf=paged"];
  const twice = shelf({ size: 2 }, { arg: "offset", by: "rows", start: 0 });
  const shows = requests;
  const asked = (name: string, ...values: readonly unknown[]) =>
    values.map((value) => `GET /shelf?${[`${name}=${value}`, "size=2"].join("&")}`);
  return {
    "rows.from": {
      ...{ of: tags, at: at("from"), other: "items[1].tags[]", shows: result },
      gives: [{ text: "t0\nall" }, { text: "t1\nall" }],
    },
    "rows.keep": {
      ...{ of: of("/items", {}, {}), at: at("keep"), other: ["id"], shows: result },
      gives: [{ sum: 6, rows: 4 }, ["PROGRAM_REFERENCE_INVALID /steps/1/as/sum"]],
    },
    "rows.key": {
      ...{ of: of("/items", { shelf: "moving" }, { key: "id", page: token }), at: at("key"), shows: result },
      gives: [
        { sum: 3, rows: 3 },
        { sum: 4, rows: 4 },
      ],
    },
    "rows.page.max": {
      of: paged,
      at: at("page/max"),
      other: 1,
      shows: ending,
      gives: [
        ["SUCCEEDED", ""],
        ["FAILED", "PAGE_LIMIT"],
      ],
    },
    "rows.page.arg": {
      of: paged,
      at: at("page/arg"),
      other: "shelf",
      shows,
      gives: [pages, ["GET /items?shelf=paged", "GET /items?shelf=p2"]],
    },
    "rows.page.from": {
      of: paged,
      at: at("page/from"),
      other: "items[0].next",
      shows,
      gives: [pages, pages.slice(0, 1)],
    },
    "rows.page.query": {
      of: shelf({ size: 2 }, { arg: "cursor", from: "links.next", query: "cursor" }),
      ...{ at: at("page/query"), shows },
      gives: [
        ["GET /shelf?size=2", ...asked("cursor", 2)],
        ["GET /shelf?size=2", ...asked("cursor", encodeURIComponent("/shelf?cursor=2"))],
      ],
    },
    "rows.page.start": {
      of: counted,
      at: at("page/start"),
      other: 2,
      shows,
      gives: [asked("page", 1, 2, 3), asked("page", 2, 3)],
    },
    "rows.page.by": {
      of: twice,
      at: at("page/by"),
      shows,
      gives: [asked("offset", 0, 2, 4), asked("offset", 0, 1, 2, 3, 4)],
    },
    "rows.page.size": {
      of: shelf({ size: 3 }, { arg: "page", start: 1, size: "size" }),
      at: at("page/size"),
      shows: count,
      gives: [2, 3],
    },
    "rows.page.more": {
      of: shelf({ size: 2 }, { arg: "page", start: 1, more: "more" }),
      at: at("page/more"),
      shows,
      gives: [asked("page", 1, 2), asked("page", 1, 2, 3)],
    },
  };
}

const count = ran(({ sent }) => sent.length);

/** Proofs for the fields that say what happens when a step fails with a code. */
export function handled(step: object, code = "provider_error"): ProgramProofs {
  const told = { ...note, id: "told", args: { text: "handled" } };
  // biome-ignore lint/suspicious/noThenProperty: a field of programs
  const onError = { codes: [code], do: [told], then: "continue" };
  const of = { steps: [{ ...step, onError }] };
  const shows = ran(({ job, sent }) => [job.status, sent.filter(({ body }) => body?.includes("handled")).length]);
  const proof = (field: string, other: unknown, gives: unknown): ProgramProof => {
    return { of, at: `/steps/0/onError/${field}`, other, shows, gives: [["JOB_STATUS_SUCCEEDED", 1], gives] };
  };
  return under("onError", {
    codes: proof("codes", ["timeout"], ["JOB_STATUS_FAILED", 0]),
    do: proof("do", undefined, ["JOB_STATUS_SUCCEEDED", 0]),
    // biome-ignore lint/suspicious/noThenProperty: a field of programs
    then: proof("then", "fail", ["JOB_STATUS_FAILED", 1]),
  });
}

const entities = ran(({ sent }) => sent.map(({ entity, method }) => `${method} ${entity}`));

/** Proofs for the fields of a tool call, directly or in a map. */
function toolCall({ at, program }: typeof alone): ProgramProofs {
  const of = program(tools.write("hello"));
  const undo = { call: "desk.delete_note", entity: "sales", args: { id: { $ref: "output.id" }, confirm: true } };
  const undone = { ...program(tools.write("hello", { undo })), saga: { on: ["failed"] }, approval: { plan: "never" } };
  const failing = { ...undone, steps: [...undone.steps, { id: "stop", fail: "No" }] };
  const deleted = ["POST /notes", "DELETE /notes/note-hello"];
  return {
    call: {
      of,
      at: `${at}/call`,
      other: "desk.send_keyed",
      shows: requests,
      gives: [["POST /notes"], ["POST /keyed"]],
    },
    entity: { of, at: `${at}/entity`, other: "sales", shows: entities, gives: [["POST ops"], ["POST sales"]] },
    args: {
      of,
      at: `${at}/args`,
      other: { text: "bye" },
      shows: bodies,
      gives: [['{"text":"hello"}'], ['{"text":"bye"}']],
    },
    "undo.call": {
      ...{ of: failing, at: `${at}/undo/call`, other: "desk.get_item", shows: requests },
      gives: [deleted, [`PROGRAM_ARGUMENT_INVALID ${at}/undo/args/confirm`]],
    },
    "undo.entity": {
      of: failing,
      at: `${at}/undo/entity`,
      shows: entities,
      gives: [
        ["POST ops", "DELETE sales"],
        ["POST ops", "DELETE ops"],
      ],
    },
    "undo.args": {
      ...{ of: failing, at: `${at}/undo/args`, other: { id: "other", confirm: true }, shows: requests },
      gives: [deleted, ["POST /notes", "DELETE /notes/other"]],
    },
    ...tried(tools, { at, program }),
  };
}

/** Proofs for the fields of an HTTP request, directly or in a map. */
function request({ at, program }: typeof alone): ProgramProofs {
  const http = {
    method: "POST",
    url: urlOf("/notes"),
    headers: { "x-mark": "a" },
    query: { dry: true },
    body: { text: "hello" },
  };
  const of = {
    ...program({ id: "it", http, idempotency: { header: "x-key" } }),
    input: { name: "a", list: [{ id: "a" }] },
  };
  const headers = (name: string) => ran(({ sent }) => sent.map((one) => typeof one.headers[name]));
  const seen = (field: string, other: unknown, gives: ProgramProof["gives"]): ProgramProof => {
    return { of, at: `${at}/http/${field}`, other, shows: requests, gives };
  };
  const post = ["POST /notes?dry=true"];
  const texts = {
    ...of,
    ...program({ id: "it", http: { ...http, url: { $text: urlOf("/notes/{input.name}") } } }),
    input: of.input,
  };
  const remove = program({ id: "it", http: { method: "DELETE", url: urlOf("/notes/a") }, confirm: true });
  return {
    "http.method": seen("method", "PUT", [post, ["PUT /notes?dry=true"]]),
    "http.url": seen("url", urlOf("/keyed"), [post, ["POST /keyed?dry=true"]]),
    "http.url.$text": {
      ...{ of: texts, at: `${at}/http/url/$text`, other: urlOf("/notes/b{input.name}"), shows: requests },
      gives: [["POST /notes/a?dry=true"], ["POST /notes/ba?dry=true"]],
    },
    "http.headers": { of, at: `${at}/http/headers`, shows: headers("x-mark"), gives: [["string"], ["undefined"]] },
    "http.query": seen("query", undefined, [post, ["POST /notes"]]),
    "http.body": {
      of,
      at: `${at}/http/body`,
      other: { text: "bye" },
      shows: bodies,
      gives: [['{"text":"hello"}'], ['{"text":"bye"}']],
    },
    "idempotency.header": {
      of,
      at: `${at}/idempotency/header`,
      other: "x-other",
      shows: headers("x-key"),
      gives: [["string"], ["undefined"]],
    },
    confirm: {
      of: { ...remove, approval: { plan: "never" } },
      at: `${at}/confirm`,
      shows: requests,
      gives: [["DELETE /notes/a"], [`PROGRAM_CONFIRM_MISSING ${at}/http`]],
    },
    ...tried(hosts, { at, program }),
  };
}

/** Proofs for the fields of a skill's run, directly or in a map. */
function run({ at, program }: typeof alone): ProgramProofs {
  const of = program({ id: "it", run: "skills.say", input: { text: "hello" } });
  return {
    run: {
      of,
      at: `${at}/run`,
      other: "skills.shout",
      shows: bodies,
      gives: [['{"text":"hello"}'], ['{"text":"hello!"}']],
    },
    input: { of, at: `${at}/input`, shows: bodies, gives: [['{"text":"hello"}'], ['{"text":"skill"}']] },
  };
}

/** Proofs for the fields that a call has only inside a map. */
function inRow(step: object): ProgramProofs {
  const named = inMap.program({ ...step, id: "it" });
  const [rows, map] = named.steps;
  const keeping = { ...named, steps: [rows, { ...map, keep: { all: "calls.it" } }] };
  const passing = inMap.program({ ...step, id: "it", when: "row.id == 'b'" });
  return {
    id: {
      of: keeping,
      at: `${inMap.at}/id`,
      other: "renamed",
      shows: faults,
      gives: [[], ["PROGRAM_REFERENCE_INVALID /steps/1/keep/all"]],
    },
    when: { of: passing, at: `${inMap.at}/when`, shows: ran(({ sent }) => sent.length), gives: [0, 1] },
  };
}

/** Proofs for every field of the steps that call a tool, run a skill or make a request. */
export const callProofs: ProgramProofs = {
  ...under("call", { ...toolCall(alone), ...rowsOf(tools), ...handled(tools.read("/items/down")) }),
  ...under("http", { ...request(alone), ...rowsOf(hosts), ...handled(hosts.read("/items/down")) }),
  ...under("run", {
    ...run(alone),
    ...handled({ id: "it", run: "skills.say", input: { text: "down" } }, "CHILD_FAILED"),
  }),
  ...under("map.call", { ...toolCall(inMap), ...inRow(tools.read("/items/a")) }),
  ...under("map.http", { ...request(inMap), ...inRow(hosts.read("/items/a")) }),
  ...under("map.run", { ...run(inMap), ...inRow({ run: "skills.say" }) }),
};
