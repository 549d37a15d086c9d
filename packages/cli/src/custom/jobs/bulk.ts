import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  BulkJobsAction,
  type BulkJobsRequestSchema,
  type BulkJobsResponse,
  JobOriginKind,
  JobsService,
  type ListJobsRequest,
  ListJobsRequestSchema,
} from "@svc/gen/jobs";
import type { Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import { parseMoment, parseSpan } from "../../command/options.ts";
import { type FieldName, filledRequest, type OptionDeclaration } from "../../command/request-fields.ts";
import { call } from "../../command/topic.ts";
import { plainText } from "../../text/plain.ts";
import { countText } from "../../text/table.ts";
import { statusNames, statusOfName } from "./text.ts";

const originNames = ["key", "schedule", "skill", "job"] as const;

/** The options with which the commands `svc jobs list` and `svc jobs bulk` select jobs. */
export const jobFilterOptions: readonly OptionDeclaration<FieldName<typeof ListJobsRequestSchema>>[] = [
  ["--status <status>", "only jobs of this status", { choices: statusNames }],
  [
    "--mode <mode>",
    "only live jobs, only simulation runs (also those of --simulate-first), or only approval dry runs of schedules",
    { choices: ["live", "simulate", "rehearse"] },
  ],
  ["--program <id>", "only jobs of this schedule (standing program), stp_…", { fills: "standingProgramId" }],
  ["--skill <slug>", "only jobs of this skill, such as announce or skills.announce"],
  ["--parent <id>", "only child jobs of this job, job_…", { fills: "parentJobId" }],
  ["--title <text>", "only jobs whose title contains this text", { fills: "titleContains" }],
  ["--program-hash <hash>", "only jobs of the program with this hash, as `svc jobs show` prints it"],
  ["--failure <hash>", "only jobs with this failure, as `svc failures` prints it", { fills: "failureFingerprint" }],
  ["--origin <kind>", "only jobs that a key, a schedule, a skill or another job started", { choices: originNames }],
  [
    "--slower-than <time>",
    "only jobs that took longer than this from their submission, such as 90s or 10m",
    { fills: "slowerThanMs", parse: parseSpan },
  ],
  [
    "--since <when>",
    "only jobs submitted at or after this time: 2h for two hours ago, or 2026-03-14T09:00:00Z",
    { parse: parseMoment },
  ],
  ["--until <when>", "only jobs submitted before this time", { parse: parseMoment }],
];

/** The values of the options that select jobs and do not fill a request field by themselves. */
type JobFilterValues = {
  readonly status?: string;
  readonly skill?: string;
  readonly origin?: (typeof originNames)[number];
};

/** Returns the fields of a ListJobs request for the options `--status`, `--skill` and `--origin`, whose texts must first be converted. */
export function jobFilterOf({
  status = "",
  skill = "",
  origin,
}: JobFilterValues): Pick<ListJobsRequest, "status" | "skillSlug" | "originKind"> {
  return {
    status: statusOfName(status),
    // The user may type a skill's name without `skills.`, the toolkit of all skills.
    skillSlug: skill === "" || skill.includes(".") ? skill : `skills.${skill}`,
    originKind:
      origin === undefined
        ? JobOriginKind.UNSPECIFIED
        : JobOriginKind[origin.toUpperCase() as Uppercase<typeof origin>],
  };
}

const actions = { retry: BulkJobsAction.RETRY, cancel: BulkJobsAction.CANCEL } as const;

type BulkValues = JobFilterValues & {
  readonly action: keyof typeof actions;
  readonly ids?: readonly string[];
  readonly dryRun?: true;
  readonly counted?: number;
} & Readonly<Record<string, unknown>>;

/** The command `svc jobs bulk`, which retries or cancels many jobs: the named ones, or those that options select. */
export const addJobBulk = call(JobsService.method.bulkJobs, {
  says: "retry or cancel many jobs: the named ones, or those that the options select",
  takes: {
    "<action>": ["retry: failed jobs; cancel: jobs that have not ended", { choices: Object.keys(actions) }],
    "[ids...]": "ids of the jobs, job_… (default: the jobs that the options select)",
  },
  options: [
    ...(jobFilterOptions as readonly OptionDeclaration<never>[]),
    [
      "--counted <when>",
      "only jobs submitted or, for a retry, ended before this time: as --dry-run prints it",
      { fills: "until", parse: parseMoment },
    ],
    ["--after <id>", "only jobs older than this one, job_…: as the command prints it if jobs are left"],
    ["--dry-run", "count the jobs and change nothing"],
  ],
  request: ({ values }: Run<BulkValues>) => {
    const filter = {
      ...filledRequest(ListJobsRequestSchema, { options: jobFilterOptions }, values),
      ...jobFilterOf(values),
    };
    const jobIds = [...(values.ids ?? [])];
    const isNamed = jobIds.length > 0;
    if (!isNamed && Object.values(filter).every((value) => value === "" || value === 0))
      throw new CommandError("name jobs, or select them with an option such as --status failed or --failure <hash>");
    const { counted } = values;
    // The option --until is a part of the filter, although the request also has a field `until`.
    const until = counted === undefined ? {} : { until: timestampFromMs(counted) };
    return { action: actions[values.action], jobIds, until: undefined, ...until, ...(!isNamed && { filter }) };
  },
  makes: (callMethod, { request, context, values: { dryRun } }) =>
    bulkAll(callMethod, request, {
      past: dryRun === true ? "counted" : request.action === BulkJobsAction.RETRY ? "retried" : "cancelled",
      note: context.note,
    }),
  shows: ({ summary, refusals }) => [
    plainText(summary),
    ...refusals.map(({ jobId, reason, message }) => `${jobId}  ${reason}: ${plainText(message)}`),
  ],
  notes: (answer, { values: { dryRun } }) => bulkNotes(answer, dryRun === true),
  examples: [
    "svc jobs bulk retry --status failed --since 2h --dry-run",
    "svc jobs bulk retry --failure 4f0c1d2e3b5a69788796a5b4c3d2e1f0",
    "svc jobs bulk cancel job_01h455vb4pex5vsknk084sn02q",
  ],
});

/** Maximum number of calls that one command makes. Each call changes up to 1,000 jobs, or reads up to 20,000. */
const callsMax = 100;
const refusalsMax = 20;

type BulkRequest = MessageInitShape<typeof BulkJobsRequestSchema>;

/** Repeats the call for the jobs that are left, and prints a line after each call. Returns one answer for all calls. */
async function bulkAll(
  callMethod: (request: BulkRequest) => Promise<BulkJobsResponse>,
  request: BulkRequest,
  { past, note }: { readonly past: string; readonly note: (line: string) => void },
): Promise<BulkJobsResponse> {
  let all = await callMethod(request);
  for (let calls = 1; all.next !== "" && calls < callsMax; calls++) {
    note(`${progressOf(all, past)} so far`);
    // The time of the first call keeps out the jobs that have failed again since.
    const one = await callMethod({ ...request, ...(all.until && { until: all.until }), after: all.next });
    // A call can end before it has begun all jobs that it found. The next call finds the others again.
    const taken = past === "counted" ? all.matched : all.done + all.refused;
    const sums = {
      matched: taken + one.matched,
      done: all.done + one.done,
      refused: all.refused + one.refused,
      refusals: [...all.refusals, ...one.refusals].slice(0, refusalsMax),
    };
    all = { ...one, ...sums, ...(all.until && { until: all.until }) };
    all.summary = progressOf(all, past);
  }
  return all;
}

function progressOf({ matched, done }: BulkJobsResponse, past: string): string {
  const jobs = countText(matched, "job");
  return past === "counted" ? `counted ${jobs}` : `${past} ${done} of ${jobs}`;
}

function bulkNotes({ until, refused, refusals, next }: BulkJobsResponse, isDryRun: boolean): string[] {
  const left = refused - refusals.length;
  return [
    ...(left > 0 ? [`${countText(left, "more job")} refused.`] : []),
    ...(isDryRun && until !== undefined
      ? [`To act on exactly these jobs, add --counted ${timestampDate(until).toISOString()}.`]
      : []),
    ...(next !== "" && until !== undefined
      ? [
          `The command stopped after ${callsMax} calls. For the jobs that are left, run it again with --after ${next} --counted ${timestampDate(until).toISOString()}.`,
        ]
      : []),
  ];
}
