import fc from "fast-check";
import { expect, test } from "vitest";
import { readMessages } from "./messages.ts";

const read = (body: unknown) => {
  return readMessages(typeof body === "string" ? body : JSON.stringify(body), (name) => name === "call_tool");
};
const call = (name: unknown) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } });

test.each([
  [call("call_tool"), "call_tool"],
  [call("__proto__"), "other"],
  [call(5), "other"],
  [{ method: "tools/call" }, "other"],
  [{ id: 1, method: "initialize" }, "initialize"],
  [{ method: "notifications/initialized" }, "notifications/initialized"],
  [{ id: 1, method: "anything/else" }, "other"],
  [{ id: 1, result: {} }, "other"],
  [[call("call_tool")], "batch"],
  [null, "other"],
  [7, "other"],
])("%j is told of as %s", (body, label) => {
  expect(read(body)).toMatchObject({ label });
});

test("a batch is one with several requests; its cancellations are left out", () => {
  const cancel = { method: "notifications/cancelled", params: { requestId: 1 } };
  expect(read([{ id: 1, method: "ping" }, cancel])).toEqual({
    json: [{ id: 1, method: "ping" }],
    label: "batch",
    isBatch: false,
  });
  expect(
    read([
      { id: 1, method: "ping" },
      { id: 2, method: "ping" },
    ]),
  ).toMatchObject({ isBatch: true });
});

test.each([
  ["two requests of one id", [call("a"), call("b")], -32_600],
  ["an empty batch", [], -32_600],
  ["half a text", '{"a":', -32_700],
  ["nothing", "", -32_700],
])("%s is refused", (_name, body, code) => {
  expect(read(body)).toEqual({ code, fault: expect.any(String) });
});

test("no text makes it throw", () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (body) => void read(body)));
});
