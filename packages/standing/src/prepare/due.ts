import type { Allowance, EventId, ProjectId, StandingProgramId } from "@svc/core";
import type { StandingRunReason } from "@svc/db/schema/words";
import type { BackfillRecord, SourceRun } from "@svc/db/standing/backfills";
import type { ClaimedDueTask } from "@svc/db/standing/claim";
import type { ConcurrencyKeyUsage } from "@svc/db/standing/concurrency-keys";
import type { ClaimedInboxEvent } from "@svc/db/standing/inbox";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { RunToCount, StandingRunRecord } from "@svc/db/standing/runs";
import type { TriggerSubscription } from "@svc/db/standing/trigger-subscriptions";
import type { Looked } from "../backfill/range.ts";
import type { ClosingWindow, Occurrence } from "../decide/occurrence.ts";
import type { Polled } from "../poll/store.ts";
import type { LoadedVersion } from "../versions.ts";
import type { Drifted } from "./drift.ts";
import type { Fired } from "../claim/bursts.ts";

/** What one transaction decides about: tasks and events that this node holds, and calls. */
export type DecisionBatch = {
  readonly tasks: readonly ClaimedDueTask[];
  readonly arrivals: readonly ClaimedInboxEvent[];
  /** What is due could not be decided about again and again: its runs are refused. */
  readonly isRefused?: boolean;
  /** Waiting runs that are started at most: where starts fail, one by one. Undefined: as many as may. */
  readonly startsMax?: number;
  /** Why runs could not be started, by the names of their occurrences, which are of one program. */
  readonly unstarted?: ReadonlyMap<string, string>;
  readonly calls: readonly { readonly programId: StandingProgramId; readonly occurrence: Occurrence }[];
  /** Polls that were made. */
  readonly polls: readonly Polled[];
  /** Nobody else starts runs of its projects meanwhile: one is near its bound. */
  readonly isAlone?: boolean;
  /** How long the jobs of a project's starts wait before they begin, in milliseconds, since more of its programs are due; 0 where nothing is said. */
  readonly behindMs?: ReadonlyMap<ProjectId, number> | undefined;
};

/** A batch of nothing. */
export const emptyBatch: DecisionBatch = { tasks: [], arrivals: [], calls: [], polls: [] };

/** What `when` made of something that is due: `error` is why it could not be told, or not be decided about. */
export type Filtered =
  | { readonly isDue: boolean }
  | { readonly error: string; readonly reason: "filter_error" | "start_failed" };

/** Something that is due, as far as it is looked at before its program is locked. */
export type DueCandidate = {
  readonly occurrence: Occurrence;
  /** The version that decides about it: of an event the one that listened when it was stored. */
  readonly version: LoadedVersion;
  readonly filtered: Filtered;
};

/** What is due of a program's schedule, as the program stood. */
export type PreparedFire = {
  readonly seen: Pick<StandingProgramRecord, "version" | "nextAt" | "previousAt">;
  readonly fired: Fired;
  readonly candidates: readonly DueCandidate[];
};

/** An event, and who listened to it. */
export type PreparedEvent = {
  readonly arrival: ClaimedInboxEvent;
  readonly candidates: readonly { readonly listener: TriggerSubscription; readonly candidate: DueCandidate }[];
};

/** By program: why what is due of it cannot start, since its tools have changed, as the program stood. */
export type Drifts = ReadonlyMap<StandingProgramId, Drifted>;
/** What a poll found, and what `when` made of its rows: `candidates` are the runs that it makes. */
export type PreparedPoll = {
  readonly polled: Polled;
  readonly candidates: readonly DueCandidate[];
  /** Rows that were looked at, and those of them that `when` turned away. */
  readonly seen: number;
  readonly filtered: number;
};

/** Something that a backfill comes to, with what `when` says of it; undefined: it is passed by. */
export type ExaminedItem = Looked & { readonly candidate: DueCandidate | undefined };

