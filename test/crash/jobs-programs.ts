import {
  bad,
  handle,
  headers,
  host,
  items,
  type JobKind,
  keyed,
  last,
  mapOf,
  mapOfRequests,
  note,
  numbered,
  onReadRows,
  onRows,
  points,
  request,
  single,
  tagged,
  timeout,
  undo,
} from "./jobs-parts.ts";
import { retriedKinds } from "./jobs-retried.ts";

/** The kinds of work, by name. */
const stepKinds: Readonly<Record<string, JobKind>> = {
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
  "map of reads": { program: mapOf("desk.get_item", { id: { $ref: "row.id" } }, onReadRows), ends: "SUCCEEDED" },
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
        {
          id: "again",
          map: "first",
          states: ["ok"],
          onRows: onReadRows,
          do: [{ ...last, id: "look", when: "row.note != null" }],
        },
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
    // Each round sends another note.
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
  // Each of the two steps runs a child job that writes once.
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
  // Parallel branches that run child jobs; one branch runs one for each row.
  "parallel skills": {
    program: {
      steps: [
        {
          id: "ways",
          parallel: {
            one: [{ id: "first", run: "skills.note", input: { tag: { $text: "{input.tag}/first" } } }, note("one")],
            two: [{ id: "second", run: "skills.relay", input: { tag: { $text: "{input.tag}/second" } } }],
            rows: [
              items,
              {
                id: "each",
                map: "items",
                concurrency: 4,
                do: [{ id: "tell", run: "skills.note", input: { tag: { $text: "{input.tag}/{row.id}" } } }],
              },
            ],
          },
        },
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
  if: {
    program: {
      points,
      steps: [
        items,
        {
          id: "any",
          if: "rows.items > 0",
          // biome-ignore lint/suspicious/noThenProperty: programs have the field.
          then: [note("one"), { id: "gate", judge: "doubt", when: "rows.items < 0" }, note("two")],
          else: [note("never")],
        },
        last,
      ],
    },
    ends: "SUCCEEDED",
  },
  // Every block handles its own errors. One of them fails nevertheless, and the next block handles that.
  "handled blocks": {
    program: {
      steps: [
        {
          id: "branch",
          if: "true",
          // biome-ignore lint/suspicious/noThenProperty: programs have the field.
          then: [note("one"), bad("first")],
          onError: handle("handled-if"),
        },
        {
          id: "rounds",
          until: "has(steps.second.text)",
          do: [note("two"), bad("second")],
          every: "1s",
          max: 2,
          onError: handle("handled-until"),
        },
        {
          id: "ways",
          parallel: {
            left: [{ ...bad("third"), onError: handle("handled-call", "fail") }],
            right: [note("three")],
          },
          onError: handle("handled-parallel"),
        },
        last,
      ],
    },
    ends: "SUCCEEDED",
  },
  // One branch for each kind of step, whose results are joined at the end.
  "wide parallel": {
    program: {
      points,
      steps: [
        {
          id: "ways",
          parallel: {
            pages: [
              items,
              { id: "some", filter: "items", where: "row.n >= 0.0" },
              { id: "each", map: "some", concurrency: 4, onRows, do: [{ ...note("{row.id}"), id: "send" }] },
            ],
            rounds: [
              {
                id: "again",
                until: "steps.look.text.matches('[02468]$')",
                do: [{ ...last, id: "look", args: { id: "tick" } }, keyed("round-{steps.look.text}")],
                every: "1s",
                max: 20,
              },
            ],
            branch: [
              // biome-ignore lint/suspicious/noThenProperty: programs have the field.
              { id: "any", if: "true", then: [note("two")] },
              { ...bad("third"), onError: handle("handled") },
            ],
          },
        },
        last,
      ],
    },
    ends: "SUCCEEDED",
  },
  "pages over http": {
    program: {
      steps: [{ id: "items", http: { method: "GET", url: `${host}/items`, headers }, rows: items.rows, timeout }],
    },
    ends: "SUCCEEDED",
  },
  // The program is simulated, then approved, then run.
  planned: {
    program: { approval: { plan: "always", escalation: [{ principal: "owner" }] }, steps: [note("one"), last] },
    ends: "SUCCEEDED",
    simulateFirst: true,
  },
  // Two levels of child jobs: the skill runs the skill `note`.
  "deep skills": {
    program: {
      steps: [{ id: "first", run: "skills.relay", input: { tag: { $text: "{input.tag}/first" } } }, last],
    },
    ends: "SUCCEEDED",
  },
  // The work of child jobs and of branches is undone, the last first.
  "undo of children": {
    program: {
      saga: { on: ["failed"] },
      approval: { plan: "never" },
      steps: [
        { ...note("first"), undo },
        { id: "child", run: "skills.undone", input: { tag: { $text: "{input.tag}/child" } } },
        { id: "ways", parallel: { left: [{ ...note("second"), undo }], right: [{ ...note("third"), undo }] } },
        bad("end"),
      ],
    },
    ends: "FAILED",
  },
};

/** The kinds of work above, and those whose first attempt does not succeed. */
export const kinds: Readonly<Record<string, JobKind>> = { ...stepKinds, ...retriedKinds };

/**
 * Returns the text of a program. Every note that it sends contains `tag`. `appUrl` is the app's address, for the program's own requests.
 */
export function programText(program: object, tag: string, appUrl: string): string {
  const inputSchema = { type: "object", required: ["tag"], properties: { tag: { type: "string" } } };
  // An undo deletes, which would need an approval, and these tests have nobody to approve it.
  const approval = /"(?:saga|undo)":/.test(JSON.stringify(program)) ? { approval: { plan: "never" } } : {};
  const whole = { version: 1, title: tag, inputSchema, input: { tag }, ...approval, ...program };
  return JSON.stringify(whole).replaceAll(host, appUrl);
}
