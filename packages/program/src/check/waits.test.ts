import { testContext } from "@svc/testing/programs";
import { expect, test } from "vitest";
import { checkProgram } from "./program.ts";

const context = await testContext();

async function faultsOf(steps: readonly object[], deadline: string | undefined, isStored = false): Promise<string[]> {
  const program = { version: 1, title: "Waits", ...(deadline && { limits: { deadline } }), steps };
  const checked = await checkProgram(JSON.stringify(program), { ...context, isStored });
  return "faults" in checked ? checked.faults.map(({ pointer, message }) => `${pointer} ${message}`) : [];
}

const wait = (id: string, duration: string, rest: object = {}) => ({ id, wait: duration, ...rest });
const until = (id: string, $cel: string) => ({ id, wait: { until: { $cel } } });
const together = (waits: string) => [
  `/limits/deadline limits.deadline is 1d, but the waits of one path through the steps take ${waits} together`,
];

test.each<[string, object[], string[]]>([
  ["one after the other", [wait("a", "20h"), wait("b", "20h")], together("40h")],
  ["as long as the deadline", [wait("a", "20h"), wait("b", "4h")], []],
  [
    "in the longer branch of an if, and after it",
    // biome-ignore lint/suspicious/noThenProperty: programs have the field.
    [{ id: "i", if: "1 == 1", then: [wait("a", "20h")], else: [wait("b", "1h")] }, wait("c", "10h")],
    together("30h"),
  ],
  ["beside each other", [{ id: "p", parallel: { one: [wait("a", "20h")], two: [wait("b", "20h")] } }], []],
  [
    "in a branch, and after it",
    [{ id: "p", parallel: { one: [wait("a", "20h")], two: [wait("b", "1h")] } }, wait("c", "20h")],
    together("40h"),
  ],
  [
    "on conditions that may exclude each other",
    [wait("a", "20h", { when: "1 == 1" }), wait("b", "20h", { when: "1 == 2" })],
    [],
  ],
  ["on a condition, and without one", [wait("a", "20h", { when: "1 == 1" }), wait("b", "20h")], together("40h")],
  [
    "in what is done again, which is done once at least",
    [{ id: "u", until: "1 == 1", do: [wait("a", "15h"), wait("b", "15h")], max: 2 }],
    together("30h"),
  ],
  ["until a time after now", [wait("a", "20h"), until("b", "now + duration('20h')")], together("40h")],
  [
    "until a time after now that is too far alone",
    [until("a", "duration('30h') + now"), wait("b", "20h")],
    ["/steps/0/wait/until is longer than the deadline of the job, 1d"],
  ],
  ["until a time that depends on the hour", [until("a", "now + duration(string(now.getHours()) + 'h')")], []],
  [
    "one that is too long alone is told alone",
    [wait("a", "30h"), wait("b", "20h")],
    ["/steps/0/wait is longer than the deadline of the job, 1d"],
  ],
])("waits %s are held to the deadline together", async (_name, steps, faults) => {
  expect(await faultsOf(steps, "24h")).toEqual(faults);
});

test("stored programs wait as they were written, and a deadline that is not said is refused all the same", async () => {
  const steps = [wait("a", "20h"), wait("b", "20h")];
  expect(await faultsOf(steps, "24h", true)).toEqual([]);
  expect(await faultsOf([until("a", "now + duration('30h')")], "24h", true)).toEqual([]);
  const [fault] = await faultsOf(steps, undefined);
  expect(fault).toMatch(/ limits.deadline is 1d, but the waits of one path/);
});

test("a constant that is no time is refused where a time is waited for, of what is new", async () => {
  const program = (until: object, params: object) => {
    return { version: 1, title: "Waits", params, steps: [{ id: "a", wait: { until } }] };
  };
  const check = async (until: object, params: object, isStored = false) => {
    const checked = await checkProgram(JSON.stringify(program(until, params)), { ...context, isStored });
    return "faults" in checked ? checked.faults.map(({ pointer, message }) => `${pointer} ${message}`) : [];
  };
  const wrong = ["/steps/0/wait/until is a constant, but not a time"];
  for (const at of ["2027-02-30T09:00:00Z", "2027-01-01T24:00:00Z", "2027-01-01T09:00Z", "task 12", "2026"])
    expect(await check({ $ref: "params.at" }, { at }), at).toEqual(wrong);
  expect(await check({ $ref: "params.at" }, { at: "2027-01-01t09:00:00.5z" })).toEqual([]);
  expect(await check({ $ref: "params.at" }, { at: "tomorrow" })).toEqual(wrong);
  expect(await check({ $text: "{params.day} 09:00" }, { day: "2026-12-01" })).toEqual(wrong);
  expect(await check({ $cel: "'2026-12-01'" }, {})).toEqual(wrong);
  expect(await check({ $ref: "params.at" }, { at: "tomorrow" }, true)).toEqual([]);
  expect(await check({ $text: "{params.day}T09:00:00Z" }, { day: "2026-12-01" })).toEqual([]);
  expect(await check({ $cel: "timestamp('2026-12-01T09:00:00Z')" }, {})).toEqual([]);
});
