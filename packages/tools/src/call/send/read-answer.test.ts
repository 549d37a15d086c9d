import type { Action } from "@svc/catalog";
import { callFailure } from "@svc/core";
import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { expect, test } from "vitest";
import { atOnce, createRedactor } from "../redact/redact.ts";
import { deskAction } from "../test-toolkits.ts";
import { type ReadOptions, readAnswer as readAnswerInParts } from "./read-answer.ts";

const nowMs = Date.UTC(2026, 0, 5, 9, 0, 0);
const read = deskAction("read_ticket");
const withResponse = (response: object) => deskAction("read_ticket", { response });

const readAnswer = (...given: Parameters<typeof readAnswerInParts>) => atOnce(readAnswerInParts(...given));

function answered(
  action: Action,
  body: unknown,
  changes: Partial<ReadOptions> & { status?: number; retryAfter?: string } = {},
) {
  const { status = 200, retryAfter, ...options } = changes;
  return readAnswer(
    action,
    {
      status,
      headers: { ...(retryAfter !== undefined && { "retry-after": retryAfter }) },
      body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    },
    { isRepeatable: true, nowMs, redact: (text) => text, ...options },
  );
}

test("a good answer is trimmed to the output schema", () => {
  expect(answered(read, { id: "t1", state: "open", inner: 1 })).toMatchObject({
    outcome: "ok",
    value: { id: "t1", state: "open" },
    providerStatus: 200,
    warnings: [],
    message: "",
  });
});

test.each([200, 201, 206])("status %d is good", (status) => {
  expect(answered(read, { id: "t1" }, { status })).toMatchObject({ outcome: "ok", providerStatus: status });
});

test.each([
  [301, false],
  [304, false],
  [400, false],
  [404, false],
  [500, true],
  [501, false],
  [502, true],
  [503, true],
  [504, true],
])("status %d is a provider_error, retryable: %s, with the app's words", (status, retryable) => {
  expect(answered(read, "no\u0000such\nthing", { status, retryAfter: "3" })).toMatchObject({
    outcome: "provider_error",
    providerStatus: status,
    retryable,
    retryAfterMs: 3_000,
    message: `the app answered ${status}: no such thing`,
    value: undefined,
  });
  expect(answered(read, "", { status, isRepeatable: false }).retryable).toBe(false);
});

test("429 was not executed, and says when to come back", () => {
  const limited = answered(deskAction("add_note"), "slow down", { status: 429, retryAfter: "7", isRepeatable: false });
  expect(limited).toMatchObject({ outcome: "rate_limited", retryable: true, retryAfterMs: 7_000, providerStatus: 429 });
  expect(limited.message).toContain("It asks to wait 7 s.");
  expect(answered(read, "", { status: 429 }).retryAfterMs).toBeUndefined();
});

test("an error inside a good status is one: path present", () => {
  const graphql = withResponse({ error: { path: "errors[0]", message: "errors[0].message" } });
  expect(answered(graphql, { errors: [{ message: "not yours" }], data: null })).toMatchObject({
    outcome: "provider_error",
    providerStatus: 200,
    retryable: false,
    message: "the app answered an error: not yours",
  });
  expect(answered(graphql, { errors: [{ code: 1 }] }).message).toBe(
    'the app answered an error: {"errors":[{"code":1}]}',
  );
  const coded = withResponse({ error: { path: "errors[0]", message: "errors[0].message", code: "errors[0].code" } });
  for (const [code, shown] of [
    ["NOT_YOURS", " (NOT_YOURS)"],
    [17, " (17)"],
    ["two words", ""],
    [undefined, ""],
  ] as const)
    expect(answered(coded, { errors: [{ message: "not yours", code }] }).message).toBe(
      `the app answered an error${shown}: not yours`,
    );
  for (const errors of [[], null, [null], undefined]) expect(answered(graphql, { id: "a", errors }).outcome).toBe("ok");
});

const reporting = [...(await shippedCatalog()).toolkits.values()].flatMap(({ actions }) =>
  actions.filter(({ response }) => response.error !== undefined),
);

