import { createId } from "@svc/core";
import { expect, test } from "vitest";
import { pinToolkit } from "../build/pin.ts";
import { parsePrivateToolkit } from "../private/parse-definition.ts";
import { privateSource } from "../private/test-definitions.ts";
import { createDefinitionFile, DefinitionError, definitionFaultText } from "../read/definition-file.ts";
import { overlayDefinition } from "../read/load.ts";

const text = (description: string, more: object = {}) => ({ type: "string", description, ...more });
const whole = (description: string) => ({ type: "integer", minimum: 1, description });

/** Returns the definition of a list that a project publishes. The list has this poll. */
function listOf(poll: unknown, changes: object = {}) {
  return {
    description: "Lists the orders of the shop, the newest first, a page at a time, with their states.",
    input: {
      type: "object",
      additionalProperties: false,
      properties: {
        since: text("Orders from then on.", { format: "date-time" }),
        offset: whole("Number of the first order."),
        count: whole("Orders at most."),
        sort: text("What sorts them.", { enum: ["made", "changed"] }),
        key: text("A secret.", { "x-sensitive": true }),
      },
    },
    output: {
      type: "object",
      properties: {
        orders: {
          type: "array",
          items: {
            type: "object",
            properties: {
              id: { type: "string" },
              number: { type: "integer" },
              made: { type: "string" },
              by: { type: "object", properties: { id: { type: "string" } } },
            },
          },
        },
        next: { type: "string" },
        more: { type: "boolean" },
      },
    },
    request: {
      method: "GET",
      path: "/orders",
      query: Object.fromEntries(
        ["since", "offset", "count", "sort", "key"].map((name) => [name, `{{params.${name}}}`]),
      ),
    },
    poll,
    ...changes,
  };
}

const publish = (poll: unknown, changes?: object) =>
  parsePrivateToolkit(JSON.stringify(privateSource({ tool: listOf(poll, changes) })), createId("prj", 1));

async function faultsOf(poll: unknown, changes?: object): Promise<string[]> {
  try {
    await publish(poll, changes);
    return [];
  } catch (error) {
    if (error instanceof DefinitionError) return error.faults.map(definitionFaultText);
    throw error;
  }
}

const at = (cursor: object, more: object = {}) => ({ rows: "orders[]", id: "id", cursor, ...more });

test.each([
  at({ kind: "seen" }),
  at({ kind: "seen" }, { id: "by.id", size: "count" }),
  at({ kind: "after", arg: "since" }),
  at({ kind: "after", arg: "since", from: "made", overlap: "10m" }),
  at({ kind: "after", arg: "offset", from: "number", step: 1 }),
  at({ kind: "newest", args: { sort: "made" } }, { changed: { kind: "after", arg: "since" } }),
  at({ kind: "token", arg: "since", from: "next", more: "more" }),
])("%j is taken, and stands in no pin", async (poll) => {
  const toolkit = await publish(poll);
  expect(toolkit.actions[0]?.poll).toEqual(poll);
  expect(Object.hasOwn(pinToolkit(toolkit, new Set(["read_order"])).actions[0] ?? {}, "poll")).toBe(false);
});

test.each([
  [{ rows: "orders[]", cursor: { kind: "seen" } }, "poll.id: is missing"],
  [at({ kind: "latest" }), "poll.cursor.kind: "],
  [at({ kind: "seen" }, { rows: "order[]" }), 'poll.rows: "order[]" is not in the tool\'s output; name the list'],
  [at({ kind: "seen" }, { rows: "more[]" }), 'poll.rows: "more[]" is boolean, not a list'],
  [
    at({ kind: "seen" }, { id: "uuid" }),
    'poll.id: "uuid" of a row is not in the tool\'s output; name a text or number',
  ],
  [at({ kind: "seen" }, { id: "by" }), 'poll.id: "by" of a row is an object or a list'],
  [at({ kind: "seen" }, { size: "sort" }), 'poll.size: "sort" does not take whole numbers'],
  [
    at({ kind: "seen" }, { size: "limit" }),
    'poll.size: "limit" is not an argument; name one of input.properties: since',
  ],
  [at({ kind: "seen", arg: "since" }), "poll.cursor.arg: is not of the kind seen; remove it: {kind: seen}"],
  [at({ kind: "after" }), "poll.cursor: has no arg; write {kind: after, arg: since"],
  [at({ kind: "after", arg: "key" }), 'poll.cursor.arg: "key" takes a secret; name another'],
  [
    at({ kind: "after", arg: "offset" }),
    'poll.cursor.arg: "offset" does not take a time, which is the bound without from',
  ],
  [at({ kind: "after", arg: "since", from: "number" }), 'poll.cursor.from: "number" of a row is integer'],
  [at({ kind: "after", arg: "since", from: "made", overlap: "soon" }), 'poll.cursor.overlap: "soon" is not a duration'],
  [at({ kind: "after", arg: "since", from: "made", overlap: "8d" }), "poll.cursor.overlap: is 8d, more than 7 days"],
  [at({ kind: "after", arg: "since", from: "made", step: 1 }), 'poll.cursor.step: "since" does not take numbers'],
  [at({ kind: "after", arg: "since", step: 1 }), "poll.cursor.step: is given without from"],
  [at({ kind: "newest" }), "poll.cursor: has no args; write {kind: newest"],
  [at({ kind: "newest", args: { order: "desc" } }), 'poll.cursor.args.order: "order" is not an argument'],
  [at({ kind: "newest", args: { sort: "age" } }), "poll.cursor.args.sort: "],
  [
    at({ kind: "seen" }, { changed: { kind: "newest", args: { sort: "made" } } }),
    "poll.changed.kind: newest finds no row",
  ],
  [at({ kind: "token", arg: "since", from: "orders" }), 'poll.cursor.from: "orders" is an object or a list'],
  [at({ kind: "token", arg: "since", from: "next", more: "next" }), 'poll.cursor.more: "next" is string'],
])("%j is refused: %s", async (poll, fault) => {
  const faults = await faultsOf(poll);
  expect(faults.filter((one) => one.includes(fault))).not.toEqual([]);
});

test("only reads are polled, and pages need no size", async () => {
  expect((await faultsOf(at({ kind: "seen" }), { class: "write" })).join()).toContain(
    "poll: is given for a tool of class",
  );
  const paging = { arg: "offset", by: "rows" };
  const faults = await faultsOf(at({ kind: "seen" }, { size: "count" }), { paging });
  expect(faults.join()).toContain("poll.size: is given together with paging");
});

test("an overlay that removes a field used by a poll removes the poll", () => {
  const list = listOf(at({ kind: "after", arg: "since", from: "made" }));
  const file = createDefinitionFile("list.yaml", { kind: "action", class: "read", ...list });
  const has = (patch: object) => "poll" in (overlayDefinition(file, patch, "deployment.yaml").value as object);
  expect(has({ description: "Other words for the same list of orders." })).toBe(true);
  expect(has({ input: { properties: { since: null } } })).toBe(false);
  expect(has({ output: { properties: { orders: null } } })).toBe(false);
});
