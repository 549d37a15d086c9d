import { StandingService } from "@svc/gen/standing";
import type { StandingProgram } from "@svc/sdk";
import { parseCount } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { addStandingBackfill } from "../custom/standing/backfill.ts";
import { addStandingCreate, addStandingPreview, addStandingUpdate } from "../custom/standing/definition.ts";
import { addStandingRun, addStandingRuns, addStandingShow } from "../custom/standing/runs.ts";
import { pendingText, programStateText, runStateText, stateNames, stateOfName } from "../custom/standing/text.ts";
import { timeText } from "../text/table.ts";

const { listStandingPrograms, pauseStandingProgram, resumeStandingProgram, deleteStandingProgram } =
  StandingService.method;

/**
 * Common properties of the commands that change one standing program (a program that starts jobs on a schedule or event) and print its new
 * state. They are the argument, the result field and the printed text.
 */
const aboutProgram = {
  takes: { "<program>": ["its slug or its id, stp_…", { fills: "id" }] },
  result: "standingProgram",
  json: "the program as JSON",
  shows: ({ standingProgram: program }: { readonly standingProgram?: StandingProgram | undefined }) =>
    program === undefined ? [] : `${program.slug} is ${programStateText(program)}`,
} as const;

/**
 * The commands for schedules (programs that svc starts by itself):
 * `svc standing create|update|preview|list|show|runs|run|backfill|pause|resume|delete`.
 */
export const addStandingCommand = topic({
  says: "programs that svc starts by itself (schedules), and their runs",
  examples: [
    "svc standing",
    "svc standing create morning-report morning-report.json",
    "svc standing runs morning-report --skipped",
  ],
  commands: {
    create: addStandingCreate,
    update: addStandingUpdate,
    preview: addStandingPreview,
    list: list(listStandingPrograms, {
      says: "list the project's standing programs, newest first",
      isDefault: true,
      options: [
        ["--state <state>", "only programs of this state", { choices: stateNames }],
        ["--limit <count>", "largest number of programs to list", { parse: parseCount, default: 100 }],
      ],
      request: ({ values: { state } }) => ({ state: stateOfName(String(state ?? "")) }),
      rows: "standingPrograms",
      table: {
        SLUG: ({ slug }) => slug,
        ID: "id",
        STATE: programStateText,
        NEXT: ({ nextTimes }) => timeText(nextTimes[0]),
        "LAST RUN": ({ lastRun }) => (lastRun === undefined ? "-" : runStateText(lastRun)),
        TITLE: "title",
      },
      json: "the programs as a JSON list",
      examples: ["svc standing list", "svc standing list --state paused"],
    }),
    show: addStandingShow,
    runs: addStandingRuns,
    run: addStandingRun,
    backfill: addStandingBackfill,
    pause: call(pauseStandingProgram, {
      ...aboutProgram,
      says: "stop new runs of a standing program until it is resumed; its jobs continue",
      options: [["--cancel-running", "also cancel its running jobs"]],
      examples: ["svc standing pause morning-report"],
    }),
    resume: call(resumeStandingProgram, {
      ...aboutProgram,
      says: "continue a paused standing program from now; svc does not make up for missed times",
      options: [["--adopt", "continue with the present definitions of its tools, as a new version"]],
      notes: ({ standingProgram: program }) => (program && pendingText(program)) ?? [],
      examples: ["svc standing resume morning-report", "svc standing resume morning-report --adopt"],
    }),
    delete: call(deleteStandingProgram, {
      says: "end a standing program permanently; its jobs continue and can be found by its id",
      takes: aboutProgram.takes,
      options: [["--cancel-running", "also cancel its running jobs"]],
      deleted: "id",
      json: "the answer as JSON",
      shows: "{id} is deleted",
      examples: ["svc standing delete morning-report"],
    }),
  },
});
