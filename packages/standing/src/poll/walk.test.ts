import type { Action } from "@svc/catalog";
import type { JsonObject, JsonValue } from "@svc/core";
import { catalogOf } from "@svc/testing/catalog";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { WalkSpec } from "./definition.ts";
import type { KnownRow } from "./scanned-rows.ts";
import { newPollState, type PollState, parsePollState } from "./state.ts";
import { type ReadFault, walk } from "./walk.ts";

const minute = 60_000;
const day = 86_400_000;
const start = Date.UTC(2026, 0, 5);

const property = (type: string, more: object = {}) => ({ type, description: "An argument of the list.", ...more });
const catalog = catalogOf({
  toolkits: [
    {
      toolkit: {
        slug: "shop",
        name: "Shop",
        description: "Orders of a shop of our own, for tests of polls.",
        version: "0.1.0",
        category: "sales",
        baseUrl: "https://shop.example.com",
        auth: [{ type: "none" }],
      },
      tools: {
        list_orders: {
          kind: "action",
          class: "read",
          description: "Lists the orders of the shop, one page at a time.",
          intents: ["which orders came", "show the orders", "what was sold"],
          input: {
            type: "object",
            additionalProperties: false,
            properties: {
              page: property("integer", { minimum: 1 }),
              size: property("integer", { maximum: 1000 }),
              since: property("string", { format: "date-time" }),
              above: property("integer"),
              cursor: property("string"),
              sort: property("string"),
            },
          },
          output: {
            type: "object",
            properties: {
              orders: {
                type: "array",
                items: {
                  type: "object",
                  properties: { id: { type: "integer" }, at: { type: "string" }, state: { type: "string" } },
                },
              },
              next: { type: "string" },
            },
          },
          request: {
            method: "GET",
            path: "/orders",
            query: Object.fromEntries(
              ["page", "size", "since", "above", "cursor", "sort"].map((name) => [name, `{{params.${name}}}`]),
            ),
          },
        },
      },
    },
  ],
});
const action = catalog.tools.get("shop.list_orders") as Action;

type Order = { readonly id: number; readonly at: number; readonly state: string };

const paging = { kind: "number", arg: "page", start: 1, size: "size", more: undefined } as const;
const base: WalkSpec = {
  args: { size: 3 },
  rows: ["orders"],
  id: ["id"],
  cursor: { kind: "seen" },
  paging,
  size: undefined,
  keep: undefined,
  findsChanged: false,
};
const after = { kind: "after", arg: "since", from: ["at"], overlapMs: minute, step: undefined } as const;
const specs = {
  seen: base,
  after: { ...base, cursor: after },
  newest: { ...base, cursor: { kind: "newest", args: { sort: "-at" } } },
  token: { ...base, paging: undefined, cursor: { kind: "token", arg: "cursor", from: ["next"], more: undefined } },
  numbers: {
    ...base,
    paging: undefined,
    size: "size",
    cursor: { kind: "after", arg: "above", from: ["id"], overlapMs: 0, step: 1 },
  },
} as const satisfies Record<string, WalkSpec>;

/**
 * A test app with orders, and a program that polls them in the way of the engine: the result of each poll is stored as a whole, or not at
 * all.
 */
class Shop {
  orders: Order[] = [];
  now = start;
  state: PollState = newPollState("skip");
  readonly known = new Map<string, KnownRow>();
  readonly asked: JsonObject[] = [];
  /** The reads that fail, by their number, each with its fault. */
  readonly faults = new Map<number, ReadFault>();
  #reads = 0;

  add(...ids: readonly number[]): void {
    for (const id of ids) this.orders.push({ id, at: this.now, state: "open" });
  }

