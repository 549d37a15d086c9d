import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createId, Fault, type ProjectPrincipal } from "@svc/core";
import { CallToolRequestSchema } from "@svc/gen/tools";
import { expect, test } from "vitest";
import { readCallRequest } from "./call-request.ts";

const principal: ProjectPrincipal = {
  kind: "project",
  projectId: createId("prj", 1),
  keyId: createId("key", 1),
  role: "member",
};
const read = (changes: MessageInitShape<typeof CallToolRequestSchema>) =>
  readCallRequest(
    create(CallToolRequestSchema, { toolSlug: "desk.read_ticket", ...changes } as typeof changes),
    principal,
  );

function refusalOf(changes: MessageInitShape<typeof CallToolRequestSchema>) {
  try {
    read(changes);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return [error.details[0]?.reason, error.message] as const;
  }
  return [undefined, ""] as const;
}

test.each(["x", "ä", "🍎"])("entities and idempotency keys have up to 200 characters such as %s", (character) => {
  const [fits, tooLong] = [character.repeat(200), character.repeat(201)];
  expect(read({ entityId: fits, idempotencyKey: fits })).toMatchObject({ entityId: fits, idempotencyKey: fits });
  expect(refusalOf({ entityId: tooLong })[0]).toBe("ENTITY_ID_INVALID");
  expect(refusalOf({ idempotencyKey: tooLong })[0]).toBe("IDEMPOTENCY_KEY_INVALID");
});

test("a request is read with its defaults", () => {
  expect(read({})).toEqual({
    caller: { projectId: principal.projectId, keyId: principal.keyId, role: principal.role },
    toolSlug: "desk.read_ticket",
    args: {},
    entityId: "",
    accountId: undefined,
    idempotencyKey: undefined,
    isDryRun: false,
    shape: { fields: [], bytesMax: 0 },
  });
  const accountId = createId("acc", 1);
  expect(
    read({
      argumentsJson: '{"a":[1]}',
      connectedAccountId: accountId,
      idempotencyKey: "k",
      dryRun: true,
      fields: ["a.b"],
      maxBytes: 256,
    }),
  ).toMatchObject({
    args: { a: [1] },
    accountId,
    idempotencyKey: "k",
    isDryRun: true,
    shape: { fields: ["a.b"], bytesMax: 256 },
  });
});

test.each([
  "[]",
  "null",
  "5",
  '"x"',
  "{",
  '{"a":}',
  '{"a":{"b":1,"b":2}}',
  " ",
  `${'{"a":'.repeat(600)}1${"}".repeat(600)}`,
  "9007199254740993",
])("arguments %.30j are refused", (argumentsJson) => {
  expect(refusalOf({ argumentsJson })[0]).toBe("ARGUMENTS_MALFORMED");
});

test("long integers keep their digits", () => {
  const argumentsJson = '{"id":9007199254740993,"more":[1,-12345678901234567890]}';
  expect(JSON.stringify(read({ argumentsJson }).args)).toBe(argumentsJson);
  expect(read({ argumentsJson: '{"id":"9007199254740993"}' }).args).toEqual({ id: "9007199254740993" });
});

test("a refusal of arguments does not quote them: they may hold secrets", () => {
  for (const argumentsJson of ['{"key":"planted"', '{"key":planted}', '"planted"', '["planted"]', '{"a":1} planted']) {
    const [reason, message] = refusalOf({ argumentsJson });
    expect(reason).toBe("ARGUMENTS_MALFORMED");
    expect(message).not.toContain("planted");
  }
});

test.each([
  [{ entityId: "x".repeat(201) }, "ENTITY_ID_INVALID"],
  [{ entityId: "a\nb" }, "ENTITY_ID_INVALID"],
  [{ idempotencyKey: "x".repeat(201) }, "IDEMPOTENCY_KEY_INVALID"],
  [{ idempotencyKey: "a\u0000" }, "IDEMPOTENCY_KEY_INVALID"],
  [{ connectedAccountId: "acc_1" }, "ID_MALFORMED"],
  [{ maxBytes: 255 }, "CALL_OPTION_INVALID"],
  [{ maxBytes: -1 }, "CALL_OPTION_INVALID"],
  [{ fields: [""] }, "CALL_OPTION_INVALID"],
  [{ fields: ["a..b"] }, "CALL_OPTION_INVALID"],
  [{ fields: ["a b"] }, "CALL_OPTION_INVALID"],
  [{ fields: ["x".repeat(201)] }, "CALL_OPTION_INVALID"],
  [{ fields: Array.from({ length: 101 }, () => "a") }, "CALL_OPTION_INVALID"],
])("%.60j is refused", (changes, reason) => {
  expect(refusalOf(changes)[0]).toBe(reason);
});

test.each([
  { entityId: "x".repeat(200) },
  { entityId: "user:42 é" },
  { idempotencyKey: "x".repeat(200) },
  { fields: Array.from({ length: 100 }, () => "a.b-c.$d") },
])("%.60j is taken", (changes) => {
  expect(refusalOf(changes)[0]).toBeUndefined();
});
