import { expect, test } from "vitest";
import { glanceOf } from "./glance.ts";

const trigger = (properties: object) =>
  ({ triggers: new Map([["app.changed", { outputSchema: { type: "object", properties } }]]) }) as unknown as Parameters<
    typeof glanceOf
  >[0];
const glance = (payload: object | string, properties: object = {}) =>
  glanceOf(trigger(properties), {
    triggerSlug: "app.changed",
    payload: typeof payload === "string" ? payload : JSON.stringify(payload),
  });

test("the first four simple values are shown with their names, outer ones before inner ones", () => {
  expect(glance({ deal: { id: 4411, stage: "won" }, by: "ada", at: null, list: [1], open: false, rest: "no" })).toBe(
    "by ada, open false, rest no, id 4411",
  );
  expect(glance({})).toBe("");
  expect(glance('{"id":12345678901234567890123}')).toBe("id 12345678901234567890123");
  expect(glance({ note: "a\n b" })).toBe("note a b");
});

test("a long text is cut at 120 characters, and not within a character", () => {
  expect(glance({ note: "x".repeat(300) })).toHaveLength(120);
  expect(glance({ note: `${"x".repeat(113)}😀😀` }).isWellFormed()).toBe(true);
});

test("a sensitive value is masked, and a payload without a known schema is not shown", () => {
  const secret = { token: { type: "string", "x-sensitive": true } };
  expect(glance({ token: "abc", id: 1 }, secret)).toBe("token ***, id 1");
  expect(glance({ id: 1, note: "x".repeat(4_096) })).toBe("");
  expect(glanceOf({ triggers: new Map() }, { triggerSlug: "gone.changed", payload: '{"id":1}' })).toBe("");
});
