import type { Action } from "@svc/catalog";
import { expect, test } from "vitest";
import { replyWith, replyWithError } from "./wrap.ts";

function actionOf(
  response: Partial<Action["response"]>,
  properties: Record<string, object> = { id: { type: "string" } },
) {
  return {
    outputSchema: { type: "object", properties },
    response: { unwrap: "", under: "", empty: undefined, error: undefined, ...response },
  } as unknown as Action;
}

test("a result stands where the definition unwraps it from", () => {
  expect(replyWith(actionOf({ unwrap: "data.issue" }), { id: "1" }).body).toEqual({ data: { issue: { id: "1" } } });
  expect(replyWith(actionOf({ unwrap: "items[1]" }), { id: "1" }).body).toEqual({ items: [null, { id: "1" }] });
  expect(replyWith(actionOf({ under: "updates", unwrap: "result" }), { updates: [1] }).body).toEqual({ result: [1] });
});

test("a result is no error by the definition's rule", () => {
  expect(replyWith(actionOf({ error: { unless: "ok" }, unwrap: "result" }), { id: "1" }).body).toEqual({
    ok: true,
    result: { id: "1" },
  });
  expect(replyWith(actionOf({ error: { path: "error" } }), { id: "1", error: "none" }).body).toEqual({ id: "1" });
  expect(replyWith(actionOf({ error: { path: "errors[0]" } }), { errors: [{}] }).body).toEqual({ errors: [] });
});

test("only a result that is wholly in the declared empty one has no body", () => {
  const empty = { deleted: true };
  expect(replyWith(actionOf({ empty }, { deleted: { type: "boolean" } }), empty)).toEqual({
    status: 204,
    body: undefined,
  });
  expect(replyWith(actionOf({ empty }), { id: "1" })).toEqual({ status: 200, body: { id: "1" } });
});

test("an error stands where the definition's rule looks, and its message where that is read", () => {
  const inside = replyWithError(actionOf({ error: { path: "errors[0]", message: "errors[0].message" } }), "no");
  expect(inside).toEqual({ status: 200, body: { errors: [{ message: "no" }] } });
  const unless = replyWithError(actionOf({ error: { unless: "ok", message: "description" } }), "no");
  expect(unless).toEqual({ status: 200, body: { ok: false, description: "no" } });
  const bare = replyWithError(actionOf({ error: { path: "fault" } }), "no");
  expect(bare).toEqual({ status: 200, body: { fault: { message: "no" } } });
  expect(replyWithError(actionOf({}), "no").status).toBe(422);
});
