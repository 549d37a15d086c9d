import { formatDuration, formatValue, readTime, timeForm, type Work } from "@svc/core";
import type { ShapeNode, ShapeReader } from "@svc/program";
import type { StandingFaults } from "../definition/faults.ts";
import { bounds, catchUpForm, expressionsMax, scheduleForm, timesMax } from "../definition/forms.ts";
import { assertCron, occurrencesOf, type Schedule } from "./schedule.ts";

/** Dependencies of reading a schedule from a definition. */
export type ScheduleReading = {
  readonly reader: ShapeReader;
  readonly faults: StandingFaults;
  readonly timeZone: string;
  /**
   * Searches the schedule's times to check them. Undefined for a stored schedule, which was checked before it was stored, because the
   * search takes long.
   */
  readonly search: TimeSearch | undefined;
};

/**
 * Values with which the check of a schedule searches the schedule's times. `nowMs`: the schedule must have a time after this one (epoch
 * milliseconds). `work`: limits the processor time of the search.
 */
export type TimeSearch = { readonly nowMs: number; readonly work: Work };

/** Maximum number of occurrences that are compared to find the shortest gap between two of them. */
const gapsMax = 50;

/** Reads a schedule; returns undefined if it has faults. */
export async function readSchedule(node: ShapeNode, reading: ScheduleReading): Promise<Schedule | undefined> {
  const { reader, faults, timeZone, search } = reading;
  const before = faults.count;
  const fields = reader.fields(node, scheduleForm);
  if (fields === undefined) return undefined;
  const kinds = ["cron", "every", "at"].filter((name) => fields.has(name));
  if (kinds.length !== 1) {
    const what = kinds.length === 0 ? "names no times" : `has ${kinds.join(" and ")}`;
    faults.add("SCHEDULE_INVALID", node.path, what, "write exactly one of cron, every and at");
  }
  const timing = readTiming(kinds[0], fields.at(kinds[0] ?? "cron"), reading);
  const startAt = readInstant(fields.at("startAt"), reading);
  const endAt = readInstant(fields.at("endAt"), reading);
  const jitterMs = reader.duration(fields.at("jitter"), { ...bounds.jitter, max: Number.MAX_SAFE_INTEGER }) ?? 0;
  const catchUp = readCatchUp(fields.at("catchUp"), reader);
  if (timing === undefined || faults.count > before) return undefined;
  const schedule = { timing, timeZone, startAt, endAt, jitterMs, catchUp };
  if (search !== undefined) await checkOccurrences(schedule, node, { faults, ...search });
  return faults.count > before ? undefined : schedule;
}

function readTiming(
  kind: string | undefined,
  node: ShapeNode,
  reading: ScheduleReading,
): Schedule["timing"] | undefined {
  const { reader } = reading;
  switch (kind) {
    case "every": {
      const everyMs = reader.duration(node, bounds.every);
      return everyMs === undefined ? undefined : { kind, everyMs };
    }
    case "at": {
      const items = reader.items(node, { min: 1, max: timesMax }) ?? [];
      const times = items.flatMap((item) => readInstant(item, reading) ?? []);
      return { kind, times };
    }
    case "cron": {
      const items = reader.items(node, { min: 1, max: expressionsMax }) ?? [];
      return { kind, expressions: items.flatMap((item) => readExpression(item, reading) ?? []) };
    }
    default:
      return undefined;
  }
}

function readExpression(node: ShapeNode, { reader, faults, search }: ScheduleReading): string | undefined {
  const text = reader.text(node, { max: 200 });
  if (text === undefined || search === undefined) return text;
  try {
    assertCron(text);
    return text;
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, "") : "it does not parse";
    const hint = 'write minute, hour, day of month, month and day of week: "0 9 * * 1-5"';
    faults.add("SCHEDULE_INVALID", node.path, `is ${formatValue(text)}: ${why}`, hint);
    return undefined;
  }
}

function readInstant(node: ShapeNode, { reader, faults }: ScheduleReading): number | undefined {
  const text = reader.text(node, { max: 40 });
  if (text === undefined) return undefined;
  const ms = readTime(text);
  if (ms !== undefined) return ms;
  const stored = storedTime(text);
  const add = stored === undefined ? faults.add : faults.addYounger;
  add("SCHEDULE_INVALID", node.path, `is ${formatValue(text)}, which does not exist`, `write ${timeForm}`);
  return stored;
}

const storedForm =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-4]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * Returns the time in epoch milliseconds for a stored text that only version 0.1 accepted. Such a text has no seconds, has the time 24:00,
 * or names a day that the month does not have. Such a day counts into the next month.
 */
function storedTime(text: string): number | undefined {
  const found = storedForm.exec(text);
  if (found === null) return undefined;
  const [, year, month, day, hour, minute, second = 0, fraction = "", sign, hours = 0, minutes = 0] = found;
  const ms = Number(fraction.slice(0, 3).padEnd(3, "0"));
  const east = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const local = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
    ms,
  );
  return sign === "-" ? local + east : local - east;
}

function readCatchUp(node: ShapeNode, reader: ShapeReader): Schedule["catchUp"] {
  const fields = node.value === undefined ? undefined : reader.fields(node, catchUpForm);
  const at = (name: string): ShapeNode => fields?.at(name) ?? { value: undefined, path: [] };
  return {
    windowMs: reader.duration(at("window"), bounds.window) ?? 86_400_000,
    runs: reader.oneOf(at("runs"), ["none", "last", "all"]) ?? "last",
  };
}

/** Records a fault if a schedule has no occurrence, or if its jitter is not shorter than the gap to the next occurrence. */
async function checkOccurrences(
  schedule: Schedule,
  { path }: ShapeNode,
  { faults, nowMs, work }: TimeSearch & { readonly faults: StandingFaults },
): Promise<void> {
  const { jitterMs } = schedule;
  const next = occurrencesOf(schedule);
  let at = await next(nowMs, work);
  if (at === undefined) {
    faults.add("SCHEDULE_INVALID", path, "is never due in the future", "name future times");
    return;
  }
  if (jitterMs === 0) return;
  if (jitterMs > bounds.jitter.max) {
    faults.add("JITTER_TOO_LONG", [...path, "jitter"], `is ${formatDuration(jitterMs)}`, "write at most 1h");
    return;
  }
  for (let count = 0; count < gapsMax; count++) {
    const following = await next(at, work);
    if (following === undefined) return;
    if (following - at <= jitterMs) {
      const message = `is ${formatDuration(jitterMs)}, but two occurrences are ${formatDuration(following - at)} apart`;
      faults.add("JITTER_TOO_LONG", [...path, "jitter"], message, "write less than the time between two occurrences");
      return;
    }
    at = following;
  }
}
