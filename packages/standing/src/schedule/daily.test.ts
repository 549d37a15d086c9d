import { createWorkMeter } from "@svc/core";
import { expect, test } from "vitest";
import { dailyMax } from "./catch-up.ts";
import { nextOfCron } from "./schedule.ts";

const cron = (...expressions: string[]) => dailyMax({ timing: { kind: "cron", expressions } });

test("what a schedule is due on a day is bounded by its fields", () => {
  expect(cron("0 9 * * 1-5")).toBe(1);
  expect(cron("0,30 9-17 * * *")).toBe(18);
  expect(cron("0 9 * * *", "0 17 * * *")).toBe(2);
  expect(cron("*/15 * * * *")).toBe(100);
  expect(dailyMax({ timing: { kind: "every", everyMs: 900_000 } })).toBe(96);
  expect(dailyMax({ timing: { kind: "at", times: [1, 2, 3] } })).toBe(3);
});

test.each(["*/7 */5 * * *", "*/15 2 * * *", "50-59 1-3 * * *", "1,2,3-9/2 ? * * *"])(
  "%s is due no more often",
  async (text) => {
    const next = nextOfCron(text, "Europe/Berlin");
    const work = createWorkMeter().begin({ projectId: "" });
    const days = [
      ["2026-03-29T00:00:00+01:00", 23],
      ["2026-05-01T00:00:00+02:00", 24],
      ["2026-10-25T00:00:00+02:00", 25],
    ] as const;
    const counts: number[] = [];
    for (const [day, hours] of days) {
      const start = Date.parse(day);
      let count = 0;
      let at = await next(start - 1, work);
      for (; at !== undefined && at < start + hours * 3_600_000; at = await next(at, work)) count++;
      counts.push(count);
    }
    expect(Math.max(...counts)).toBeLessThanOrEqual(cron(text));
    expect(Math.max(...counts)).toBeGreaterThan(cron(text) / 2);
  },
);
