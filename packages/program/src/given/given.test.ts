import { expect, test } from "vitest";
import { createFaultList } from "../faults.ts";
import { checkGivenExpression, readGiven } from "./given.ts";

const text = { type: "string" };
const payload = { type: "object", required: ["id"], properties: { id: text, note: text, by: { type: "object" } } };
const event = { type: "object", required: ["payload"], properties: { payload } };
const given = { type: "object", required: ["event"], properties: { event } };

function faultsOf(value: object, isNew = true) {
  const faults = createFaultList(value);
  if (isNew) faults.takeYounger();
  readGiven({ value: value as never, path: [] }, given, faults, true);
  return faults.list().map(({ message, hint }) => `${message}: ${hint}`);
}

test("what may be absent is refused without an else, with the form that has one; what was read before is not asked", () => {
  const absent = "event.payload.note: may be absent, and then no run starts: add an else: ";
  expect(faultsOf({ $ref: "event.payload.note" })).toEqual([`${absent}{"$ref": "event.payload.note", "else": …}`]);
  expect(faultsOf({ a: { $text: "{event.payload.note}" } })).toEqual([
    `${absent}{"$text": "… {event.payload.note} …", "else": "…"}`,
  ]);
  expect(faultsOf({ $text: "By {event.payload.by}", else: "" })).toEqual([
    expect.stringContaining("event.payload.by: is object, which cannot be part of a text"),
  ]);
  expect(faultsOf({ $ref: "event.payload.note" }, false)).toEqual([]);
  expect(faultsOf({ a: { $ref: "event.payload.note", else: "" }, b: { $ref: "event.payload.id" } })).toEqual([]);
  expect(faultsOf({ $ref: "event.payload.by", else: {} })).toEqual([]);
});

test("a condition asks for what may be absent", () => {
  const check = (source: string) => {
    const faults = createFaultList({});
    faults.takeYounger();
    checkGivenExpression({ source, pointer: "" }, new Map([["event", event]]), faults);
    return faults.list().map(({ message, hint }) => `${message}: ${hint}`);
  };
  expect(check("event.payload.note == 'x'")).toEqual([
    "event.payload.note may be absent, and then no run starts: check has(event.payload.note) first: has(event.payload.note) && …",
  ]);
  expect(check("has(event.payload.note) && event.payload.note == 'x' || event.payload.id == 'y'")).toEqual([]);
  expect(check("event.payload.none == 'x'")).toHaveLength(1);
});
