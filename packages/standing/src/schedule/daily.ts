import type { Schedule } from "./schedule.ts";

const dayMs = 86_400_000;

/** How often a schedule is due on a day at most, as its fields say; days on which it is not due are not looked for. */
export function dailyMax({ timing }: Pick<Schedule, "timing">): number {
  switch (timing.kind) {
    case "cron":
      return timing.expressions.reduce((sum, expression) => sum + cronDailyMax(expression), 0);
    case "every":
      return Math.ceil(dayMs / timing.everyMs);
    case "at":
      return timing.times.length;
  }
}

function cronDailyMax(expression: string): number {
  const [minutes = "*", hours = "*"] = expression.trim().split(/\s+/);
  // What follows real time runs in both hours where clocks are set back.
  const repeated = /[*?/]/.test(minutes + hours) ? 1 : 0;
  return countOf(minutes, 60) * (countOf(hours, 24) + repeated);
}

/** The values that a field names, no less than there are. */
function countOf(field: string, values: number): number {
  const count = field.split(",").reduce((sum, part) => sum + countOfPart(part, values), 0);
  return Math.min(count, values);
}

function countOfPart(part: string, values: number): number {
  const found = /^(?:[*?]|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part);
  if (found === null) return values;
  const [, from, to, step] = found;
  if (from !== undefined && to === undefined && step === undefined) return 1;
  const [first, last] = [Number(from ?? 0), Number(to ?? values - 1)];
  // A range may go over the end of the field.
  const length = last >= first ? last - first + 1 : values;
  return Math.ceil(length / Number(step ?? 1));
}
