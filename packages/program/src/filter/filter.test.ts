import { parseExactJson } from "@svc/core";
import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { checkFilter } from "./check-filter.ts";
import { compileFilter, type FilteredEvent, filterPayloadBytes } from "./filter.ts";

const eventOf = (payload: string): FilteredEvent => ({
  ...{ id: "evt_01h455vb4pex5vsknk084sn02q", toolkitSlug: "events", triggerSlug: "events.invoice.paid" },
  ...{ type: "invoice.paid", entityId: "ada", occurredAt: "2026-01-05T09:00:00.000Z" },
  ...{ receivedAt: "2026-01-05T09:00:01.000Z", payload: parseExactJson(payload) as JsonObject },
});

const outcomeOf = (source: string, payload: string, isLarge = false) =>
  compileFilter(source).test(eventOf(payload), isLarge).outcome;

test.each([
  ["1000", "no_match"],
  ["1000.0", "no_match"],
  ["1e3", "no_match"],
  ["1000.01", "match"],
  ["12345678901234567890", "match"],
  ["1234567890123456789012345678901234567890", "match"],
  ["-12345678901234567890", "no_match"],
  ["999.999999999999", "no_match"],
  ['"5000"', "fault"],
  ["null", "fault"],
  ["[5000]", "fault"],
])("an amount of %s over 1000 is a %s", (amount, outcome) => {
  expect(outcomeOf("event.payload.amount > 1000", `{"amount":${amount}}`)).toBe(outcome);
});

test.each([
  ["event.payload.n == 9007199254740993", '{"n":9007199254740993}', "match"],
  ["event.payload.n > 9007199254740992", '{"n":9007199254740993}', "match"],
  ["event.payload.n == 9007199254740992", '{"n":9007199254740993}', "no_match"],
  ["event.payload.a.b[1].c == 'x'", '{"a":{"b":[1,{"c":"x"}]}}', "match"],
  ["event.payload.a == event.payload.b", '{"a":{"x":[1,{"y":2}]},"b":{"x":[1.0,{"y":2}]}}', "match"],
  ["size(event.payload.a) == 2 && event.payload.a.all(k, k in ['x', 'y'])", '{"a":{"x":1,"y":2}}', "match"],
  ["event.payload.tags.exists(t, t == 'vip')", '{"tags":["a","vip"]}', "match"],
  ["event.payload['amount due'] > 1", '{"amount due":2}', "match"],
  ["has(event.payload.amount) && event.payload.amount > 1", "{}", "no_match"],
  ["event.payload.amount > 1", "{}", "fault"],
  ["has(event.payload.toString)", "{}", "no_match"],
  ["timestamp(event.occurredAt) < timestamp(event.receivedAt)", "{}", "match"],
  ["event.type == 'invoice.paid' && event.entityId == 'ada'", "{}", "match"],
  ["event.payload.amount", '{"amount":1}', "fault"],
  ["event.payload.amount >", "{}", "fault"],
])("%s for %s is a %s", (source, payload, outcome) => {
  expect(outcomeOf(source, payload)).toBe(outcome);
});

test("a filter that a large payload makes expensive is not evaluated, and any other is", () => {
  const words = JSON.stringify({ text: "ab".repeat(2_000_000), amount: 5 });
  expect(outcomeOf("event.payload.text.matches('(a|b)*c')", words, true)).toBe("unevaluated");
  expect(outcomeOf("event.payload.amount > 1", words, true)).toBe("match");
  expect(outcomeOf("event.payload.amount > 5", words, true)).toBe("no_match");
});

test("a filter that is accepted takes little work for the worst payloads of 64 KiB", () => {
  const fill = (part: string) => part.repeat(Math.floor(filterPayloadBytes / part.length)).slice(0, -1);
  const payloads = [
    `{"list":[${fill("1,")}],"text":""}`,
    `{"list":[${fill('"a",')}],"text":""}`,
    `{"list":[${fill('{"n":1,"s":"a"},').split(",{").slice(0, 1_000).join(",{")}],"text":""}`,
    `{"list":[],"text":"${fill("a")}"}`,
  ];
  const filters = [
    "'z' in event.payload.list",
    "event.payload.list.exists(one, one.n > 5 && one.s == 'b')",
    "event.payload.text.contains('aaaaaaaab')",
    "event.payload.text.lowerAscii().endsWith('b')",
    "event.payload.list == [1, 2, 3]",
  ];
  for (const source of filters) {
    expect(checkFilter(source, []), source).toBeUndefined();
    const filter = compileFilter(source);
    for (const payload of payloads) {
      const event = eventOf(payload);
      const took = Array.from({ length: 10 }, () => {
        const startedAt = process.cpuUsage();
        filter.test(event, false);
        const { user, system } = process.cpuUsage(startedAt);
        return user + system;
      });
      // The shortest time counts, because other work on the machine lengthens the others.
      expect(Math.min(...took), `${source} for ${payload.slice(0, 30)}`).toBeLessThan(10_000);
    }
  }
});

test.each([
  ["event.payload.text.matches('a+')", "matches"],
  ["event.payload.list.filter(one, one.n > 1).size() > 2", "list"],
  ["event.payload.a.contains(event.payload.b)", "contains"],
])("%s could take too long, and says what to use", (source, word) => {
  expect(checkFilter(source, [])).toMatchObject({ isTooExpensive: true, hint: expect.stringContaining(word) });
});

