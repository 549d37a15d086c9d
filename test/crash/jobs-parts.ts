// What the programs of the tests of nodes that die are made of.

/** A kind of work: its program, whether it ends as failed, and what becomes of it first. */
export type JobKind = {
  readonly program: object;
  readonly ends: "SUCCEEDED" | "FAILED";
  /** It is simulated first. */
  readonly simulateFirst?: true;
  /** How its first attempt ends; it is another one that is looked at. */
  readonly first?: "FAILED" | "CANCELLED" | "ABORTED";
};

/** Arguments of a note: what it says, behind the tag of its job. */
export const tagged = (text: string) => ({ text: { $text: `{input.tag}/${text}` } });
/** The question that programs ask. */
export const points = {
  doubt: {
    question: "Done?",
    continuations: ["proceed", "skip", "abort"],
    escalation: [{ principal: "owner", timeout: "1h" }],
  },
};
/** What maps ask about rows. */
export const onRows = { unknown: "doubt", failed: "doubt" };
/** Times of the workers, in milliseconds: those of a sample are shorter than a machine with much other work could keep to. */
export const times =
  process.env["SVC_CRASH_ROUNDS"] === undefined
    ? { leaseMs: 1_000, callMs: 4_000, runningMaxMs: 4_500 }
    : { leaseMs: 3_000, callMs: 8_000, runningMaxMs: 9_000 };
/** A call ends well before it counts as lost with its node. */
export const timeout = `${times.callMs / 1_000}s`;
/** Fetches the items, page after page. */
export const items = {
  id: "items",
  call: "desk.list_items",
  entity: "ops",
  args: {},
  rows: { from: "items[]", key: "id", keep: ["id", "n", "secret"], page: { arg: "page", from: "next", max: 40 } },
  timeout,
};
/** Fetches the items by the number of the page. */
export const numbered = {
  ...items,
  call: "desk.list_numbered",
  rows: { from: "items[]", key: "id", keep: ["id", "n", "secret"], page: { max: 40 } },
};
/** A read. */
export const last = { id: "last", call: "desk.get_item", entity: "ops", args: { id: "x" }, timeout };
/** Takes a note back. */
export const undo = { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } };

/** One call. */
export function single(tool: string, args: object) {
  return { steps: [{ id: "one", call: tool, entity: "ops", args, timeout }] };
}

/** The items, and a call for each. */
export function mapOf(tool: string, args: object) {
  const one = { id: "one", call: tool, entity: "ops", args, timeout };
  return { points, steps: [items, { id: "each", map: "items", concurrency: 4, onRows, do: [one] }] };
}

/** Stands for the app's own address where a program makes requests to it. */
export const host = "http://127.0.0.1:1";
/** With a secret of the project. */
export const headers = { "x-token": { $secret: "desk_token" } };

/** The request of a read, of a write, and of one that comes with a key. */
const requests = {
  read: { http: { method: "GET", url: `${host}/items/x`, headers } },
  write: { http: { method: "POST", url: `${host}/notes`, headers } },
  keyed: {
    http: { method: "POST", url: `${host}/keyed`, headers },
    idempotency: { header: "Idempotency-Key" },
  },
};

/** A request of the program itself. */
export function request(name: keyof typeof requests, body?: object) {
  const { http, ...options } = requests[name];
  return { id: "one", http: { ...http, ...(body && { body }) }, ...options, timeout };
}

/** The items, and a request for each. */
export function mapOfRequests(name: keyof typeof requests) {
  const one = request(name, tagged("{row.id}"));
  return { points, steps: [items, { id: "each", map: "items", concurrency: 4, onRows, do: [one] }] };
}

/** Sends a note, named by what it says. */
export function note(text: string) {
  return { id: text.replaceAll(/[^a-z]/g, "_"), call: "desk.send_note", entity: "ops", args: tagged(text), timeout };
}

/** Sends a note with a key. */
export function keyed(text: string) {
  return { ...note(text), call: "desk.send_keyed" };
}

/** A read that fails. */
export function bad(id: string) {
  return { ...last, id, args: { id: "bad" } };
}

/** A read that fails until the job's tag is mended. */
export function flaky(id = "flaky") {
  return { ...last, id, args: { id: { $text: "flaky-{input.tag}" } } };
}

/** Sends a note about an error, and goes on behind it or fails even so. */
export function handle(text: string, then: "continue" | "fail" = "continue") {
  return { do: [note(text)], then };
}
