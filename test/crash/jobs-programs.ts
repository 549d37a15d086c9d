/** A kind of work that is killed: its program, and whether it ends as failed. */
export type JobKind = { readonly program: object; readonly ends: "SUCCEEDED" | "FAILED" };

const tagged = (text: string) => ({ text: { $text: `{input.tag}/${text}` } });
const points = {
  doubt: {
    question: "Done?",
    continuations: ["proceed", "skip", "abort"],
    escalation: [{ principal: "owner", timeout: "1h" }],
  },
};
const onRows = { unknown: "doubt", failed: "doubt" };
// A call ends well before it counts as lost with its node.
const timeout = "4s";
const items = {
  id: "items",
  call: "desk.list_items",
  entity: "ops",
  args: {},
  rows: { from: "items[]", key: "id", keep: ["id", "n", "secret"], page: { arg: "page", from: "next", max: 40 } },
  timeout,
};
const numbered = {
  ...items,
  call: "desk.list_numbered",
  rows: { from: "items[]", key: "id", keep: ["id", "n", "secret"], page: { max: 40 } },
};
const last = { id: "last", call: "desk.get_item", entity: "ops", args: { id: "x" }, timeout };
const undo = { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } };

function single(tool: string, args: object) {
  return { steps: [{ id: "one", call: tool, entity: "ops", args, timeout }] };
}

function mapOf(tool: string, args: object) {
  const one = { id: "one", call: tool, entity: "ops", args, timeout };
  return { points, steps: [items, { id: "each", map: "items", concurrency: 4, onRows, do: [one] }] };
}

/** Stands for the app's own address where a program makes requests to it. */
const host = "http://127.0.0.1:1";
const headers = { "x-token": { $secret: "desk_token" } };

/** The request of a read, of a write, and of one that comes with a key. */
const requests = {
  read: { http: { method: "GET", url: `${host}/items/x`, headers } },
  write: { http: { method: "POST", url: `${host}/notes`, headers } },
  keyed: {
    http: { method: "POST", url: `${host}/keyed`, headers },
    idempotency: { header: "Idempotency-Key" },
  },
};

function request(name: keyof typeof requests, body?: object) {
  const { http, ...options } = requests[name];
  return { id: "one", http: { ...http, ...(body && { body }) }, ...options, timeout };
}

function mapOfRequests(name: keyof typeof requests) {
  const one = request(name, tagged("{row.id}"));
  return { points, steps: [items, { id: "each", map: "items", concurrency: 4, onRows, do: [one] }] };
}