/** Returns a JSON value that has only `value`, at a path such as `errors[0].message`. */
function placed(path: string, value: string): unknown {
  const steps = path.match(/[^.[\]]+/g) ?? [];
  return steps.reduceRight<unknown>((inner, step) => (/^\d+$/.test(step) ? [inner] : { [step]: inner }), value);
}

test("the words of every shipped app that answers 200 with an error are the cause of the failure", () => {
  expect(reporting.length).toBeGreaterThan(20);
  for (const action of reporting) {
    const { message: path = "" } = action.response.error ?? {};
    const { outcome, message } = answered(action, placed(path, "planted words"));
    const call = { outcome, message, providerStatus: 200, entityId: "", stepId: "", jobId: null, createdAt: nowMs };
    const failure = callFailure({ ...call, id: "call_1", toolSlug: action.slug });
    expect(failure?.title, action.slug).toMatch(/refused the call: "planted words"$/);
  }
});

test("an error inside a good status is one: unless true", () => {
  const chat = withResponse({ unwrap: "result", error: { unless: "ok", message: "description" } });
  expect(answered(chat, { ok: true, result: { id: "a" } })).toMatchObject({ outcome: "ok", value: { id: "a" } });
  for (const ok of [false, "true", 1, null, undefined]) {
    expect(answered(chat, { ok, description: "nope" }).message).toBe("the app answered an error: nope");
  }
});

test("a payload is unwrapped, and a bare list or value is returned under its name", () => {
  expect(answered(withResponse({ unwrap: "data[0].it" }), { data: [{ it: { id: "a", more: 1 } }] }).value).toEqual({
    id: "a",
  });
  const listed = withResponse({ unwrap: "found", under: "lines", empty: { lines: [] } });
  expect(answered(listed, { found: ["x"] }).value).toEqual({ lines: ["x"] });
  expect(answered(listed, { found: { id: "a" } }).value).toEqual({ id: "a" });
  expect(answered(listed, "").value).toEqual({ lines: [] });
  expect(answered(listed, { found: null }).value).toEqual({ lines: null });
  expect(answered(listed, { other: 1 })).toMatchObject({
    value: {},
    warnings: [
      "output_mismatch: the answer has none of the fields that the result names; it has other",
      expect.anything(),
    ],
  });
});

test.each(["", " \n", "\ufeff"])("%j is what the definition declares as empty", (body) => {
  expect(answered(withResponse({ empty: { id: "done" } }), body, { status: 204 })).toMatchObject({
    outcome: "ok",
    value: { id: "done" },
    warnings: [],
  });
});

test.each(["{}", "null"])("%j says nothing, and nothing is made up for it", (body) => {
  expect(answered(withResponse({ empty: { id: "done" } }), body)).toMatchObject({ outcome: "ok", value: {} });
});

test.each(['{"errors":[{"message":"no"}]}', '{"error":"no"}', '{"unnamed":1,"a b":2}', '{"ok":false}'])(
  "%j has none of the named fields, which a warning says; it is not what the definition declares as empty",
  (body) => {
    for (const action of [
      deskAction("add_note", { response: { empty: { id: "done" } } }),
      deskAction("add_note"),
      read,
    ]) {
      const { outcome, value, warnings } = answered(action, body);
      expect([outcome, value]).toEqual(["ok", {}]);
      expect(warnings[0]).toMatch(/^output_mismatch: .* none of the fields that the result names; it has \w+(, \w+)*$/);
    }
  },
);

test("unnamed fields are no mismatch if the schema names none", () => {
  const open = deskAction("add_note", { output: { type: "object" } });
  expect(answered(open, { any: 1 })).toMatchObject({ value: { any: 1 }, warnings: [] });
});

test("without a declared empty result, nothing is {} with a warning", () => {
  expect(answered(read, "")).toMatchObject({
    outcome: "ok",
    value: {},
    warnings: [expect.stringMatching(/^output_mismatch: /)],
  });
});

test("an answer that misses its schema is ok with a warning that names the places, and null is allowed for any field", () => {
  const { outcome, value, warnings } = answered(read, { id: 5, state: null, lines: ["a", 1, null] });
  expect([outcome, value]).toEqual(["ok", { id: 5, state: null, lines: ["a", 1, null] }]);
  expect(warnings).toEqual([expect.stringMatching(/^output_mismatch: .*\/id must be/)]);
  expect(answered(read, { id: "a", state: null }).warnings).toEqual([]);
  expect(answered(read, ["a"])).toMatchObject({ outcome: "ok", value: ["a"], warnings: [expect.anything()] });
});

