import fc from "fast-check";
import { expect, test } from "vitest";
import { asWeek, daysOf, type RunDays, readCron, type TimeSentence, writeCron } from "./sentence.ts";

const days: fc.Arbitrary<RunDays> = fc.oneof(
  fc.constantFrom<RunDays>({ every: "day" }, { every: "weekday" }, { every: "weekend" }),
  fc.uniqueArray(fc.nat(6), { minLength: 1 }).map((chosen) => daysOf(chosen.sort())),
  fc.nat(31).map((day): RunDays => ({ every: "month", day })),
);
const two = (number: number) => String(number).padStart(2, "0");
const time = fc.tuple(fc.nat(23), fc.nat(59)).map(([hour, minute]) => `${two(hour)}:${two(minute)}`);
const sentences: fc.Arbitrary<TimeSentence> = fc.record({
  on: days,
  times: fc.uniqueArray(time, { minLength: 1, maxLength: 6 }).map((times) => times.sort()),
});

test("every sentence is read back from its cron expressions as it was", () => {
  fc.assert(
    fc.property(sentences, (sentence) => {
      expect(readCron(writeCron(sentence))).toEqual(sentence);
    }),
    { numRuns: 1_000 },
  );
});

test("days of the week that have a name are the same days as chosen ones", () => {
  fc.assert(
    fc.property(days, (on) => {
      const chosen = asWeek(on);
      expect(chosen.every).toBe(on.every === "month" ? "month" : "week");
      expect(chosen.every === "week" ? daysOf(chosen.days) : chosen).toEqual(on);
    }),
  );
});

/** Expands a field of numbers, ranges, steps, names and `*` to its numbers, by another way than the grammar. */
function expand(field: string, min: number, max: number): Set<number> {
  const names = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
  const numbers = new Set<number>();
  for (const part of field.split(",")) {
    const [span = "", step = "1"] = part.split("/");
    const [first = "", last = first] = span
      .split("-")
      .map((one) => String(names.includes(one) ? names.indexOf(one) : one));
    const [from, to] = span === "*" || span === "?" ? [min, max] : [Number(first), Number(last)];
    for (let number = from; number <= to; number += Number(step)) numbers.add(max === 7 ? number % 7 : number);
  }
  return numbers;
}

/** Returns every minute of a leap month at which expressions are due, as text. Days of the month count if the weekday is not limited. */
function dueMinutes(expressions: readonly string[]): string[] {
  const due = new Set<string>();
  for (const expression of expressions) {
    const [minute = "", hour = "", day = "", , weekday = ""] = expression.split(" ");
    for (let date = 1; date <= 31; date += 1) {
      const isDay = day === "L" ? date === 31 : expand(day, 1, 31).has(date);
      if (!isDay || !expand(weekday, 0, 7).has(date % 7)) continue;
      for (const h of expand(hour, 0, 23)) for (const m of expand(minute, 0, 59)) due.add(`${date} ${h}:${m}`);
    }
  }
  return [...due].sort();
}

const field = (min: number, max: number) =>
  fc
    .array(fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })), { minLength: 1, maxLength: 2 })
    .map((spans) => spans.map(([a, b]) => (a < b && b - a < 4 ? `${a}-${b}` : String(a))).join(","));
const expressions = fc
  .tuple(
    fc.oneof(field(0, 59), fc.constantFrom("*/15", "*")),
    fc.oneof(field(0, 23), fc.constantFrom("9-17/2")),
    fc.oneof(fc.constantFrom("*", "?", "L", "1,15", "15W"), field(1, 31)),
    fc.constantFrom("*", "*", "*", "1", "JAN"),
    fc.oneof(fc.constantFrom("*", "?", "MON-FRI", "1-5", "SAT,SUN", "7", "0,6", "5L", "2#1", "FRI-MON"), field(0, 7)),
  )
  .map((parts) => parts.join(" "));

test("a cron expression that is read as a sentence is due at the same minutes as the expressions of the sentence", () => {
  let read = 0;
  fc.assert(
    fc.property(expressions, (expression) => {
      const sentence = readCron([expression]);
      if (sentence === undefined) return;
      read += 1;
      expect(dueMinutes(writeCron(sentence))).toEqual(dueMinutes([expression]));
    }),
    { numRuns: 2_000 },
  );
  expect(read).toBeGreaterThan(50);
});

test.each([
  ...[
    "*/15 * * * *",
    "0 * * * *",
    "0 9 1 * 1",
    "0 9 * 1 *",
    "0 9 * * 5L",
    "0 9 15W * *",
    "0 0-23 * * *",
    "@daily",
    "0 9 * *",
    "",
  ],
  ...["61 9 * * *", "0 9 * * 1 2027", "0 9 * * FRI-MON", "0 9 1,15 * *"],
])("%s has no sentence, and stays as it is", (expression) => {
  expect(readCron([expression])).toBeUndefined();
});

test("several expressions are one sentence if their days are the same", () => {
  expect(readCron(["0 9 * * MON-FRI", "30 17 * * 1-5"])).toEqual({
    on: { every: "weekday" },
    times: ["09:00", "17:30"],
  });
  expect(readCron(["0 9 * * 1-5", "0 9 * * 6"])).toBeUndefined();
  expect(readCron([])).toBeUndefined();
});
