import fc from "fast-check";
import { expect, test } from "vitest";
import { type NextOccurrence, nextOfCron, occurrencesOf, type Schedule } from "./schedule.ts";

// Times of cron expressions beside a computation of their own: by the offsets of the zone and the wall clock alone. Three years
// for those that name their times; for the others, which follow real time, the days around every change of the clocks.

const zones = ["America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca"] as const;
const from = Date.UTC(2025, 0, 1);
const to = Date.UTC(2028, 0, 1);
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const fixed = [
  ["30 2 * * *", [[2, 30]], undefined],
  ["0 0 * * *", [[0, 0]], undefined],
  [
    "30 1,14 * * *",
    [
      [1, 30],
      [14, 30],
    ],
    undefined,
  ],
  [
    "15 2-3 * * *",
    [
      [2, 15],
      [3, 15],
    ],
    undefined,
  ],
  ["0 3 * * 0", [[3, 0]], 0],
  ["45 1 * * SUN", [[1, 45]], 0],
] as const;
const wild = ["*/15 * * * *", "0 * * * *", "*/30 1-3 * * *", "5 */2 * * *"] as const;

/** A zone's offsets: where each begins, and how long its clocks are ahead of UTC. */
function offsetsOf(timeZone: string): { readonly fromMs: number; readonly offsetMs: number }[] {
  const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  const at = (ms: number) => {
    const name = format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
    const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
    return sign === undefined ? 0 : (sign === "-" ? -1 : 1) * (Number(hours) * hour + Number(minutes) * minute);
  };
  const found = [{ fromMs: from - 3 * day, offsetMs: at(from - 3 * day) }];
  for (let ms = from - 3 * day; ms < to + 3 * day; ms += day) {
    if (at(ms) === at(ms + day)) continue;
    let [low, high] = [ms, ms + day];
    while (high - low > minute) {
      const middle = Math.floor((low + high) / 2 / minute) * minute;
      if (at(middle) === at(ms)) low = middle;
      else high = middle;
    }
    found.push({ fromMs: high, offsetMs: at(high) });
  }
  return found;
}

type Offsets = ReturnType<typeof offsetsOf>;

function offsetAt(offsets: Offsets, ms: number): number {
  return offsets.findLast(({ fromMs }) => fromMs <= ms)?.offsetMs ?? 0;
}

/** The instant of a wall time: the first one; of one that is skipped, the first after the gap. */
function instantOf(offsets: Offsets, wallMs: number): number {
  const instants = offsets
    .map(({ offsetMs }) => wallMs - offsetMs)
    .filter((ms) => ms + offsetAt(offsets, ms) === wallMs)
    .sort((a, b) => a - b);
  const [first] = instants;
  if (first !== undefined) return first;
  const gap = offsets.find(({ fromMs, offsetMs }, index) => {
    const before = offsets[index - 1]?.offsetMs ?? offsetMs;
    return wallMs >= fromMs + before && wallMs < fromMs + offsetMs;
  });
  if (gap === undefined) throw new Error("a wall time that is neither there nor skipped");
  return gap.fromMs;
}

function timesOf(next: NextOccurrence, fromMs: number, toMs: number): number[] {
  const times: number[] = [];
  for (let at = next(fromMs - 1); at !== undefined && at < toMs; at = next(at)) times.push(at);
  return times;
}

test.each(zones)("%s: what names its times runs once each, for three years", (zone) => {
  const offsets = offsetsOf(zone);
  expect(offsets.length).toBeGreaterThan(5);
  for (const [expression, times, weekday] of fixed) {
    const expected = new Set<number>();
    for (let wallDay = from - day; wallDay < to + day; wallDay += day) {
      if (weekday !== undefined && new Date(wallDay).getUTCDay() !== weekday) continue;
      for (const [hours, minutes] of times) expected.add(instantOf(offsets, wallDay + hours * hour + minutes * minute));
    }
    const within = [...expected].filter((ms) => ms >= from && ms < to).sort((a, b) => a - b);
    expect([expression, timesOf(nextOfCron(expression, zone), from, to)]).toEqual([expression, within]);
  }
});