  #answer(args: JsonObject): JsonValue {
    const since = args["since"] === undefined ? 0 : Date.parse(String(args["since"]));
    const above = Number(args["above"] ?? 0);
    const sorted = args["sort"] === "-at" ? [...this.orders].sort((a, b) => b.at - a.at || b.id - a.id) : this.orders;
    const wanted = sorted.filter(({ at, id }) => at >= since && id >= above);
    const size = Number(args["size"] ?? 100);
    const from = args["cursor"] === undefined ? (Number(args["page"] ?? 1) - 1) * size : Number(args["cursor"]);
    const rows = wanted
      .slice(from, from + size)
      .map(({ id, at, state }) => ({ id, at: new Date(at).toISOString(), state }));
    return { orders: rows, next: String(from + rows.length) };
  }

  async poll(spec: WalkSpec = base, { pagesMax = 50, isLost = false }: { pagesMax?: number; isLost?: boolean } = {}) {
    // The stored state is parsed as it would be after a restart.
    const state = parsePollState(JSON.stringify(this.state));
    const bounds = { pagesMax, rowsMax: 10_000, foundMax: 10_000, charactersMax: 1_048_576 };
    const walked = await walk(
      { spec, action, state, nowMs: this.now, bounds },
      {
        read: async (args) => {
          this.asked.push(args);
          const fault = this.faults.get(++this.#reads);
          return fault === undefined ? { answer: this.#answer(args) } : { fault };
        },
        known: async (digests) =>
          new Map(digests.flatMap((one) => (this.known.has(one) ? [[one, this.known.get(one) as KnownRow]] : []))),
      },
    );
    if (walked.kind === "failed" || isLost) return { ids: [], hasMore: false, walked };
    this.state = walked.state;
    for (const { digest, content } of walked.remembered) this.known.set(digest, { content, seenAt: this.now });
    for (const digest of walked.refreshed)
      this.known.set(digest, { ...(this.known.get(digest) as KnownRow), seenAt: this.now });
    for (const [digest, { seenAt }] of this.known) {
      if (walked.forgetBefore !== undefined && seenAt < walked.forgetBefore) this.known.delete(digest);
    }
    return { ids: walked.found.map(({ row }) => row["id"]), hasMore: walked.hasMore, walked };
  }

  /** Polls until the list has been read to its end. */
  async pollAll(spec: WalkSpec, options: Parameters<Shop["poll"]>[1] = {}): Promise<unknown[]> {
    const ids: unknown[] = [];
    for (let polls = 0; polls < 200; polls++) {
      const polled = await this.poll(spec, options);
      ids.push(...polled.ids);
      if (!polled.hasMore) return ids;
    }
    throw new Error("the walk does not end");
  }
}

test.each(Object.entries(specs))(
  "%s: what was there is not new, and each row that comes is found once",
  async (_, spec) => {
    const shop = new Shop();
    shop.add(1, 2, 3, 4, 5, 6, 7);
    shop.now += 5 * minute;
    expect(await shop.pollAll(spec)).toEqual([]);
    shop.now += minute;
    shop.add(8, 9);
    shop.now += minute;
    expect((await shop.pollAll(spec)).sort()).toEqual([8, 9]);
    expect(await shop.pollAll(spec)).toEqual([]);
  },
);

test.each(Object.entries(specs))(
  "%s: all that is there, or the last of it, is found where that is wanted",
  async (_, spec) => {
    const shop = new Shop();
    for (const id of [1, 2, 3, 4, 5, 6, 7]) {
      shop.now += minute;
      shop.add(id);
    }
    shop.now += minute;
    shop.state = newPollState("all");
    expect((await shop.pollAll(spec, { pagesMax: 2 })).map(Number).sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    shop.state = newPollState({ last: 2 });
    shop.known.clear();
    expect((await shop.pollAll(spec, { pagesMax: 2 })).map(Number).sort()).toEqual([6, 7]);
  },
);

/** Random changes of the list between two polls. */
const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("add" as const), count: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lost" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fault" as const), isFinal: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("poll" as const), pagesMax: fc.integer({ min: 1, max: 4 }) }) },
);

test.each(Object.entries(specs))(
  "%s: whatever is lost or refused in between, and however small the cap: once each",
  async (_, spec) => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 25 }), async (events) => {
        const shop = new Shop();
        shop.add(1, 2, 3, 4, 5);
        shop.now += 5 * minute;
        await shop.pollAll(spec);
        let last = 5;
        const found: unknown[] = [];
        for (const one of events) {
          shop.now += minute / 10;
          if (one.kind === "add") for (let index = 0; index < one.count; index++) shop.add(++last);
          if (one.kind === "lost") await shop.poll(spec, { isLost: true });
          if (one.kind === "fault") {
            shop.faults.set(shop.asked.length + 1, { code: "provider_error", message: "", isFinal: one.isFinal });
            found.push(...(await shop.poll(spec, { pagesMax: 2 })).ids);
          }
          if (one.kind === "poll") found.push(...(await shop.poll(spec, { pagesMax: one.pagesMax })).ids);
        }
        shop.now += minute / 10;
        // New rows that came on top of the list during a reading are found by the next reading.
        for (let times = 0; times < 3; times++) found.push(...(await shop.pollAll(spec)));
        expect(found.map(Number).sort((a, b) => a - b)).toEqual(
          Array.from({ length: last - 5 }, (__, index) => index + 6),
        );
      }),
      { numRuns: 60 },
    );
  },
);

