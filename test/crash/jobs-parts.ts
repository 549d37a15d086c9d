// Building blocks for the programs of the tests in which nodes die.

/** A kind of work: its program, whether it is expected to fail, and what happens before the tested attempt. */
export type JobKind = {
  readonly program: object;
  readonly ends: "SUCCEEDED" | "FAILED";
  /** The program is simulated before it runs. */
  readonly simulateFirst?: true;
  /** Status of the first attempt. The tests then check the second attempt. */
  readonly first?: "FAILED" | "CANCELLED" | "ABORTED";
};

/** Arguments of a note: its text, with the tag of its job in front. */
export const tagged = (text: string) => ({ text: { $text: `{input.tag}/${text}` } });
/** The question that programs ask people. */
export const points = {
  doubt: {
    question: "Done?",
    continuations: ["proceed", "skip", "abort"],
    escalation: [{ principal: "owner", timeout: "1h" }],
  },
};
/** The cases in which a map asks people about its rows. */
export const onRows = { unknown: "doubt", failed: "doubt" };
/** The same for rows whose calls only read: they are never in doubt. */
export const onReadRows = { failed: onRows.failed };
/** Times of the workers in milliseconds. A sample cannot use short ones, because a busy machine could not keep to them. */
export const times =
  process.env["SVC_CRASH_ROUNDS"] === undefined
    ? { leaseMs: 1_000, callMs: 4_000, runningMaxMs: 4_500 }
    : { leaseMs: 3_000, callMs: 8_000, runningMaxMs: 9_000 };
/** Timeout of a call. It ends well before the call would count as lost with its node. */
export const timeout = `${times.callMs / 1_000}s`;
/** Reads the items, page by page, with a cursor. */
export const items = {
  id: "items",
  call: "desk.list_items",
  entity: "ops",
  args: {},
  rows: { from: "items[]", key: "id", keep: ["id", "n", "secret"], page: { arg: "page", from: "next", max: 40 } },
  timeout,
};
/** Reads the items by page number. */
export const numbered = {
  ...items,
  call: "desk.list_numbered",
  rows: { from: "items[]", key: "id", keep: ["id", "n", "secret"], page: { max: 40 } },
};
/** A step that reads, used as the last one. */
export const last = { id: "last", call: "desk.get_item", entity: "ops", args: { id: "x" }, timeout };
/** The undo of a note, which deletes it. */
export const undo = { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } };

/** Returns a step with one call. */
export function single(tool: string, args: object) {
  return { steps: [{ id: "one", call: tool, entity: "ops", args, timeout }] };
}

/** Returns two steps: one reads the items, the other makes a call for each. */
export function mapOf(tool: string, args: object, asked: object = onRows) {
  const one = { id: "one", call: tool, entity: "ops", args, timeout };
  return { points, steps: [items, { id: "each", map: "items", concurrency: 4, onRows: asked, do: [one] }] };
}

/** Placeholder for the app's real address, in programs that make their own requests. */
export const host = "http://127.0.0.1:1";
/** A header with a secret of the project. */
export const headers = { "x-token": { $secret: "desk_token" } };

/** A request that reads, one that writes, and one that writes with an idempotency key. */
const requests = {
  read: { http: { method: "GET", url: `${host}/items/x`, headers } },
  write: { http: { method: "POST", url: `${host}/notes`, headers } },
  keyed: {
    http: { method: "POST", url: `${host}/keyed`, headers },
    idempotency: { header: "Idempotency-Key" },
  },
};

/** Returns a step with an HTTP request. */
export function request(name: keyof typeof requests, body?: object) {
  const { http, ...options } = requests[name];
  return { id: "one", http: { ...http, ...(body && { body }) }, ...options, timeout };
}

/** Returns two steps: one reads the items, the other makes a request for each. */
export function mapOfRequests(name: keyof typeof requests) {
  const one = request(name, tagged("{row.id}"));
  return { points, steps: [items, { id: "each", map: "items", concurrency: 4, onRows, do: [one] }] };
}

/** Returns a step that sends a note. The step is named by the note's text. */
export function note(text: string) {
  return { id: text.replaceAll(/[^a-z]/g, "_"), call: "desk.send_note", entity: "ops", args: tagged(text), timeout };
}

/** Returns a step that sends a note with an idempotency key. */
export function keyed(text: string) {
  return { ...note(text), call: "desk.send_keyed" };
}

/** Returns a step whose read fails. */
export function bad(id: string) {
  return { ...last, id, args: { id: "bad" } };
}

/** Returns a step whose read fails until the test repairs the app for the job's tag. */
export function flaky(id = "flaky") {
  return { ...last, id, args: { id: { $text: "flaky-{input.tag}" } } };
}

/** Returns an error handler that sends a note about the error and then continues, or fails the job. */
export function handle(text: string, then: "continue" | "fail" = "continue") {
  return { do: [note(text)], then };
}
