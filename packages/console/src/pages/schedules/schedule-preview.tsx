import { timestampMs } from "@bufbuild/protobuf/wkt";
import { parseDuration } from "@svc/core/duration";
import { readTime } from "@svc/core/time";
import type { Estimate } from "@svc/gen/jobs";
import type { PreviewStandingProgramResponse } from "@svc/gen/standing";
import type { ReactNode } from "react";
import { useNow } from "../../clock.ts";
import { fieldText } from "../../json/value.ts";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { NoteList } from "../../ui/notice/fault-list.tsx";
import { matchedWords } from "../../words/standing.ts";
import { clockWords, durationWords } from "../../words/time.ts";
import { startedBy } from "./definition.ts";
import { type DefinitionForm, valueAt } from "./definition-form.ts";
import { RunCalendar } from "./run-calendar.tsx";
import { dayWords, monthOf, nextClockChange } from "./run-days.ts";
import styles from "./schedule-preview.module.css";
import { previewedRuns } from "./use-schedule-check.ts";

/** Number of next runs that are listed. The calendar shows more. */
const listedRuns = 5;

/** Draws what a schedule will do: the calendar of its runs, the next runs, and what a run uses at most. */
export function SchedulePreview({ form, preview }: { form: DefinitionForm; preview: PreviewStandingProgramResponse }) {
  const locals = preview.nextTimes.map(({ local }) => local);
  const month = monthOf(locals, locals.length < previewedRuns);
  const by = startedBy(form.document.root);
  return (
    <>
      {month !== undefined && <RunCalendar month={month} />}
      <Section title="Next runs">
        {by === "trigger" ? (
          <p>{matchedWords(preview)}</p>
        ) : locals.length === 0 ? (
          <p>{by === "poll" ? "svc reads the list right after you create the schedule." : "It never runs."}</p>
        ) : (
          <NextRuns form={form} preview={preview} />
        )}
      </Section>
      <Section title={preview.needsApproval ? "Needs approval" : "Ready to create"}>
        <ul className={styles["checks"]}>
          <Check icon={preview.needsApproval ? "lock" : "check"}>{approvalWords(preview)}</Check>
          {preview.estimate !== undefined && <Uses estimate={preview.estimate} runs={month?.runs} />}
        </ul>
      </Section>
      <NoteList notes={preview.notes} />
    </>
  );
}

function NextRuns({ form, preview }: { form: DefinitionForm; preview: PreviewStandingProgramResponse }) {
  const now = useNow(60_000);
  const jitterMs = durationOf(fieldText(valueAt(form, "/source/schedule/jitter")));
  const { timeZone, nextTimes } = preview;
  const zone = timeZone || "UTC";
  const change = nextClockChange(zone, now);
  const first = nextTimes[0]?.local.slice(11, 16) ?? "";
  return (
    <>
      <ol className={styles["runs"]}>
        {nextTimes.slice(0, listedRuns).map(({ local, at }) => (
          <li key={local} className={styles["run"]}>
            <time>
              {dayWords(local)}, {local.slice(11, 16)}
              {jitterMs > 0 && ` to ${later(local, jitterMs)}`}
            </time>
            <span className={styles["quiet"]}>{at !== undefined && awayWords(timestampMs(at) - now)}</span>
          </li>
        ))}
      </ol>
      <p className={styles["small"]}>
        Times of {zone}.
        {change !== undefined &&
          ` Clocks change on ${change}${startedBy(form.document.root) === "cron" ? `: ${first} stays ${first}` : ""}.`}
      </p>
    </>
  );
}

/** Returns the time of day `ms` milliseconds after a local time, such as `09:02`. */
function later(local: string, ms: number): string {
  return clockWords((readTime(`${local.slice(0, 19)}Z`) ?? 0) + ms, "utc").slice(11, 16);
}

/** Returns how far away a time is in one or two units, such as `in 2 d`. */
function awayWords(ms: number): string {
  return ms <= 0 ? "now" : `in ${durationWords(ms)}`;
}

function durationOf(text: string): number {
  try {
    return text === "" ? 0 : parseDuration(text);
  } catch {
    // The user is still typing the duration. The service's check reports the error.
    return 0;
  }
}

/** Returns a sentence that says if the schedule needs approval, and what a run may change. */
function approvalWords({ needsApproval, estimate }: PreviewStandingProgramResponse): string {
  const writes = estimate?.writesMax ?? 0;
  const deletes = estimate?.destructiveMax ?? 0;
  const says = `${writes === 0 ? "no writes" : counted(writes, "write")} a run, ${deletes === 0 ? "nothing deleted" : counted(deletes, "delete")}`;
  return needsApproval
    ? `It needs one approval before it runs: ${says}. Only the key that creates it can approve it, and the key needs the approver role.`
    : `No approval needed: ${says}.`;
}

function Uses({ estimate: { toolkits, entities, callsMax }, runs }: { estimate: Estimate; runs: number | undefined }) {
  return (
    <>
      {toolkits.length > 0 && (
        <Check icon="plug">
          Uses accounts of <b>{entities.join(", ")}</b>: {toolkits.join(", ")}.
        </Check>
      )}
      <Check icon="calls">
        At most {counted(callsMax, "call")} a run
        {runs !== undefined && runs > 0 && `, ${(callsMax * runs).toLocaleString("en")} in the shown month`}.
      </Check>
    </>
  );
}

function counted(count: number, name: string): string {
  return `${count.toLocaleString("en")} ${name}${count === 1 ? "" : "s"}`;
}

function Check({ icon, children }: { icon: IconName; children: ReactNode }) {
  return (
    <li className={styles["check"]}>
      <span className={styles["sign"]}>
        <Icon name={icon} />
      </span>
      <span>{children}</span>
    </li>
  );
}
