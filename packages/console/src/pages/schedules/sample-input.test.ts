import { expect, test } from "vitest";
import { readObject } from "../../json/value.ts";
import { programAt } from "./sample-input.ts";

const fire = { localDate: "2026-12-01", at: "2026-12-01T08:00:00Z" };
const inputOf = (input: unknown) => {
  const text = JSON.stringify({ input, program: { version: 1 } });
  const program = programAt(text, readObject(text), fire);
  return program === undefined ? undefined : JSON.parse(program).input;
};

test("the input of the next run is filled in, if it needs no event", () => {
  expect(inputOf({ day: { $ref: "fire.localDate" }, words: { $text: "On {fire.localDate}" }, n: 1 })).toEqual({
    ...{ day: "2026-12-01", words: "On 2026-12-01", n: 1 },
  });
  expect(inputOf({ before: { $ref: "fire.previousAt", else: "" } })).toEqual({ before: "" });
  expect(inputOf({ of: { $ref: "event.id" } })).toBeUndefined();
  expect(inputOf({ of: [{ $text: "{row.id}" }] })).toBeUndefined();
});

test("a definition without an input runs its program as it is", () => {
  const text = '{ "program": { "params": { "least": 1.0 } } }';
  expect(programAt(text, readObject(text), {})).toBe('{ "params": { "least": 1.0 } }');
});
