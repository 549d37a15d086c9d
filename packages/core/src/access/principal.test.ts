import { expect, test } from "vitest";
import { createId } from "../ids/id.ts";
import { type CallContext, type ContextKey, type Principal, principalContext, requireProject } from "./principal.ts";

function contextOf(principal: Principal | undefined): CallContext {
  const values = new Map<symbol, unknown>([[principalContext.id, principal]]);
  return { values: { get: <Value>(key: ContextKey<Value>) => (values.get(key.id) ?? key.defaultValue) as Value } };
}

test("a project's key is what requireProject returns", () => {
  const principal: Principal = {
    kind: "project",
    projectId: createId("prj", 0),
    keyId: createId("key", 0),
    role: "member",
  };
  expect(requireProject(contextOf(principal))).toBe(principal);
});

test.each([undefined, { kind: "admin" } as const])("a call without a project is a fault of wiring: %j", (principal) => {
  expect(() => requireProject(contextOf(principal))).toThrow("call without a project");
});
