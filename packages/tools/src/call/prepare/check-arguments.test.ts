import { expect, test } from "vitest";
import { deskAction } from "../test-toolkits.ts";
import { checkArguments, describeFaults } from "./check-arguments.ts";

const input = {
  type: "object",
  additionalProperties: false,
  required: ["id", "auth"],
  properties: {
    id: { type: "string", description: "Id of it." },
    count: { type: "integer", minimum: 1, default: 5, description: "How many." },
    auth: {
      type: "object",
      description: "How to come in.",
      required: ["user"],
      properties: {
        user: { type: "string", description: "Name of the user." },
        key: { type: "string", minLength: 20, "x-sensitive": true, description: "Key of the user." },
      },
    },
    to: {
      type: "array",
      description: "Who gets it.",
      items: { type: "object", properties: { "e/mail": { type: "string", format: "email", description: "Address." } } },
    },
  },
};
const request = {
  method: "POST",
  path: "/x/{{params.id}}",
  body: { a: "{{params.auth}}", c: "{{params.count}}", t: "{{params.to}}" },
};
const action = deskAction("add_note", { input, request });
const faultsOf = (given: Record<string, unknown>) => {
  const checked = checkArguments(action, given);
  return "faults" in checked ? checked.faults : [];
};

test("every fault is named at once, with its place, what is allowed and what was given", () => {
  const faults = faultsOf({ count: 0, auth: {}, to: [{ "e/mail": "me" }], id: 5 });
  expect(faults).toHaveLength(4);
  expect(faults).toContainEqual({ pointer: "/count", message: "must be >= 1", givenJson: "0" });
  expect(faults).toContainEqual({ pointer: "/id", message: "must be string", givenJson: "5" });
  const missing = { pointer: "/auth", message: expect.stringContaining("user"), givenJson: "{}", missing: "user" };
  expect(faults).toContainEqual(missing);
  expect(faults).toContainEqual({
    pointer: "/to/0/e~1mail",
    message: expect.stringContaining("email"),
    givenJson: '"me"',
  });
  expect(describeFaults(faults)).toMatch(/^4 problems in the arguments: .*\/count must be >= 1, and is 0/);
});

test("values under unknown names are in no fault", () => {
  const marker = "planted-marker";
  for (const given of [
    { id: "1", auth: { user: "u" }, api_key: marker },
    { id: "1", auth: { user: "u", password: { deep: marker } }, count: "x" },
    { id: 5, auth: { user: 6, pasword: marker }, other: [marker] },
    { id: "1", auth: { user: "u" }, to: [{ "e/mail": "me", secret: marker }] },
  ]) {
    const faults = faultsOf(given);
    expect(faults.length).toBeGreaterThan(0);
    expect(JSON.stringify(faults)).not.toContain(marker);
    expect(describeFaults(faults)).not.toContain(marker);
  }
});

test("sensitive values are never in faults, whatever form they come in", () => {
  const marker = "planted-marker";
  for (const auth of [
    { key: marker },
    { user: 1, key: marker },
    marker,
    [{ key: marker }],
    { user: "u", key: [marker] },
  ]) {
    const faults = faultsOf({ id: "a", auth });
    expect(faults.length).toBeGreaterThan(0);
    expect(JSON.stringify(faults) + describeFaults(faults)).not.toContain("planted");
  }
  expect(faultsOf({ id: "a", auth: { user: "u", key: marker } })).toMatchObject([
    { pointer: "/auth/key", givenJson: "" },
  ]);
  expect(faultsOf({ id: "a", auth: marker })).toMatchObject([{ pointer: "/auth", givenJson: "" }]);
});

test("long values are cut to 200 characters, and many faults to a sentence one can read", () => {
  expect(faultsOf({ id: "a", auth: { user: "u" }, count: "x".repeat(500) })[0]?.givenJson).toHaveLength(200);
  const faults = faultsOf({ id: "a", auth: { user: "u" }, to: Array.from({ length: 100 }, () => 1) });
  expect(faults).toHaveLength(100);
  expect(describeFaults(faults)).toMatch(/^100 problems .*; and 80 more$/);
});

test("valid arguments get their defaults, and confirm is removed from a destructive tool's only", () => {
  expect(checkArguments(action, { id: "a", auth: { user: "u" } })).toEqual({
    params: { id: "a", auth: { user: "u" }, count: 5 },
    isConfirmed: true,
  });
  const destructive = deskAction("delete_ticket");
  expect(checkArguments(destructive, { id: "a" })).toEqual({ params: { id: "a" }, isConfirmed: false });
  expect(checkArguments(destructive, { id: "a", confirm: false })).toMatchObject({ isConfirmed: false });
  expect(checkArguments(destructive, { id: "a", confirm: true })).toEqual({ params: { id: "a" }, isConfirmed: true });
  expect(checkArguments(destructive, { id: "a", confirm: "true" })).toHaveProperty("faults");
  expect(faultsOf({ id: "a", auth: { user: "u" }, confirm: true })).toMatchObject([{ pointer: "" }]);
});

test("a misspelled name is reported with the probable one, even if that has a default, and with its short value", () => {
  expect(faultsOf({ id: "a", auth: { user: "u" }, cuont: 3 })).toEqual([
    {
      pointer: "",
      message: 'must not have the property "cuont"; did you mean "count"?',
      givenJson: JSON.stringify({ id: "a", auth: { user: "u" }, cuont: 3 }),
    },
  ]);
  const givenJson = faultsOf({ id: "a", auth: { user: "u" }, outh: "secret-of-me", zzz: 3 })[0]?.givenJson ?? "";
  expect(givenJson).not.toContain("secret-of-me");
  expect(JSON.parse(givenJson)).toMatchObject({ zzz: "***" });
});