test("newest: a poll ends at a page without an unknown id, and a first one at its cap", async () => {
  const shop = new Shop();
  shop.add(...Array.from({ length: 40 }, (_, index) => index + 1));
  await shop.poll(specs.newest, { pagesMax: 5 });
  expect([shop.asked.length, shop.state.isPrimed]).toEqual([5, true]);
  shop.now += minute;
  shop.add(41);
  expect((await shop.poll(specs.newest)).ids).toEqual([41]);
  expect(shop.asked.length).toBe(7);
});

test("changed rows are found by their kept fields alone", async () => {
  const shop = new Shop();
  shop.add(1, 2, 3, 4);
  const spec: WalkSpec = { ...base, keep: ["id", "state"], findsChanged: true };
  await shop.poll(spec);
  shop.now += minute;
  shop.orders = shop.orders.map((order) => ({ ...order, at: shop.now, ...(order.id === 2 && { state: "paid" }) }));
  expect((await shop.poll(spec)).ids).toEqual([2]);
  expect((await shop.poll(spec)).ids).toEqual([]);
});

test("a failed read moves nothing", async () => {
  const shop = new Shop();
  shop.add(1, 2, 3, 4, 5);
  await shop.poll();
  const before = shop.state;
  shop.add(6, 7);
  shop.faults.set(shop.asked.length + 2, { code: "provider_error", message: "the app answered 500" });
  expect((await shop.poll()).walked).toMatchObject({ kind: "failed", fault: { code: "provider_error" } });
  expect(shop.state).toBe(before);
  expect((await shop.poll()).ids).toEqual([6, 7]);
});

test("an id that whole walks miss for a week is forgotten, and one that comes back by then is known", async () => {
  const shop = new Shop();
  shop.add(1, 2, 3);
  await shop.poll();
  const [gone, ...kept] = shop.orders;
  shop.orders = kept;
  for (let days = 0; days < 5; days++) {
    shop.now += day;
    await shop.poll();
  }
  shop.orders = gone === undefined ? kept : [...kept, gone];
  expect((await shop.poll()).ids).toEqual([]);
  shop.orders = kept;
  for (let days = 0; days < 11; days++) {
    shop.now += day;
    await shop.poll();
  }
  expect(shop.known.size).toBe(2);
  // Time in which no poll ran does not count for forgetting ids.
  shop.orders = [];
  shop.now += 30 * day;
  await shop.poll();
  expect(shop.known.size).toBe(2);
});

test("rows are refused that have no id, a bound of another kind, or are no list; a full page that is the only one ends the poll", async () => {
  const shop = new Shop();
  shop.add(1, 2, 3);
  const codeOf = async (spec: WalkSpec) => {
    const { walked } = await shop.poll(spec);
    return walked.kind === "failed" && walked.fault.code;
  };
  expect(await codeOf({ ...base, id: ["uuid"] })).toBe("POLL_ID_MISSING");
  expect(await codeOf({ ...base, rows: ["next"] })).toBe("POLL_ROWS_INVALID");
  expect(await codeOf({ ...base, cursor: { ...after, from: ["state"] } })).toBe("POLL_BOUND_INVALID");
  expect(await codeOf({ ...base, paging: undefined, size: "size" })).toBe("PAGE_LIMIT");
  expect(await codeOf({ ...base, paging: undefined, size: "size", args: { size: 4 } })).toBe(false);
});

test("pages are as large as the tool lets them be where the call says nothing", async () => {
  const shop = new Shop();
  shop.add(1);
  await shop.poll({ ...base, args: {} });
  expect(shop.asked[0]).toEqual({ page: 1, size: 500 });
});