test.each(zones)("%s: what follows real time does so in both hours of a repetition, and never for a gap", (zone) => {
  const offsets = offsetsOf(zone);
  for (const expression of wild) {
    const [minutes = "", hours = ""] = expression.split(" ");
    for (const { fromMs } of offsets.slice(1)) {
      const [start, end] = [fromMs - day, fromMs + day];
      const expected: number[] = [];
      for (let ms = start; ms < end; ms += minute) {
        const wall = new Date(ms + offsetAt(offsets, ms));
        if (matches(minutes, wall.getUTCMinutes()) && matches(hours, wall.getUTCHours())) expected.push(ms);
      }
      expect([expression, timesOf(nextOfCron(expression, zone), start, end)]).toEqual([expression, expected]);
    }
  }
});

/** Of the forms that the expressions above have. */
function matches(field: string, value: number): boolean {
  const [, low, high] = /^(\d+)-(\d+)$/.exec(field) ?? [];
  if (low !== undefined) return value >= Number(low) && value <= Number(high);
  const [, step] = /^\*\/(\d+)$/.exec(field) ?? [];
  return step === undefined ? field === "*" || Number(field) === value : value % Number(step) === 0;
}

test("02:30 in New York runs at 03:00 where it is skipped, and once where it comes twice", () => {
  const next = nextOfCron("30 2 * * *", "America/New_York");
  const on = (date: string) => {
    const startMs = Date.parse(`${date}T05:00:00Z`);
    return timesOf(next, startMs, startMs + day).map((ms) => new Date(ms).toISOString());
  };
  expect(on("2026-03-08")).toEqual(["2026-03-08T07:00:00.000Z"]);
  expect(on("2026-11-01")).toEqual(["2026-11-01T07:30:00.000Z"]);
});

const bare = { timeZone: "UTC", startAt: undefined, endAt: undefined, jitterMs: 0 } as const;
const schedule = (change: Partial<Schedule> & Pick<Schedule, "timing">): Schedule => {
  return { ...bare, catchUp: { windowMs: day, runs: "last" }, ...change };
};

test("every counts from startAt, else from the epoch; startAt counts itself, and endAt does not", () => {
  const every = { kind: "every", everyMs: 14 * day } as const;
  const startAt = Date.UTC(2026, 0, 5, 9);
  const bounded = occurrencesOf(schedule({ timing: every, startAt, endAt: startAt + 28 * day }));
  expect(timesOf(bounded, from, to)).toEqual([startAt, startAt + 14 * day]);
  const free = occurrencesOf(schedule({ timing: { kind: "every", everyMs: hour } }));
  expect(free(Date.UTC(2026, 0, 1, 10, 59))).toBe(Date.UTC(2026, 0, 1, 11));
  expect(free(Date.UTC(2026, 0, 1, 11))).toBe(Date.UTC(2026, 0, 1, 12));
});

test("several expressions are one schedule: an instant of two of them is due once", () => {
  const both = schedule({ timing: { kind: "cron", expressions: ["0 9 * * *", "0 9,17 * * *"] } });
  const start = Date.UTC(2026, 0, 5);
  expect(timesOf(occurrencesOf(both), start, start + day)).toEqual([start + 9 * hour, start + 17 * hour]);
});

test("whatever is asked in whatever order, the time after it is that of a search of its own", () => {
  const asked = fc.array(fc.integer({ min: from, max: to }), { minLength: 2, maxLength: 20 });
  fc.assert(
    fc.property(
      fc.constantFrom("0 9 * * 1-5", "30 2 29 2 *", "*/7 * * * *", "0 0 31 2 *"),
      asked,
      (expression, times) => {
        const next = nextOfCron(expression, "Europe/Berlin");
        for (const time of times) expect(next(time)).toBe(nextOfCron(expression, "Europe/Berlin")(time));
      },
    ),
    { numRuns: 40 },
  );
});

test("expressions that are never due cost an occurrence of the others nothing", () => {
  const never = Array.from({ length: 9 }, (_, day) => `0 ${day} 31 2 *`);
  const next = occurrencesOf(schedule({ timing: { kind: "cron", expressions: ["* * * * *", ...never] } }));
  let at = next(from) ?? 0;
  const before = process.threadCpuUsage();
  for (let count = 0; count < 1_000; count++) at = next(at) ?? 0;
  const { user, system } = process.threadCpuUsage(before);
  expect(at).toBe(from + 1_001 * minute);
  // Searched each time they took some 50 ms an occurrence.
  expect((user + system) / 1_000).toBeLessThan(2_000);
});
