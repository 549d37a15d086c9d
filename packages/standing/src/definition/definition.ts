import type { GivenTemplate, JsonObject } from "@svc/program";
import type { Schedule } from "../schedule/schedule.ts";

/** What happens where a run is due while as many of its key are under way as may be. */
export type OverlapPolicy = "skip" | "queueOne" | "queueAll" | "cancelRunning" | "allow";

/** What is done with a run that is over a rate or a budget: it waits, or it is left out. */
export type WhenOver = "queue" | "skip";

/** How runs of the same key keep out of each other's way. */
export type Overlap = {
  readonly policy: OverlapPolicy;
  /** Runs of a key at once. */
  readonly max: number;
  /** Runs of a key that wait at most. */
  readonly queueMax: number;
  /** How long a run waits at most. */
  readonly queueForMs: number;
  /** Undefined: the whole program shares one key. */
  readonly key: GivenTemplate | undefined;
};

/** How many runs of the same key start in a time. */
export type Rate = {
  readonly max: number;
  readonly perMs: number;
  readonly whenOver: WhenOver;
  readonly key: GivenTemplate | undefined;
};

/** What runs may use on a day; undefined: as much as they like. */
export type Budget = {
  readonly runs: number | undefined;
  readonly toolCalls: number | undefined;
  readonly writes: number | undefined;
  readonly whenOver: WhenOver;
};

/** A definition that was read. */
export type Definition = {
  readonly title: string;
  /** Of local times and of the budget's days. */
  readonly timeZone: string;
  readonly schedule: Schedule;
  readonly input: GivenTemplate | undefined;
  readonly rate: Rate | undefined;
  readonly budget: Budget | undefined;
  readonly overlap: Overlap;
  /** Ends in a row that pause it; 0 for never. */
  readonly pauseAfter: number;
  /** The program as JSON text. */
  readonly programJson: string;
};

/** What the templates of a definition are filled in with. */
export type Given = JsonObject;

/** What each of them is, as a JSON Schema. */
export const givenType = {
  type: "object",
  properties: {
    fire: {
      type: "object",
      properties: {
        at: { type: "string" },
        localDate: { type: "string" },
        localTime: { type: "string" },
        timeZone: { type: "string" },
        kind: { type: "string" },
        missed: { type: "integer" },
        previousAt: { type: "string" },
      },
      required: ["at", "localDate", "localTime", "timeZone", "kind", "missed"],
    },
  },
  required: ["fire"],
} as const;