test("a byte order mark is no fault; long integers keep their digits", () => {
  expect(answered(read, `\ufeff{"id":"a"}`)).toMatchObject({ outcome: "ok", value: { id: "a" } });
  const action = deskAction("read_ticket", { output: { type: "object", properties: { id: { type: "integer" } } } });
  const { value, warnings } = answered(action, '{"id":12345678901234567890}');
  expect([JSON.stringify(value), warnings]).toEqual(['{"id":12345678901234567890}', []]);
});

test.each(["<html>busy</html>", "{", "1 2", "[".repeat(100_000) + "]".repeat(100_000)])(
  "%.20s is no JSON to read: provider_error",
  (body) => {
    const { outcome, message, providerStatus } = answered(read, body);
    expect([outcome, providerStatus]).toEqual(["provider_error", 200]);
    expect(message).toMatch(/^the app answered 200 with a body that cannot be read as JSON: /);
    expect(message.length).toBeLessThan(1_200);
  },
);

const bodies: [string, Buffer, Record<string, string>][] = [
  ["HTML", Buffer.from("<html>taken</html>"), { "content-type": "text/html" }],
  ["text", Buffer.from("OK"), {}],
  ["half of JSON", Buffer.from('{"id":'), {}],
  ["NaN", Buffer.from('{"id":NaN}'), {}],
  ["bytes that are not UTF-8", Buffer.from('{"id":"caf\xe9"}', "latin1"), { "content-type": "application/json" }],
  ["a charset that is not read", Buffer.from("{}"), { "content-type": "application/json; charset=klingon" }],
  ["too many values", Buffer.from(`{"lines":[${"1,".repeat(300_000)}1]}`), {}],
  ["deep nesting", Buffer.from(`${"[".repeat(10_000)}${"]".repeat(10_000)}`), {}],
];

test.each(bodies)(
  "a write that is answered 2xx with %s was taken: it never fails and is never sent again",
  (_what, body, headers) => {
    const options = { isRepeatable: true, nowMs, redact: (text: string) => text };
    const plain = readAnswer(deskAction("add_note"), { status: 201, headers, body }, options);
    expect(plain).toMatchObject({ outcome: "ok", providerStatus: 201, retryable: false, value: {} });
    expect(plain.warnings).toEqual([
      expect.stringMatching(/^output_mismatch: the app took the call and answered 201 with /),
    ]);
    // By its definition, the tool may report an error in a 2xx body. This body cannot be read, so it is unknown if it reports one.
    const tells = deskAction("add_note", { response: { error: { path: "errors[0]" } } });
    expect(readAnswer(tells, { status: 200, headers, body }, options)).toMatchObject({
      outcome: "outcome_unknown",
      providerStatus: 200,
      retryable: false,
      message: expect.stringContaining("Look in the app"),
    });
    expect(readAnswer(read, { status: 200, headers, body }, options)).toMatchObject({ outcome: "provider_error" });
  },
);

test("a body that cannot be decoded counts as unreadable", () => {
  const answer = {
    status: 200,
    headers: {},
    body: Buffer.from("x"),
    unreadable: "is not compressed as its Content-Encoding says",
  };
  const options = { isRepeatable: true, nowMs, redact: (text: string) => text };
  expect(readAnswer(deskAction("add_note"), answer, options)).toMatchObject({ outcome: "ok", retryable: false });
  expect(readAnswer(read, answer, options).message).toContain("is not compressed");
  expect(readAnswer(read, { ...answer, status: 500 }, options).message).toContain("is not compressed");
});

test("an answer is read in its declared charset, and other bytes are reported as such", () => {
  const options = { isRepeatable: true, nowMs, redact: (text: string) => text };
  const latin = { "content-type": "application/json; charset=iso-8859-1" };
  const body = Buffer.from('{"id":"caf\xe9"}', "latin1");
  expect(readAnswer(read, { status: 200, headers: latin, body }, options).value).toEqual({ id: "caf\u00e9" });
  expect(readAnswer(read, { status: 400, headers: latin, body }, options).message).toContain("caf\u00e9");
  const { message } = readAnswer(read, { status: 400, headers: {}, body }, options);
  expect(message).toBe(
    'the app answered 400: {"id":"caf\ufffd"} (not all of it is text: some bytes are shown as \ufffd)',
  );
});

