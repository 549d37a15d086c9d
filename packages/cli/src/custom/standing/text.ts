import { type PollState, type StandingProgram, type StandingRun, StandingRunState, StandingState } from "@svc/sdk";
import { plainText } from "../../text/plain.ts";
import { timeText } from "../../text/table.ts";
import { namesOf } from "../jobs/text.ts";

const states = namesOf(StandingState);
const runStates = namesOf(StandingRunState);

/** The names of the states of standing programs, for example `paused`. The user can filter the list of standing programs by them. */
export const stateNames: readonly string[] = [...states.values()].filter((name) => name !== "unspecified");

/** Returns the state of a standing program that has this name on the command line. Returns UNSPECIFIED if no state has this name. */
export function stateOfName(name: string): StandingState {
  return StandingState[name.toUpperCase() as keyof typeof StandingState] ?? StandingState.UNSPECIFIED;
}

/** Returns the state of a standing program as text (for example `paused (failures)`). */
export function programStateText({ state, pauseReason }: StandingProgram): string {
  const name = states.get(state) ?? String(state);
  return pauseReason === "" ? name : `${name} (${plainText(pauseReason)})`;
}

/** Maximum number of start times that the command prints after it creates a schedule. */
const duesShown = 3;

/** Returns the next start times of a schedule (at most three) and its time zone, as text. */
export function dueText({ nextTimes, timeZone }: StandingProgram): string {
  const times = nextTimes.slice(0, duesShown).map((time) => timeText(time));
  const [last = "", ...others] = times.toReversed();
  const all = others.length === 0 ? last : `${others.toReversed().join(", ")} and ${last}`;
  return `${all}; the time zone of its schedule is ${timeZone}`;
}

/**
 * Returns the remark that some of the trigger's last 1,000 events started nothing, because they are not about the entity (customer or user)
 * of the program. `count`: the number of these events.
 */
export function passedOverText(count: number): string {
  return `${count} of the last 1,000 events of its trigger ${count === 1 ? "is" : "are"} not about its entity, and started nothing`;
}

/** Returns a remark that a new version of a schedule's program waits for a person's approval. Returns undefined if no version waits. */
export function pendingText({ pendingVersion, id }: StandingProgram): string | undefined {
  if (pendingVersion === 0) return undefined;
  return `Version ${pendingVersion} waits for approval: svc asks list --program ${id}`;
}

/** Returns the state of a run of a schedule as text (for example `skipped (overlap)` or `ended (succeeded)`). */
export function runStateText({ state, reason, jobStatus }: StandingRun): string {
  const name = runStates.get(state) ?? String(state);
  const why = reason || jobStatus;
  return why === "" ? name : `${name} (${plainText(why)})`;
}

/**
 * Returns lines about the last poll of a standing program (the regular tool call that finds new rows), as pairs of a label and a text.
 * Returns an empty list if new rows do not start the program.
 */
export function pollFacts(poll: PollState | undefined): [string, string][] {
  if (poll === undefined) return [];
  if (poll.polledAt === undefined) return [["polled", "not yet"]];
  const { outcome, code, detail, pages, rows, found, seen, primed, failuresInRow } = poll;
  const why = [code, detail].filter((text) => text !== "").map(plainText);
  const read = `${rows} rows on ${pages} ${pages === 1 ? "page" : "pages"}, ${found} of them new`;
  return [
    ["polled", `${timeText(poll.polledAt)}, ${outcome}${why.length > 0 ? `: ${why.join(": ")}` : ""}`],
    ...(failuresInRow > 0 ? [["failed", `${failuresInRow} polls in a row`] as [string, string]] : []),
    ["read", `${read}; ${seen} ids are known${primed ? "" : ", and the first pass continues"}`],
  ];
}

/** Returns a run as a row of a table: the time at which it was due, its id, its source, its state, and its job. */
export function runRow(run: StandingRun): string[] {
  const { id, kind, fireAt, count, jobId, missed, detail, key, rowCount, failure } = run;
  const times = count > 1 ? ` x ${count}` : "";
  const others = [
    missed > 0 ? `for ${missed} missed` : "",
    rowCount > 0 ? `${rowCount} ${rowCount === 1 ? "row" : "rows"}` : "",
    key === "" ? "" : `key ${plainText(key)}`,
    plainText(failure?.title ?? detail),
  ].filter((text) => text !== "");
  return [timeText(fireAt), id, kind, `${runStateText(run)}${times}`, jobId || "-", others.join(", ")];
}

/** The column headings for the rows of `runRow`. */
export const runHeader: readonly string[] = ["DUE", "RUN", "BY", "STATE", "JOB", ""];
