import { expect, test } from "vitest";
import { keepArguments } from "./kept-arguments.ts";

const call = (args: unknown) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "x", arguments: args },
});
const ticketsOf = (json: unknown) => (json as { params: { arguments: Record<string, unknown> } }).params.arguments;

test("arguments leave a ticket, whatever they hold", () => {
  for (const args of [{}, { kept: 0 }, { kept: 7, a: { kept: 1 } }]) {
    const kept = keepArguments(call(args));
    expect(kept.of(ticketsOf(kept.json))).toBe(args);
  }
});

test("each call of a batch has its own", () => {
  const all = [{ a: 1 }, { b: 2 }, { kept: 0 }];
  const kept = keepArguments(all.map(call));
  expect((kept.json as object[]).map((message) => kept.of(ticketsOf(message)))).toEqual(all);
});

test.each([null, 5, [call({})], "text", { params: 1 }, { method: "ping" }, call([1]), call("x")])(
  "what has no arguments stays as it is: %j",
  (json) => {
    const kept = keepArguments(json);
    if (!Array.isArray(json)) expect(kept.json).toEqual(json);
    expect(kept.of({})).toEqual({});
  },
);
