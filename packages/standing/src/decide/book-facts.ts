import type { JsonObject, StandingRunId } from "@svc/core";
import type { StandingLane } from "@svc/db/standing/lanes";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { StandingRunRecord } from "@svc/db/standing/runs";
import type { LoadedVersion } from "../versions.ts";
import type { Used } from "./verdict.ts";

/** What a book is opened with. */
export type BookFacts = {
  readonly program: StandingProgramRecord;
  /** The program's version of today. */
  readonly version: LoadedVersion;
  readonly lanes: readonly StandingLane[];
  /** Where rates stand, by key. */
  readonly rates: ReadonlyMap<string, number>;
  /** Until when keys of `dedupe` are remembered. */
  readonly seenKeys: ReadonlyMap<string, number>;
  /** Windows that are open, of the keys that events have. */
  readonly windows: readonly StandingRunRecord[];
  /** What was used today. */
  readonly used: Used;
  readonly nowMs: number;
  /** Runs that its project may still have under way; shared by the books of a project. */
  readonly room: { left: number };
  /** Seals what a caller gave. */
  readonly seal: (runId: StandingRunId, input: JsonObject) => Buffer;
  /** Why runs could not be started when it was tried just now, by the names of their occurrences: they wait. */
  readonly unstarted: ReadonlyMap<string, string>;
  /** When the next day of a zone begins. */
  readonly nextDayMs: (timeZone: string) => number;
};
