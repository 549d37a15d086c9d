import { createId, systemClock } from "@svc/core";
import { addActivityHours, addActivityMinutes } from "@svc/db/activity/write";
import { createTestDatabase } from "@svc/testing/database";
import { expect, test } from "vitest";
import { activitySweep } from "./engines.ts";

const hourMs = 3_600_000;

test("counters of minutes go after 48 hours and those of hours with the events, however many batches that takes", async () => {
  const database = await createTestDatabase();
  try {
    const { db } = database;
    const nowMs = systemClock.now();
    const projectId = createId("prj", nowMs);
    const countsOf = (ages: readonly number[], subjects: number) =>
      ages.flatMap((hours) =>
        Array.from({ length: subjects }, (_, n) => {
          const at = nowMs - hours * hourMs;
          return { projectId, series: "calls", subject: `tool_${n}`, at, outcome: "ok", count: 1 };
        }),
      );
    // More than one batch of counts per minute is too old and must be deleted.
    await addActivityMinutes(db, [...countsOf([47], 3), ...countsOf([49], 2_100)]);
    await addActivityHours(db, countsOf([71, 73], 3));
    const sweep = activitySweep({ db, eventRetentionMs: 72 * hourMs });
    let isMore: boolean[] = [];
    for await (const isFull of sweep.round(nowMs)) isMore = [...isMore, isFull];
    expect(isMore).toEqual([true, false, false, false]);
    const left = await db.sql.unsafe<{ of: string; count: number; age: number }[]>(
      `select 'minutes' as of, count(*)::int4 as count, round(extract(epoch from now() - min(at)) / 3600)::int4 as age from activity_minutes
       union all select 'hours', count(*)::int4, round(extract(epoch from now() - min(at)) / 3600)::int4 from activity_hours order by 1 desc`,
    );
    expect(left).toEqual([
      { of: "minutes", count: 3, age: 47 },
      { of: "hours", count: 3, age: 71 },
    ]);
  } finally {
    await database.drop();
  }
});
