import { expect, test } from "vitest";
import { readDefinition } from "./read.ts";

test("what lacks a part is told the shape of a definition, with an example and where its schema is", async () => {
  const { faults } = await readDefinition('{"version": 1, "program": {}}', undefined);
  const [{ message, hint } = { message: "", hint: "" }] = faults.list();
  expect(message).toBe("lacks source");
  expect(hint).toMatch(/^add source: it has version, source and program/);
  expect(hint).toContain('such as {"version":1,"source":{"schedule":{"cron":["0 9 * * 1-5"]}},"program":{');
  expect(hint).toMatch(/; see \/schemas\/standing\.v1\.json for all fields$/);
});

const scheduleOf = async (at: string, isStored: boolean) => {
  const text = JSON.stringify({ version: 1, source: { schedule: { at: [at] } }, program: {} });
  const { definition, faults } = await readDefinition(text, undefined);
  if (!isStored) faults.takeYounger();
  const { source } = definition ?? {};
  const timing = source?.kind === "schedule" ? source.schedule.timing : undefined;
  return { times: timing?.kind === "at" ? timing.times : [], faults: faults.list().map(({ message }) => message) };
};

test.each([
  "2027-02-30T09:00:00Z",
  "2027-04-31T09:00:00+02:00",
  "2027-01-01T24:00:00Z",
  "2027-01-01T09:00Z",
  "2027-01-01T09:00:00+24:00",
  "2027-01-01T09:00:00",
  "2027-01-01 09:00:00Z",
  "2027-01-01",
  "2027",
  "task 12",
])("%s is no time of a schedule", async (at) => {
  const { faults } = await scheduleOf(at, false);
  expect(faults).toEqual([`is "${at}", which does not exist`]);
});

test("a schedule takes every time of RFC 3339, and what is stored keeps the time that it had", async () => {
  const nine = Date.UTC(2027, 0, 1, 9);
  for (const at of ["2027-01-01T09:00:00Z", "2027-01-01t09:00:00z", "2027-01-01T11:00:00.000+02:00"])
    expect(await scheduleOf(at, false)).toEqual({ times: [nine], faults: [] });
  const stored: [string, number][] = [
    ["2027-01-01T09:00Z", nine],
    ["2027-01-01T04:00-05:00", nine],
    ["2027-02-30T09:00:00Z", Date.UTC(2027, 2, 2, 9)],
    ["2027-01-01T24:00:00Z", Date.UTC(2027, 0, 2)],
  ];
  for (const [at, ms] of stored) expect(await scheduleOf(at, true)).toEqual({ times: [ms], faults: [] });
});