/** What a backfill comes to next, as the store stood. */
export type PreparedBackfill = {
  readonly record: BackfillRecord;
  /** The number of the program's version of today. */
  readonly versionNumber: number;
  /** What it goes on by; undefined where the program has another definition by now: nothing more is made up for. */
  readonly version: LoadedVersion | undefined;
  readonly looks: readonly ExaminedItem[];
  /** Whether nothing comes after these. */
  readonly isWhole: boolean;
  /** What may be started now. */
  readonly allowance: Allowance;
  /** Of what was due before, runs are not kept any more. */
  readonly keptFrom: number;
};

/** What a backfill comes to, with what there is of it. Its program is locked. */
export type DueBackfill = PreparedBackfill & {
  /** Runs that occurrences have, by the names of these. */
  readonly runs: ReadonlyMap<string, SourceRun>;
  /** Events that are no business of it. */
  readonly taken: ReadonlyMap<EventId, { readonly isUndecided: boolean }>;
  /** Until when keys of `dedupe` are remembered. */
  readonly seen: ReadonlyMap<string, number>;
  /** Runs of the program that wait, counted as far as it is held back by them. */
  readonly waiting: number;
};

/** What is found out before programs are locked: schedules are searched and expressions evaluated while nobody waits for it. */
export type PreparedDecision = {
  readonly fires: ReadonlyMap<StandingProgramId, PreparedFire>;
  readonly drifts: Drifts;
  readonly events: readonly PreparedEvent[];
  readonly polls: ReadonlyMap<StandingProgramId, PreparedPoll>;
  readonly backfills: ReadonlyMap<StandingProgramId, PreparedBackfill>;
  /** Windows whose time is over. */
  readonly windows: readonly ClosingWindow[];
  /** Arrivals that are too large to be taken with the others. */
  readonly left: readonly ClaimedInboxEvent[];
};

/** What of one program one transaction decides about, with what it rests on. The program is locked. */
export type ProgramDue = {
  readonly program: StandingProgramRecord;
  /** Its version of today. */
  readonly version: LoadedVersion;
  /** Runs whose end is counted now. */
  readonly counted: readonly RunToCount[];
  /** Runs that waited for longer than they may, and were left out. */
  readonly late: number;
  /** What is open in the lanes that are decided about. */
  readonly lanes: readonly ConcurrencyKeyUsage[];
  /** Runs that wait and whose lane has room, each with its version: that may be one that another took over from. */
  readonly waiting: readonly { readonly run: StandingRunRecord; readonly version: LoadedVersion }[];
  /** More wait than are looked at. */
  readonly hasMore: boolean;
  /** Whether its waiting runs were due to be looked at. */
  readonly isAdmitted: boolean;
  /** Windows whose time is over. */
  readonly closing: readonly ClosingWindow[];
  /** What is due of its schedule; undefined where that was not looked at. */
  readonly fire: PreparedFire | undefined;
  readonly events: readonly HeardEvent[];
  readonly poll: PreparedPoll | undefined;
  /** What its backfill comes to. */
  readonly backfill: DueBackfill | undefined;
  readonly calls: readonly DueCandidate[];
  /** Why nothing of it can start, since its tools have changed. */
  readonly drifted: string | undefined;
};

/** An event for a program. `skipped`: why it is left out whatever it is; its program listens no more. */
export type HeardEvent = { readonly candidate: DueCandidate; readonly skipped: StandingRunReason | undefined };

/** Everything that is new of a program: what its policies are asked about. */
export function candidatesOf({
  fire,
  poll,
  events,
  calls,
  backfill,
}: Pick<ProgramDue, "fire" | "poll" | "events" | "calls" | "backfill">): readonly DueCandidate[] {
  const heard = events.flatMap(({ skipped, candidate }) => (skipped === undefined ? [candidate] : []));
  const looked = (backfill?.looks ?? []).flatMap(({ candidate }) => candidate ?? []);
  return [...(fire?.candidates ?? []), ...(poll?.candidates ?? []), ...heard, ...calls, ...looked];
}

/** What `when` let pass, or could not be told of. */
export function isWanted({ filtered }: DueCandidate): boolean {
  return "error" in filtered || filtered.isDue;
}