test("an answer of 199,000 wrong items is judged by its beginning", () => {
  const startedAt = performance.now();
  const { outcome, warnings } = answered(read, { id: "a", lines: Array.from({ length: 199_000 }, () => 1) });
  expect([outcome, warnings.length]).toEqual(["ok", 1]);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

test.each([
  ["items", `{"lines":[${"{},".repeat(2_000_000)}{}]}`],
  ["wrong items", `{"lines":[${"1,".repeat(3_000_000)}1]}`],
  ["names", `{${Array.from({ length: 400_000 }, (_, at) => `"k${at}":1`).join(",")}}`],
  ["lists", `{"lines":[${"[[[]]],".repeat(100_000)}1]}`],
])("an answer of too many %s is refused before it is parsed", (_what, body) => {
  const result = answered(read, body);
  expect(result).toMatchObject({ outcome: "provider_error", providerStatus: 200, retryable: false });
  expect(result.message).toBe(
    "the app answered 200 with more than 200,000 values, which is too many to read; ask it for less",
  );
});

test("a failure with too many values is not shown if some may be sensitive", () => {
  const body = `{"pin":"planted-pin","all":[${"1,".repeat(300_000)}1]}`;
  expect(answered(deskAction("add_note"), body, { status: 400 }).message).toBe("the app answered 400");
  expect(answered(read, body, { status: 400 }).message).toMatch(/^the app answered 400: \{"pin"/);
});

test("secrets that an app quotes are taken out of every message", () => {
  const action = deskAction("add_note", { response: { error: { path: "error", message: "error" } } });
  const redact = createRedactor(["planted-key"]);
  const messages = [
    answered(action, "bad key planted-key", { status: 400, redact }),
    answered(action, { pin: "planted-pin", why: "planted-key" }, { status: 422, redact }),
    answered(action, { error: "planted-key is bad" }, { redact }),
    answered(action, { error: { pin: ["planted-pin"] } }, { redact }),
    answered(action, "planted-key", { redact }),
    answered(read, "planted-key", { redact }),
    answered(action, `${"x".repeat(995)}planted-key`, { status: 500, redact }),
  ].map(({ message }) => message);
  expect(messages.join("\n")).not.toContain("plant");
  expect(messages[1]).toBe('the app answered 422: {"pin":"***","why":"***"}');
});

test("a bare value where an object of one property was expected is that property, and nothing of JSON text is lost", () => {
  const output = { type: "object", properties: { id: { type: "string" } } };
  const action = deskAction("read_ticket", { output });
  for (const id of ["77", "12345678901234567890"]) {
    for (const body of [id, JSON.stringify(id)]) {
      const { value, warnings } = answered(action, body);
      expect([value, warnings]).toEqual([{ id }, [expect.stringContaining("a bare value; it is under id")]]);
    }
  }
  const text = '{"success":true,"undo_data":{"entity_id":12345678901234567890}}';
  expect(JSON.stringify(answered(action, JSON.stringify(text)).value)).toBe(text);
  expect(answered(action, JSON.stringify('{"id":"1","more":2}')).value).toEqual({ id: "1" });
  expect(answered(read, '"77"')).toMatchObject({ value: "77", warnings: [expect.stringContaining("output_mismatch")] });
});

test("an answer that the definition reads as text becomes {text}, also if it is JSON or empty", () => {
  const action = deskAction("read_ticket", {
    output: { type: "object", properties: { text: { type: "string" } } },
    response: { as: "text" },
  });
  for (const text of ["id,name\n1,Ada\n", '{"id": "t1"}', "", "  "]) {
    expect(answered(action, text)).toMatchObject({ outcome: "ok", value: { text }, warnings: [] });
  }
  expect(answered(action, "x".repeat(1_048_577))).toMatchObject({
    outcome: "provider_error",
    message: expect.stringContaining("a text of more than 1,048,576 characters"),
  });
});
