import { expect, test } from "vitest";
import { readObject } from "../../json/value.ts";
import {
  hasHiddenInput,
  newDefinition,
  programOf,
  programOfSkill,
  slugOf,
  startedBy,
  withSource,
} from "./definition.ts";

const program = '{\n  "version": 1,\n  "params": { "min": 1000.0 },\n  "steps": []\n}\n';

test("a new schedule leaves the defaults to the service, and has its program as it was written", () => {
  const text = newDefinition("Europe/Vienna", program);
  expect(JSON.parse(text)).toEqual({
    ...{ version: 1, timeZone: "Europe/Vienna", source: { schedule: { cron: ["0 9 * * 1-5"] } } },
    program: JSON.parse(program),
  });
  expect(programOf(text)).toContain('"min": 1000.0');
});

test("another source takes the place of the one before, and times keep what they share", () => {
  const text = '{"source": {"schedule": {"cron": ["0 9 * * *"], "jitter": "2m"}}, "title": "T"}';
  const now = "2027-01-01T09:00:00Z";
  expect(JSON.parse(withSource(text, "every", now)).source).toEqual({ schedule: { every: "15m", jitter: "2m" } });
  expect(JSON.parse(withSource(text, "at", now)).source).toEqual({ schedule: { at: [now], jitter: "2m" } });
  for (const by of ["cron", "every", "at", "trigger", "poll"] as const) {
    const changed = withSource(text, by, now);
    expect([startedBy(readObject(changed)), JSON.parse(changed).title]).toEqual([by, "T"]);
  }
  expect(JSON.parse(withSource(withSource(text, "poll", now), "cron", now)).source).toEqual({
    schedule: { cron: ["0 9 * * 1-5"] },
  });
});

test("the program of a skill runs it with its input", () => {
  expect(JSON.parse(programOfSkill("skills.tell", '{"text": ""}')).steps).toEqual([
    { id: "run", run: "skills.tell", input: { text: "" } },
  ]);
});

test("hidden values are found in the inputs alone", () => {
  expect([
    hasHiddenInput('{"title": "***", "input": {"id": 1}}'),
    hasHiddenInput('{"input": {"token": "***"}}'),
  ]).toEqual([false, true]);
  expect([hasHiddenInput('{"program": {"input": {"token": "***"}}}'), hasHiddenInput("{")]).toEqual([true, false]);
});

test.each([
  ["Tell sales of open deals", "tell-sales-of-open-deals"],
  ["  9 o'clock: Köln! ", "o-clock-koln"],
  ["日本", ""],
  ["a".repeat(80), "a".repeat(63)],
])("the name for %j is %j", (title, slug) => expect(slugOf(title)).toBe(slug));
