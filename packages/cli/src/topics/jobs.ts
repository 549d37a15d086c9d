import { AdminService } from "@svc/gen/admin";
import { JobsService, JobView } from "@svc/gen/jobs";
import type { Job } from "@svc/sdk";
import { findProjectId } from "../command/client.ts";
import type { Run } from "../command/declared.ts";
import { parseCount } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { addJobBulk, jobFilterOf, jobFilterOptions } from "../custom/jobs/bulk.ts";
import { addJobCheck } from "../custom/jobs/check.ts";
import { addJobDescribe } from "../custom/jobs/describe.ts";
import { addJobRerun, addJobRetry } from "../custom/jobs/retry.ts";
import { addJobShow } from "../custom/jobs/show.ts";
import { addJobSteps, stepLines } from "../custom/jobs/steps.ts";
import { addJobSubmit } from "../custom/jobs/submit.ts";
import { hasEnded, standingText, statusText } from "../custom/jobs/text.ts";
import { addJobWatch } from "../custom/jobs/watch/watch-job.ts";
import { plainText } from "../text/plain.ts";

const { listJobs, getStep, listJobEvents, listUndoEntries, pauseJob, resumeJob, cancelJob, promoteJob } =
  JobsService.method;
const { parkJob, releaseJob } = AdminService.method;
const exampleId = "job_01h455vb4pex5vsknk084sn02q";

type JobValues = { readonly id: string };
type AnsweredJob = { readonly job?: Job | undefined };

/** Parts that are the same in all commands that act on one job and print its new state: the argument, the result and the output texts. */
const aboutJob = {
  takes: { "<id>": "id of the job, job_…" },
  result: "job",
  json: "the job as JSON",
  shows: ({ job }: AnsweredJob, { values: { id } }: { readonly values: JobValues }) =>
    job === undefined ? [] : `${id} is ${standingText(job)}`,
} as const;

/**
 * Parts that are the same in all commands with which the administrator acts on one job of a project: the job's id, the option `--project`,
 * and the output texts.
 */
const aboutJobOfProject = {
  ...aboutJob,
  takes: { "<id>": ["id of the job, job_…", { fills: "jobId" }] },
  options: [["--project <id or name>", "project that the job belongs to", { default: "default" }]],
  request: async ({ admin, values: { project } }: Run<JobValues & { readonly project: string }>) => ({
    projectId: await findProjectId(admin(), project),
  }),
} as const;

/**
 * The commands for jobs and programs:
 * `svc jobs submit|check|describe|list|show|steps|step|undo-entries|watch|log|retry|rerun|pause|resume|cancel|bulk|promote|park|release`.
 */
