import { createWorkMeter } from "@svc/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type NextOccurrence, nextOfCron, occurrencesOf, type Schedule } from "./schedule.ts";

// Compares the times of cron expressions with a second computation, which uses only the offsets of the zone and the local time. Expressions
// with fixed times are compared over three years, the others over the days around each clock change.

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

/** Returns the offsets of a time zone: when each begins, and by how much its clocks are ahead of UTC. */
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

/** Returns the first instant of a local time. If clocks skip that time, returns the first instant after the gap. */
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

const meter = createWorkMeter();
const work = meter.begin({ projectId: "" });

async function timesOf(next: NextOccurrence, fromMs: number, toMs: number): Promise<number[]> {
  const times: number[] = [];
  for (let at = await next(fromMs - 1, work); at !== undefined && at < toMs; at = await next(at, work)) times.push(at);
  return times;
}

test.each(zones)("%s: what names its times runs once each, for three years", async (zone) => {
  const offsets = offsetsOf(zone);
  expect(offsets.length).toBeGreaterThan(5);
  for (const [expression, times, weekday] of fixed) {
    const expected = new Set<number>();
    for (let wallDay = from - day; wallDay < to + day; wallDay += day) {
      if (weekday !== undefined && new Date(wallDay).getUTCDay() !== weekday) continue;
      for (const [hours, minutes] of times) expected.add(instantOf(offsets, wallDay + hours * hour + minutes * minute));
    }
    const within = [...expected].filter((ms) => ms >= from && ms < to).sort((a, b) => a - b);
    expect([expression, await timesOf(nextOfCron(expression, zone), from, to)]).toEqual([expression, within]);
  }
});

test.each(zones)(
  "acceptance 3: %s: what follows real time does so in both hours of a repetition, and never for a gap",
  async (zone) => {
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
        const found = await timesOf(nextOfCron(expression, zone), start, end);
        expect([expression, found]).toEqual([expression, expected]);
      }
    }
  },
);

/** True if a value matches a cron field. It supports only the forms that the expressions above have. */
function matches(field: string, value: number): boolean {
  const [, low, high] = /^(\d+)-(\d+)$/.exec(field) ?? [];
  if (low !== undefined) return value >= Number(low) && value <= Number(high);
  const [, step] = /^\*\/(\d+)$/.exec(field) ?? [];
  return step === undefined ? field === "*" || Number(field) === value : value % Number(step) === 0;
}

test("acceptance 3: 02:30 in New York runs at 03:00 where it is skipped, and once where it comes twice", async () => {
  const next = nextOfCron("30 2 * * *", "America/New_York");
  const on = async (date: string) => {
    const startMs = Date.parse(`${date}T05:00:00Z`);
    return (await timesOf(next, startMs, startMs + day)).map((ms) => new Date(ms).toISOString());
  };
  expect(await on("2026-03-08")).toEqual(["2026-03-08T07:00:00.000Z"]);
  expect(await on("2026-11-01")).toEqual(["2026-11-01T07:30:00.000Z"]);
});

const bare = { timeZone: "UTC", startAt: undefined, endAt: undefined, jitterMs: 0 } as const;
const schedule = (change: Partial<Schedule> & Pick<Schedule, "timing">): Schedule => {
  return { ...bare, catchUp: { windowMs: day, runs: "last" }, ...change };
};

test("every counts from startAt, else from the epoch; startAt counts itself, and endAt does not", async () => {
  const every = { kind: "every", everyMs: 14 * day } as const;
  const startAt = Date.UTC(2026, 0, 5, 9);
  const bounded = occurrencesOf(schedule({ timing: every, startAt, endAt: startAt + 28 * day }));
  expect(await timesOf(bounded, from, to)).toEqual([startAt, startAt + 14 * day]);
  const free = occurrencesOf(schedule({ timing: { kind: "every", everyMs: hour } }));
  expect(await free(Date.UTC(2026, 0, 1, 10, 59), work)).toBe(Date.UTC(2026, 0, 1, 11));
  expect(await free(Date.UTC(2026, 0, 1, 11), work)).toBe(Date.UTC(2026, 0, 1, 12));
});

test("several expressions are one schedule: an instant of two of them is due once", async () => {
  const both = schedule({ timing: { kind: "cron", expressions: ["0 9 * * *", "0 9,17 * * *"] } });
  const start = Date.UTC(2026, 0, 5);
  expect(await timesOf(occurrencesOf(both), start, start + day)).toEqual([start + 9 * hour, start + 17 * hour]);
});