test("a schema can show that a filter is cheap", () => {
  const mail = { type: "object", properties: { mail: { type: "string", maxLength: 254 } } };
  const matches = "event.payload.mail.matches('^[a-z]+@example[.]com$')";
  expect(checkFilter(matches, [mail])).toBeUndefined();
  expect(checkFilter(matches, [{ type: "object", properties: { mail: { type: "string" } } }])).toBeDefined();
  expect(checkFilter(matches, [mail, {}])).toBeDefined();
});

test("a filter may name a field that one of several types has", () => {
  const paid = { type: "object", properties: { amount: { type: "number" } } };
  const sent = { type: "object", properties: { to: { type: "string" } } };
  expect(checkFilter("event.type == 'sent' && event.payload.to == 'ada'", [paid, sent])).toBeUndefined();
  expect(checkFilter("event.payload.other == 1", [paid, sent])).toMatchObject({
    message: expect.stringContaining("event.payload has only amount, to"),
  });
});

test.each([
  ["amount > 1000", "Write event.payload.amount > 1000."],
  ["event.amount > 1000", "Write event.payload.amount > 1000."],
  ["payload.amount > 1000", "Write event.payload.amount > 1000."],
  ["data.amount > 1000 AND type = 'a'", "Write event.payload.amount > 1000 && event.type == 'a'."],
  ["items.exists(i, i.price > amount)", "Write event.payload.items.exists(i, i.price > event.payload.amount)."],
  ["status == 'amount'", "Write event.payload.status == 'amount'."],
])("%s is refused with the right form", (source, hint) => {
  expect(checkFilter(source, [])).toMatchObject({ hint, isTooExpensive: false });
});

const order = {
  type: "object",
  properties: {
    ...{ amount: { type: "number" }, status: { type: "string" } },
    customer: { type: "object", properties: { name: { type: "string" } } },
  },
};

test.each([
  ["event.payload.amount > 1,000", "has 1,000 at character 24", "event.payload.amount > 1000"],
  ["event.payload.amount > 1,000,000.50", "has 1,000,000.50 at character 24", "event.payload.amount > 1000000.50"],
  ["event.payload.amount > 1.000,50", "has 1.000,50 at character 24", "event.payload.amount > 1000.50"],
  ["event.payload.amount > 1 000", "has 1 000 at character 24", "event.payload.amount > 1000"],
  ["event.payload.amount > 1_000", "has 1_000 at character 24", "event.payload.amount > 1000"],
  ["event.payload.amount > €1000", "has € at character 24", "event.payload.amount > 1000"],
  ["event.payload.amount > 1000 EUR", "has 1000 EUR at character 24", "event.payload.amount > 1000"],
  ["event.payload.status = 'a, b'", "has = at character 22: equal is written ==", "event.payload.status == 'a, b'"],
  ["event.payload.status === 'a'", "has === at character 22", "event.payload.status == 'a'"],
  ["event.payload.amount => 5", "has => at character 22", "event.payload.amount >= 5"],
  [
    "event.payload.amount > 1 AND event.payload.amount < 5",
    "has AND at character 26: and is written &&",
    "event.payload.amount > 1 && event.payload.amount < 5",
  ],
  [
    "event.payload.amount > 1 & event.payload.amount < 5",
    "has & at character 26",
    "event.payload.amount > 1 && event.payload.amount < 5",
  ],
  [
    "event.payload.amount between 1 and 5",
    "has between at character 22",
    "event.payload.amount >= 1 && event.payload.amount <= 5",
  ],
  ["event.payload.status == paid", 'names "paid" at character 25', 'event.payload.status == "paid"'],
  [
    "event.payload.status == new york",
    "has new york at character 25: a text is in quotes",
    'event.payload.status == "new york"',
  ],
  ["event.type == order.created", 'names "order" at character 15', 'event.type == "order.created"'],
  ["event.payload.status == “paid”", "has “ at character 25", 'event.payload.status == "paid"'],
  [
    "event.payload.amont > 1",
    "event.payload.amont at character 1; event.payload has only amount, status, customer",
    "event.payload.amount > 1",
  ],
  ["event.payload.customer.nam == 'a'", "event.payload.customer has only name", "event.payload.customer.name == 'a'"],
  [
    "amont > 1,000 and status = paid",
    "has 1,000 at character 9",
    'event.payload.amount > 1000 && event.payload.status == "paid"',
  ],
])("%s is refused: what is wrong, where, and what is right", (source, message, right) => {
  expect(checkFilter(source, [order])).toEqual({
    message: expect.stringContaining(message),
    hint: `Write ${right}.`,
    isTooExpensive: false,
  });
  expect(checkFilter(right, [order])).toBeUndefined();
});

test.each([
  ["(event.payload.amount > 1", "has ( at character 1, which nothing closes"],
  ["event.payload.amount > 1)", "has ) at character 25, which nothing opens"],
  ["event.payload.status == 'paid", "has the quote ' at character 25, which is not closed"],
  ["event.payload.amount > ", "ends after >, where a value is missing"],
  ["event.payload.amount > 1 ? 2", "is not CEL at character "],
])("%s is refused with the place of the mistake", (source, message) => {
  expect(checkFilter(source, [order])?.message).toContain(message);
});

test("commas between the items of a list or the arguments of a call are no separators", () => {
  expect(checkFilter("event.payload.amount in [1,000]", [order])).toBeUndefined();
  expect(checkFilter("event.payload.amount = 1 && event.payload.amount in [1,000]", [order])?.hint).toContain(
    "[1,000]",
  );
});