export const addJobsCommand = topic({
  says: "check and describe programs and submit them as jobs; follow, read, retry, pause, resume, cancel and promote jobs; as administrator, park and release them",
  examples: [
    "svc jobs",
    "svc jobs submit remind.json --simulate --watch",
    "svc jobs submit remind.json --watch",
    `svc jobs show ${exampleId}`,
  ],
  commands: {
    submit: addJobSubmit,
    check: addJobCheck,
    describe: addJobDescribe,
    list: list(listJobs, {
      says: "list the project's latest jobs, newest first",
      isDefault: true,
      options: [
        ...jobFilterOptions,
        ["--limit <count>", "largest number of jobs to list", { parse: parseCount, default: 20 }],
      ],
      request: ({ values, asJson }: Run<Parameters<typeof jobFilterOf>[0]>) => ({
        ...jobFilterOf(values),
        // With `--json`, the command prints the whole job.
        view: asJson ? JobView.UNSPECIFIED : JobView.SUMMARY,
      }),
      // Each job in the answer contains its program, so a page has only few jobs.
      pageSize: 50,
      rows: "jobs",
      table: {
        SUBMITTED: "createdAt",
        ID: "id",
        MODE: ({ mode }) => mode,
        STATUS: standingText,
        TITLE: ({ title, skillSlug }) => `${plainText(title)}${skillSlug === "" ? "" : ` (${skillSlug})`}`,
      },
      json: "the jobs as a JSON list",
      examples: ["svc jobs list", "svc jobs list --status parked --limit 100", `svc jobs list --parent ${exampleId}`],
    }),
    show: addJobShow,
    steps: addJobSteps,
    step: call(getStep, {
      says: "show one step of a job: its arguments, the form of its output, its rows, and if a retry can start there",
      takes: {
        "<id>": ["id of the job, job_…", { fills: "jobId" }],
        "<step>": ["id of the step in the program, such as send", { fills: "stepId" }],
      },
      json: "the step as JSON",
      shows: stepLines,
      examples: [`svc jobs step ${exampleId} send`],
    }),
    "undo-entries": list(listUndoEntries, {
      says: "list how the calls of a job can be undone, or were: one entry for each call, in order",
      takes: { "<id>": ["id of the job, job_…", { fills: "jobId" }] },
      options: [["--limit <count>", "largest number of entries to list", { parse: parseCount, default: 100 }]],
      rows: "entries",
      table: {
        ENTRY: "entry",
        STEP: ({ stepId }) => stepId,
        ROW: "ordinal",
        TOOL: ({ toolSlug }) => toolSlug,
        ENTITY: ({ entityId }) => entityId || "-",
        STATE: ({ state }) => state,
      },
      json: "the entries as a JSON list",
      examples: [`svc jobs undo-entries ${exampleId}`],
    }),
    watch: addJobWatch,
    log: list(listJobEvents, {
      says: "print the present log of a job: what happened, when, and what caused it",
      takes: { "<id>": ["id of the job, job_…", { fills: "jobId" }] },
      pageSize: 1_000,
      isLines: true,
      rows: "events",
      table: {
        SEQ: "seq",
        AT: "at",
        TYPE: ({ type }) => type,
        STEP: ({ stepId }) => stepId || "-",
        // Shows the last key or program of the chain, which caused the entry directly. The JSON output has the whole chain.
        "CAUSED BY": ({ principalChain }) => plainText(principalChain.at(-1) ?? "-"),
        PARTICULARS: "payloadJson",
      },
      json: "the entries as JSON, one per line",
      examples: [`svc jobs log ${exampleId}`, `svc jobs log ${exampleId} --json | jq .type`],
    }),
    retry: addJobRetry,
    rerun: addJobRerun,
    pause: call(pauseJob, {
      ...aboutJob,
      says: "pause a job after its current step action; its deadline is suspended",
      notes: ({ job }: AnsweredJob, { values: { id } }) => [
        ...(job?.park?.reason === "paused" ? [] : ["It is paused when its current work, or its wait, is over."]),
        `\`svc jobs resume ${id}\` continues it, \`svc jobs cancel ${id}\` ends it.`,
      ],
      examples: [`svc jobs pause ${exampleId}`],
    }),
    resume: call(resumeJob, {
      ...aboutJob,
      says: "continue a paused job where it was",
      examples: [`svc jobs resume ${exampleId}`],
    }),
    cancel: call(cancelJob, {
      ...aboutJob,
      says: "end a job early; if its saga declares that, its writes are undone",
      shows: ({ job }, { values: { id } }: { readonly values: JobValues }) =>
        job === undefined ? [] : `${id} is ${statusText(job.status)}`,
      notes: ({ job }, { values: { id } }) =>
        job === undefined || hasEnded(job)
          ? []
          : `It ends when its current work is done. \`svc jobs watch ${id}\` follows it.`,
      examples: [`svc jobs cancel ${exampleId}`],
    }),
    bulk: addJobBulk,
    promote: call(promoteJob, {
      says: "make a tool of a successful job's program, and print the tool's slug",
      takes: {
        "<id>": ["id of a successful live job whose program has an inputSchema, job_…", { fills: "jobId" }],
      },
      options: [
        ["--slug <name>", "name of the skill: remind_guests becomes skills.remind_guests", { required: true }],
        [
          "--description <text>",
          "what the tool does, for a model that must choose, up to 1,000 characters",
          { required: true },
        ],
        ["--new-version", "make the next version of an existing skill"],
      ],
      result: "tool",
      json: "the tool as JSON",
      shows: ({ tool }) => tool?.slug ?? "",
      notes: ({ tool, version }, { values: { newVersion } }) => [
        ...(newVersion === true ? [`It is now version ${version}.`] : []),
        `\`svc toolkits show ${tool?.slug}\` shows its input; \`svc call ${tool?.slug}\` submits a job of it.`,
      ],
      examples: [
        `svc jobs promote ${exampleId} --slug remind_guests --description 'Reminds guests of invitations'`,
        `svc jobs promote ${exampleId} --slug remind_guests --description 'Reminds them' --new-version`,
      ],
    }),
    park: call(parkJob, {
      ...aboutJobOfProject,
      says: "take a job from its node, even from one that hangs, until it is released or cancelled",
      notes: (_, { values: { id } }) => `\`svc jobs release ${id}\` continues it, \`svc jobs cancel ${id}\` ends it.`,
      examples: [`svc jobs park ${exampleId}`, `svc jobs park ${exampleId} --project billing`],
    }),
    release: call(releaseJob, {
      ...aboutJobOfProject,
      says: "continue a job that was parked by an administrator, or by svc as poisoned",
      examples: [`svc jobs release ${exampleId}`, `svc jobs release ${exampleId} --project billing`],
    }),
  },
});