test("whatever is asked in whatever order, the time after it is that of a search of its own", async () => {
  const asked = fc.array(fc.integer({ min: from, max: to }), { minLength: 2, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("0 9 * * 1-5", "30 2 29 2 *", "*/7 * * * *", "0 0 31 2 *"),
      asked,
      async (expression, times) => {
        const next = nextOfCron(expression, "Europe/Berlin");
        for (const time of times) {
          expect(await next(time, work)).toBe(await nextOfCron(expression, "Europe/Berlin")(time, work));
        }
      },
    ),
    { numRuns: 40 },
  );
});

test("expressions that are never due cost an occurrence of the others nothing", async () => {
  const never = Array.from({ length: 9 }, (_, day) => `0 ${day} 31 2 *`);
  const next = occurrencesOf(schedule({ timing: { kind: "cron", expressions: ["* * * * *", ...never] } }));
  let at = (await next(from, work)) ?? 0;
  const before = process.threadCpuUsage();
  for (let count = 0; count < 1_000; count++) at = (await next(at, work)) ?? 0;
  const { user, system } = process.threadCpuUsage(before);
  expect(at).toBe(from + 1_001 * minute);
  // If every occurrence were searched separately, each would take about 50 ms.
  expect((user + system) / 1_000).toBeLessThan(2_000);
});

const everyNearest = Array.from({ length: 31 }, (_, index) => `${index + 1}W`).join(",");

/** Cron expressions that are never due, which makes the search long: the weekday that is nearest to a day is never a Sunday. */
const slowest = [
  `0 0 ${everyNearest} * +SUN`,
  "0 0 29W,30W,31W * +SUN",
  "0 0 1-21 * +SUNL,MONL,TUEL,WEDL,THUL,FRIL,SATL",
];

test("no search keeps the thread, whatever the expressions, and its project is charged with it", async () => {
  const charged = createWorkMeter();
  const own = charged.begin({ projectId: "prj_1" as never });
  const timing = { kind: "cron", expressions: ["* * * * *", ...slowest] } as const;
  // Each part of the search is timed by itself, because other work of the machine must not count.
  let longestMs = 0;
  const timed: typeof own = {
    ...own,
    run(part) {
      const before = process.threadCpuUsage();
      const made = own.run(part);
      const { user, system } = process.threadCpuUsage(before);
      longestMs = Math.max(longestMs, (user + system) / 1_000);
      return made;
    },
  };
  let turns = 0;
  const counted: typeof own = {
    ...timed,
    turn: () => {
      turns++;
      return own.turn();
    },
  };
  // Without pauses, each search took 80 to 450 ms. Garbage collection may lengthen a part of one search, but not of every search.
  for (let searches = 0; searches === 0 || (searches < 3 && longestMs >= 15); searches++) {
    longestMs = 0;
    const next = occurrencesOf(schedule({ timing, timeZone: "Europe/Berlin" }));
    expect(await next(from, counted)).toBe(from + minute);
  }
  expect(longestMs).toBeLessThan(15);
  expect(charged.spentMs().get("prj_1")).toBeGreaterThan(20);
  expect(turns).toBeGreaterThanOrEqual(5);
});

test("searched by parts, what comes only once in many years is found, and what never does is not", async () => {
  const after = (expression: string) => nextOfCron(expression, "Europe/Berlin")(from, work);
  expect(await after("0 0 29 2 +MON")).toBe(Date.UTC(2044, 1, 28, 23));
  expect(await after("0 0 1 1 *")).toBe(Date.UTC(2025, 11, 31, 23));
  // The year 2100 has no 29 February, so this is the longest possible gap between two times.
  const beyond2100 = await nextOfCron("0 12 29 2 +MON", "UTC")(Date.UTC(2072, 2, 1), work);
  expect(beyond2100).toBe(Date.UTC(2112, 1, 29, 12));
  expect(await after("0 0 31 2 *")).toBeUndefined();
});

test("years that can be written and are none to search have no times, and are no fault", async () => {
  const daily = schedule({ timing: { kind: "cron", expressions: ["0 9 * * *"] } });
  expect(await occurrencesOf({ ...daily, startAt: Date.UTC(9999, 11, 31) })(from, work)).toBeUndefined();
  expect(await occurrencesOf(daily)(Date.parse("0001-01-01T00:00:00Z"), work)).toBe(Date.parse("0002-01-01T09:00:00Z"));
});
