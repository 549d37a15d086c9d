import { randomBytes } from "node:crypto";
import { createId, createSealer, parseVaultKeys } from "@svc/core";
import { createTestClock } from "@svc/testing/clock";
import { createTestDatabase } from "@svc/testing/database";
import { until } from "@svc/testing/until";
import { expect, test } from "vitest";
import { createCounters } from "./counters.ts";
import { createFailureCounters } from "./failures.ts";
import { startFlush } from "./flush.ts";

test("counts that the database refused are added later, each once, with the counts from in between", async () => {
  const database = await createTestDatabase();
  try {
    const { db } = database;
    const clock = createTestClock();
    const counters = createCounters({ clock });
    const failures = createFailureCounters({ clock });
    const sealer = createSealer(parseVaultKeys(`k1:${randomBytes(32).toString("base64")}`));
    const projectId = createId("prj", clock.now());
    const errors: unknown[] = [];
    const flush = startFlush({ ...{ db, clock, counters, failures, sealer }, onError: (error) => errors.push(error) });
    const isWaiting = () => until(() => clock.waiting() === 1);
    const round = async () => {
      await isWaiting();
      clock.advance(10_000);
      await isWaiting();
    };
    const counted = async () => {
      const read = (table: string) =>
        db.sql.unsafe<{ count: number }[]>(
          `select sum(count)::int4 as count from ${table} where project_id is not null`,
        );
      return [(await read("activity_minutes"))[0]?.count, (await read("activity_hours"))[0]?.count];
    };
    counters.stored(projectId, "calendar");
    // The write to the second table fails, so the counts in the first table are rolled back.
    await db.sql.unsafe("alter table activity_hours rename to gone");
    await round();
    counters.stored(projectId, "calendar");
    counters.stored(projectId, "chat");
    await round();
    expect(errors).toHaveLength(2);
    await db.sql.unsafe("alter table gone rename to activity_hours");
    await round();
    expect(await counted()).toEqual([3, 3]);
    await round();
    expect(await counted()).toEqual([3, 3]);
    counters.stored(projectId, "chat");
    await flush.stop();
    expect(await counted()).toEqual([4, 4]);
    expect(errors).toHaveLength(2);
  } finally {
    await database.drop();
  }
});
