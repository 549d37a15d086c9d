import fc from "fast-check";
import { expect, test } from "vitest";
import { readMessages } from "./messages.ts";

const ping = (id?: unknown) => ({ jsonrpc: "2.0", ...(id !== undefined && { id }), method: "ping" });
const read = (body: unknown) => readMessages({ text: typeof body === "string" ? body : JSON.stringify(body) });

test("a message is a request, a notification or a response; what has no parameters has none given", () => {
  expect(read(ping(1))).toEqual({
    messages: [{ kind: "request", id: 1, method: "ping", params: {} }],
    isBatch: false,
  });
  expect(read(ping())).toMatchObject({ messages: [{ kind: "notification", method: "ping" }] });
  expect(read({ jsonrpc: "2.0", id: 1, result: {} })).toMatchObject({ messages: [{ kind: "response" }] });
  expect(read([ping("a"), ping()])).toMatchObject({ messages: [{ id: "a" }, { method: "ping" }], isBatch: true });
});

test("an id keeps its digits", () => {
  const body = '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}';
  expect(JSON.stringify(read(body))).toContain('"id":12345678901234567890');
});

test.each([
  ["two requests of one id", [ping(1), ping(1)], -32_600],
  ["an empty batch", [], -32_600],
  ["a batch with something else in it", [ping(1), 5], -32_600],
  ["101 messages", Array.from({ length: 101 }, (_, id) => ping(id)), -32_600],
  ["another JSON-RPC", { id: 1, method: "ping" }, -32_600],
  ["an id that is none", { ...ping(), id: {} }, -32_600],
  ["an id of null", { ...ping(), id: null }, -32_600],
  ["parameters in a list", { ...ping(1), params: [] }, -32_600],
  ["no method", { jsonrpc: "2.0", id: 1 }, -32_600],
  ["a number", 7, -32_600],
  ["half a text", '{"a":', -32_700],
  ["nothing", "", -32_700],
])("%s is refused", (_name, body, code) => {
  expect(read(body)).toMatchObject({ error: { code, message: expect.any(String) } });
  expect(read(body)).not.toHaveProperty("messages");
});

test("a refusal has the id of the request that it may have meant", () => {
  expect(read({ ...ping("a"), params: [] })).toMatchObject({ id: "a" });
  expect(read({ id: 7, method: "ping" })).toMatchObject({ id: 7 });
  for (const none of [{ ...ping(1), id: {} }, 7, "{", []])
    expect(read(none)).not.toHaveProperty("id", expect.anything());
  expect(readMessages({ fault: "is not text" })).toMatchObject({ error: { code: -32_700 } });
});

test("a message that repeats a name in an object is refused, because its reader would have to choose a value", () => {
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":2}}';
  expect(read(body)).toMatchObject({ error: { code: -32_700, message: expect.stringContaining("repeats a name") } });
  expect(read(body.replace(',"a":2', ""))).toHaveProperty("messages");
});

test("it throws for no text", () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (body) => void read(body)));
});