/** The kinds of work, by name. */
export const kinds: Readonly<Record<string, JobKind>> = {
  read: { program: single("desk.get_item", { id: "x" }), ends: "SUCCEEDED" },
  write: { program: single("desk.send_note", tagged("one")), ends: "SUCCEEDED" },
  "keyed write": { program: single("desk.send_keyed", tagged("one")), ends: "SUCCEEDED" },
  pages: { program: { steps: [items] }, ends: "SUCCEEDED" },
  "pages by number": { program: { steps: [numbered] }, ends: "SUCCEEDED" },
  filter: {
    program: {
      params: { n: 1.0 },
      steps: [
        items,
        { id: "some", filter: "items", where: "row.n >= params.n" },
        { id: "sum", reduce: "some", as: { all: "count" } },
      ],
      result: { all: { $ref: "steps.sum.all" } },
    },
    ends: "SUCCEEDED",
  },
  sets: {
    program: {
      steps: [
        items,
        { id: "plain", compute: "items", fields: { n: "row.n + 0.0" } },
        { id: "sorted", sort: "plain", by: [{ field: "n", order: "desc" }] },
        { id: "once", distinct: "sorted", by: ["id"] },
        { id: "first", limit: "once", max: 1_000 },
        { id: "paired", join: "first", with: "items", on: { id: "id" }, keep: { again: "right.n" } },
        { id: "alone", join: "first", with: "paired", on: { id: "id" }, kind: "anti" },
        { id: "groups", group: "paired", by: ["n"], as: { all: "count", ids: "list id" } },
        { id: "flat", flatten: "groups", field: "ids", keep: { id: "item" } },
        { id: "taken", take: "input.list", keep: ["value"] },
        {
          id: "sum",
          reduce: "flat",
          as: { all: "count", sum: "sum n", text: { text: { of: "{row.id}", separator: "" } } },
        },
      ],
      input: { list: [1, 2, 3] },
      inputSchema: undefined,
      result: {
        all: { $ref: "steps.sum.all" },
        text: { $ref: "steps.sum.text" },
        alone: { $ref: "rows.alone" },
        taken: { $ref: "rows.taken" },
      },
    },
    ends: "SUCCEEDED",
  },
  "map of reads": { program: mapOf("desk.get_item", { id: { $ref: "row.id" } }), ends: "SUCCEEDED" },
  "map of writes": { program: mapOf("desk.send_note", tagged("{row.id}")), ends: "SUCCEEDED" },
  "map of keyed writes": { program: mapOf("desk.send_keyed", tagged("{row.id}")), ends: "SUCCEEDED" },
  "http read": { program: { steps: [request("read")] }, ends: "SUCCEEDED" },
  "http write": { program: { steps: [request("write", tagged("one"))] }, ends: "SUCCEEDED" },
  "keyed http write": { program: { steps: [request("keyed", tagged("one"))] }, ends: "SUCCEEDED" },
  "map of http writes": { program: mapOfRequests("write"), ends: "SUCCEEDED" },
  "map of keyed http writes": { program: mapOfRequests("keyed"), ends: "SUCCEEDED" },
  judge: { program: { points, steps: [{ id: "gate", judge: "doubt" }, last] }, ends: "SUCCEEDED" },
  "rows kept": {
    program: {
      points,
      steps: [
        items,
        {
          id: "first",
          map: "items",
          concurrency: 2,
          onRows,
          keep: { note: "calls.send.id" },
          do: [
            {
              id: "send",
              call: "desk.send_note",
              entity: "ops",
              args: tagged("{row.id}"),
              timeout,
              when: "row.n >= 0.0",
            },
          ],
        },
        { id: "again", map: "first", states: ["ok"], onRows, do: [{ ...last, id: "look", when: "row.note != null" }] },
      ],
    },
    ends: "SUCCEEDED",
  },
  when: {
    program: {
      params: { n: 1.0 },
      steps: [
        { ...single("desk.send_note", tagged("never")).steps[0], id: "never", when: "params.n > 1.0" },
        { ...single("desk.send_note", tagged("one")).steps[0], when: "!has(steps.never)" },
      ],
    },
    ends: "SUCCEEDED",
  },
  wait: { program: { steps: [{ id: "rest", wait: "1s" }, last] }, ends: "SUCCEEDED" },
  until: {
    // Each round sends a note of its own.
    program: {
      steps: [
        {
          id: "again",
          until: "steps.look.text.matches('[02468]$')",
          do: [
            { id: "look", call: "desk.get_item", entity: "ops", args: { id: "tick" }, timeout },
            { id: "one", call: "desk.send_note", entity: "ops", args: tagged("round-{steps.look.text}"), timeout },
          ],
          every: "1s",
          max: 20,
        },
        last,
      ],
    },
    ends: "SUCCEEDED",
  },
  "map of skills": {
    program: {
      steps: [
        items,
        {
          id: "each",
          map: "items",
          concurrency: 4,
          do: [{ id: "tell", run: "skills.note", input: { tag: { $text: "{input.tag}/{row.id}" } } }],
        },
      ],
    },
    ends: "SUCCEEDED",
  },
  parallel: {
    program: {
      points,
      steps: [
        {
          id: "ways",
          parallel: {
            first: [
              { id: "one", call: "desk.send_note", entity: "ops", args: tagged("one"), timeout },
              { id: "two", call: "desk.send_keyed", entity: "ops", args: tagged("two"), timeout },
            ],
            second: [
              { id: "look", call: "desk.get_item", entity: "ops", args: { id: "x" }, timeout },
              { id: "rest", wait: "1s" },
              { id: "three", call: "desk.send_note", entity: "ops", args: tagged("three"), timeout },
            ],
            third: [
              { id: "gate", judge: "doubt" },
              { ...last, id: "after" },
            ],
          },
        },
        last,
      ],
    },
    ends: "SUCCEEDED",
  },
  // Each of the two runs a job that writes once.
  skills: {
    program: {
      steps: [
        { id: "first", run: "skills.note", input: { tag: { $text: "{input.tag}/first" } } },
        { id: "second", run: "skills.note", input: { tag: { $text: "{input.tag}/second" } } },
        last,
      ],
    },
    ends: "SUCCEEDED",
  },
  "handled error": {
    program: {
      steps: [
        {
          id: "bad",
          call: "desk.get_item",
          entity: "ops",
          args: { id: "bad" },
          timeout,
          onError: {
            do: [{ id: "one", call: "desk.send_note", entity: "ops", args: tagged("{steps.bad.error.code}"), timeout }],
            // biome-ignore lint/suspicious/noThenProperty: programs have the field.
            then: "continue",
          },
        },
        last,
      ],
    },
    ends: "SUCCEEDED",
  },
  undo: {
    program: {
      saga: { on: ["failed"] },
      approval: { plan: "never" },
      steps: [
        { id: "first", call: "desk.send_note", entity: "ops", args: tagged("first"), undo, timeout },
        { id: "second", call: "desk.send_note", entity: "ops", args: tagged("second"), undo, timeout },
        { id: "bad", call: "desk.get_item", entity: "ops", args: { id: "bad" }, timeout },
      ],
    },
    ends: "FAILED",
  },
};

/** The text of a kind's program; `tag` stands in every note it sends. `appUrl`: where the app is, for requests to it. */
export function programOf(kind: string, tag: string, appUrl: string): string {
  const inputSchema = { type: "object", required: ["tag"], properties: { tag: { type: "string" } } };
  const program = { version: 1, title: kind, inputSchema, input: { tag }, ...kinds[kind]?.program };
  return JSON.stringify(program).replaceAll(host, appUrl);
}
