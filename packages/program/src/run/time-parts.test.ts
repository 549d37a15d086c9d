import { expect, test } from "vitest";
import { compileSource } from "./expression.ts";

const partOf = (part: string, at: string, zone?: string) => {
  const [outcome] = compileSource(`timestamp(row.at).${part}(${zone === undefined ? "" : "row.zone"})`).compute({}, [
    { at, ...(zone !== undefined && { zone }) },
  ]);
  return outcome !== undefined && "text" in outcome ? Number(outcome.text) : undefined;
};

const parts = ["getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"].concat(
  ...[["getHours", "getMinutes", "getSeconds", "getMilliseconds"]],
);
const partsOf = (at: string, zone?: string) => parts.map((part) => partOf(part, at, zone));

/** Time zones of processes: some skip or repeat an hour, and some are a day ahead of UTC. */
const processZones = ["UTC", "America/New_York", "Europe/Berlin", "Pacific/Chatham", "Pacific/Apia", "Africa/Monrovia"];

test("whatever zone a process is in, a time has the same parts", () => {
  const before = process.env["TZ"];
  try {
    for (const zone of processZones) {
      process.env["TZ"] = zone;
      // A local time of a time zone, stored in a Date: the UTC parts of the Date are the parts of the local time.
      expect(partsOf("2026-03-08T02:30:15.250Z"), zone).toEqual([2026, 2, 8, 7, 0, 66, 2, 30, 15, 250]);
      expect(partsOf("2024-12-31T23:59:59.999Z"), zone).toEqual([2024, 11, 31, 30, 2, 365, 23, 59, 59, 999]);
      expect(partsOf("1969-12-31T23:59:59.750Z"), zone).toEqual([1969, 11, 31, 30, 3, 364, 23, 59, 59, 750]);
      expect(partsOf("0001-01-01T00:00:00Z"), zone).toEqual([1, 0, 1, 0, 1, 0, 0, 0, 0, 0]);
      expect(partsOf("2026-03-29T01:30:00Z", "Europe/Berlin"), zone).toEqual([2026, 2, 29, 28, 0, 87, 3, 30, 0, 0]);
      expect(partsOf("2026-01-01T03:00:00Z", "America/New_York"), zone).toEqual([
        2025, 11, 31, 30, 3, 364, 22, 0, 0, 0,
      ]);
      expect(partsOf("2026-01-01T00:00:00Z", "-05:30"), zone).toEqual([2025, 11, 31, 30, 3, 364, 18, 30, 0, 0]);
      expect(partsOf("2026-01-01T00:00:00Z", "+14:00"), zone).toEqual([2026, 0, 1, 0, 4, 0, 14, 0, 0, 0]);
      expect(partsOf("0001-01-01T00:00:00Z", "-01:00"), zone).toEqual([0, 11, 31, 30, 0, 365, 23, 0, 0, 0]);
    }
  } finally {
    if (before === undefined) delete process.env["TZ"];
    else process.env["TZ"] = before;
  }
});

test.each(["", "Berlin", "+24:00", "12:60", "+2:00", "GMT+25", "task", "+02:00:00"])("%j is no zone", (zone) => {
  expect(partOf("getHours", "2026-01-01T00:00:00Z", zone)).toBeUndefined();
});
