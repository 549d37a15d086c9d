import { call, defineFaults, field, formatValue, type PartedText, text } from "@svc/core";
import { faultsText, type ProgramFault } from "@svc/program";
import { fieldOf, listedFaults, listedMax } from "./faulty-program.ts";

/** The errors with which the API refuses calls about jobs and skills. */
export const jobFaults = defineFaults({
  /**
   * The program has faults. `characters`: length of the program. It limits how many faults the response lists, so that the list is hardly
   * longer than the program itself.
   */
  PROGRAM_FAULTY: {
    code: "invalid_argument",
    reason: "PROGRAM_MALFORMED",
    says: (found: readonly ProgramFault[], omitted: number) =>
      faultsText({ of: "programJson", whole: "the program", found, omitted }),
    each: (found: readonly ProgramFault[], _omitted: number, characters: number) =>
      listedFaults(found, characters).map(({ code, pointer, message, hint }) => {
        return { reason: code, field: fieldOf(pointer), help: text`${message}: ${hint}.` };
      }),
  },
  /** The program of this job cannot become a tool. It was accepted before newer rules existed, and it breaks these rules. */
  PROMOTED_PROGRAM_FAULTY: {
    code: "invalid_argument",
    reason: "PROGRAM_MALFORMED",
    says: (jobId: string, found: readonly ProgramFault[]) =>
      text`the program of job ${jobId} has ${found.length === 1 ? "1 error" : `${found.length} errors`}: ${found.slice(0, 1).map(resubmitted)[0] ?? ""}${found.length > 1 ? `; and ${found.length - 1} more` : ""}`,
    each: (_jobId: string, found: readonly ProgramFault[]) =>
      found.slice(0, listedMax).map((one) => ({ reason: one.code, field: "jobId", help: resubmitted(one) })),
  },
  /** The program calls real apps and apps that the sandbox plays. `played` and `live`: slugs of their toolkits. */
  PROGRAM_MIXES_SANDBOX: {
    code: "invalid_argument",
    field: "programJson",
    says: (played: readonly string[], live: readonly string[]) =>
      `the program calls real apps (${live.slice(0, 5).join(", ")}) and apps that the sandbox plays (${played.slice(0, 5).join(", ")})`,
    help: text`Simulate the program only (mode simulate), or connect the others to real apps with ${call("ImportToolkit")}.`,
  },
  /** The field `mode` of the request contains a mode of a job that svc does not know. */
  MODE_INVALID: {
    code: "invalid_argument",
    field: "mode",
    says: (mode: string) => `mode ${formatValue(mode)} is not known`,
    help: "Send live or simulate, or leave it empty.",
  },
  RUN_ARGUMENTS_UNCLEAR: {
    code: "invalid_argument",
    says: "run_program takes a program to run, or only job_id to wait for a job",
    help: "Give program, or give job_id without program, idempotency_key and simulate.",
  },
  /** DescribeProgram must name either a program or a job. `isBoth`: true if the request names both. */
  DESCRIBED_PROGRAM_UNCLEAR: {
    code: "invalid_argument",
    field: "programJson",
    says: (isBoth: boolean) =>
      text`${isBoth ? "both" : "neither"} ${field("programJson")} ${isBoth ? "and" : "nor"} ${field("jobId")} ${isBoth ? "are" : "is"} set`,
    help: text`Send ${field("programJson")} to describe a program, or ${field("jobId")} to describe the program of a job.`,
  },
  MODE_CONFLICT: {
    code: "invalid_argument",
    field: "simulateFirst",
    says: text`${field("simulateFirst")} is true and mode is simulate, which simulates already`,
    help: text`Send mode simulate to simulate only, or ${field("simulateFirst")} to simulate before a live run.`,
  },
  WAIT_SECONDS_INVALID: {
    code: "invalid_argument",
    field: "waitSeconds",
    says: (seconds: number, most: number) =>
      text`${field("waitSeconds")} is ${String(seconds)}, and may be ${String(most)} at most`,
    help: text`Wait for a shorter time, and then read the job with ${call("GetJob")} or follow it with ${call("WatchJob")}.`,
  },
  IDEMPOTENCY_KEY_REUSED: {
    code: "already_exists",
    field: "idempotencyKey",
    says: (key: string) =>
      text`${field("idempotencyKey")} ${formatValue(key)} was used with another program, mode or ${field("simulateFirst")}`,
    help: "Use a new key for every submission that differs.",
  },
  /**
   * The program needs an approval before it runs, and the key that submits the program does not have the role `approver`. `cause`: the rule
   * that requires the approval.
   */
  APPROVER_ROLE_REQUIRED: {
    code: "permission_denied",
    field: "programJson/approval",
    says: "the plan needs approval, but only the submitting key may approve it, and that key is not an approver's",
    help: (cause: keyof typeof approvalCauses) =>
      `Submit with a key of the role approver; or ${approvalCauses[cause]}.`,
  },
  /**
   * A judgment point of the program (a place where a person decides) asks for an approval, which the submitting key cannot give. `place`:
   * the judgment point, for example `points/sure`, or the skill that contains it.
   */
  GATE_FOR_APPROVERS: {
    code: "permission_denied",
    reason: "APPROVER_ROLE_REQUIRED",
    field: (place: string) => `programJson/${place}`,
    says: "it asks for an approval, but only the submitting key may answer it, and that key is not an approver's",
    help: "Submit with a key of the role approver; or write a question without approval, with an escalation that names the contact who answers it.",
  },
  APPROVER_MISSING: {
    code: "failed_precondition",
    field: "programJson/approval",
    says: "the plan needs approval, but none of the contacts that it asks is an approver",
    help: text`Mark a contact as approver with ${call("PutContact")}; if approval.escalation names contacts, name an approver there.`,
  },
  /**
   * The job has ended, so it cannot be cancelled, paused, resumed, parked (suspended) or released. `field`: the request field that contains
   * the job's id.
   */
  JOB_FINISHED: {
    code: "failed_precondition",
    field: (path: "id" | "jobId") => path,
    says: (_path: "id" | "jobId", id: string, status: string) =>
      `job ${id} ${byItself.has(status) ? "has" : "was"} ${status}`,
    help: "Only a job that has not ended can be cancelled, paused, resumed, parked or released.",
  },
  /** BulkJobs needs an action, and either a filter or ids of jobs. `wrong`: what is wrong with the request. */
  BULK_JOBS_UNCLEAR: {
    code: "invalid_argument",
    field: (path: "action" | "filter") => path,
    says: (_path: "action" | "filter", wrong: string) => wrong,
    help: text`Set ${field("action")}, and either ${field("filter")} or ${field("jobIds")}.`,
  },
  BULK_JOBS_TOO_MANY: {
    code: "invalid_argument",
    field: "jobIds",
    says: (count: number, max: number) => text`${field("jobIds")} has ${count} ids, above ${max}`,
    help: text`Send the jobs in several calls, or send ${field("filter")}.`,
  },
  JOB_NOT_PARKABLE: {
    code: "failed_precondition",
    field: "jobId",
    says: (id: string, standing: string) =>
      `job ${id} is ${standing}; only a job that is queued, running or compensating can be parked`,
    help: text`Park a waiting job when it runs again, or end it with ${call("CancelJob")}.`,
  },
  JOB_NOT_RELEASABLE: {
    code: "failed_precondition",
    field: "jobId",
    says: (id: string, standing: string) =>
      `job ${id} is ${standing}; only a job that is parked as poisoned or by an administrator can be released`,
    help: text`A job that waits for an answer continues after ${call("AnswerAsk")}, one that waits for a time continues by itself.`,
  },
  JOB_NOT_RETRYABLE: {
    code: "failed_precondition",
    field: "id",
    says: (id: string, why: string) => `job ${id} ${why}`,
    help: "Retry a job that failed, expired, was aborted or cancelled, and undid nothing. Otherwise submit its program again.",
  },
  JOB_STEP_UNKNOWN: {
    code: "invalid_argument",
    field: "fromStepId",
    says: (why: string) => `fromStepId ${why}`,
    help: "Name one of the job's stepReceipts, or leave it empty to continue where the job stopped.",
  },
  STEP_NOT_FOUND: {
    code: "not_found",
    field: "stepId",
    says: (jobId: string, stepId: string) => `the program of job ${jobId} has no step ${formatValue(stepId)}`,
    help: text`${call("ListSteps")} lists the steps of the job.`,
  },
  OVERRIDES_INVALID: {
    code: "invalid_argument",
    field: "paramsJson",
    says: (why: string) => `paramsJson ${why}`,
    help: "Send a JSON object of params that the program has, each with a value of the same type.",
  },
  PROGRAM_ARGUMENT_INVALID: {
    code: "invalid_argument",
    field: "inputJson",
    says: (why: string) => `inputJson ${why}`,
    help: "Send a JSON object that fits the program's inputSchema, or nothing to keep the input of the job.",
  },
  JOB_NOT_PAUSED: {
    code: "failed_precondition",
    field: "id",
    says: (id: string, status: string) => `job ${id} is ${status} and not paused`,
    help: text`Only a job whose pausedAt is set can be resumed: one that waits for an answer continues after ${call("AnswerAsk")}.`,
  },
  CONFIRM_ASKED_TOO_OFTEN: {
    code: "resource_exhausted",
    says: (toolSlug: string, asksMax: number) =>
      `people were asked ${asksMax} times within ten minutes about the same call of ${toolSlug}`,
    help: text`Wait, or send a different ${field("idempotencyKey")} with each intended call.`,
  },
  JOB_NOT_PROMOTABLE: {
    code: "failed_precondition",
    field: "jobId",
    says: (id: string, why: string) => `job ${id} ${why}`,
    help: "Promote a live job that succeeded and whose program declares an inputSchema.",
  },
  SKILL_SLUG_INVALID: {
    code: "invalid_argument",
    field: "slug",
    says: (slug: string) => `slug ${formatValue(slug)} does not match ^[a-z][a-z0-9_]{0,62}$`,
    help: "Send a name such as remind_guests, without the prefix skills.",
  },
  SKILL_DESCRIPTION_INVALID: {
    code: "invalid_argument",
    field: "description",
    says: (length: number) => `description has ${length} characters; it must have 1 to 1,000`,
    help: "Say what the skill does, so that a model can choose it.",
  },
  SKILL_SLUG_TAKEN: {
    code: "already_exists",
    field: "slug",
    says: (slug: string) => `slug ${formatValue(slug)} is taken by another skill of this project`,
    help: "Choose another name, or send newVersion true to make its next version.",
  },
  /** The project has no skill of this name, or not this version of the skill. Version 0 stands for any version. */
  SKILL_NOT_FOUND: {
    code: "not_found",
    field: "slug",
    says: (slug: string, version: number) =>
      `the project has no skill ${formatValue(slug)}${version === 0 ? "" : ` with a version ${version}`}`,
    help: text`${call("ListSkills")} lists the existing ones; send the slug without the prefix skills.`,
  },
  SKILL_INCOMPATIBLE: {
    code: "failed_precondition",
    field: "jobId",
    says: (slug: string, newest: number, differences: readonly string[]) =>
      `the program does not take every input that version ${newest} of ${formatValue(slug)} takes: ${differences.slice(0, differencesMax).join("; ")}${differences.length > differencesMax ? `; and ${differences.length - differencesMax} more` : ""}`,
    help: "Change the inputSchema, for example with a default for a newly required field, or promote it under another slug.",
  },
  SKILLS_TOO_MANY: {
    code: "resource_exhausted",
    says: (what: "skills" | "versions", most: number) =>
      what === "skills"
        ? `the project already has ${most} skills, the maximum`
        : `the skill already has ${most} versions, the maximum`,
    help: text`Delete unused skills with ${call("DeleteSkill")}, or submit the program with ${call("SubmitJob")} instead.`,
  },
});

/**
 * Help texts for a job that needs an approval, by the rule that requires it: a rule of the program, of a skill, or of the project's policy.
 * Each text says what a caller without an approver's key can do instead.
 */
const approvalCauses = {
  program:
    'set "approval": {"plan": "never"} and ask a contact a question of your own before each destructive call; or leave out destructive calls and "plan": "always"',
  skill: "leave out the skill whose own rule requires approval",
  policy:
    "leave out destructive calls: the project's policy requires approval of plans with them, even if the program does not",
} as const;

/** Final statuses that a job reaches by itself. A job gets the other final statuses only by a request. */
const byItself: ReadonlySet<string> = new Set(["succeeded", "failed", "expired"]);

/** Maximum number of schema differences that an error message names. */
const differencesMax = 10;

function resubmitted({ pointer, message, hint }: ProgramFault): PartedText {
  return text`${pointer} ${message}: ${hint}. Submit the corrected program, and promote that job.`;
}
