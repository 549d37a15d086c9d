import {
  type AnswerLinks,
  type AskContext,
  type AskObserver,
  askFaults,
  askPort,
  createAnswerLinks,
  createAskHandlers,
  createContactsService,
} from "@svc/asks";
import { type CatalogViews, fillInput, type SandboxMode } from "@svc/catalog";
import type { AccountAccess } from "@svc/connections";
import {
  type AddressGuard,
  assertExhaustive,
  type Clock,
  type Fault,
  type Id,
  type NodeId,
  requireId,
  type Sealer,
  type ThreadPool,
  type WorkMeter,
} from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { OperationalFilters } from "@svc/db/events/operational";
import { skillsForProject } from "@svc/db/skills/repo";
import type { Dispatcher } from "@svc/delivery";
import { createEvaluator, type JsonObject, parseCheckedProgram, readSkillName } from "@svc/program";
import {
  type AgentTool,
  answered,
  type CodeAnswer,
  type CodeCall,
  type CodeCaller,
  type CodeFinder,
  type ListedTool,
  type McpOffer,
  type PersonAsker,
  spoken,
  type ToolAnswer,
  type ToolCaller,
} from "@svc/tools";
import { guide } from "./agents/guide.ts";
import { createRunProgramTool } from "./agents/run-program-tool.ts";
import type { AgentJobsContext } from "./agents/task-ask.ts";
import { createTasksOffer } from "./agents/tasks.ts";
import type { JobAdministration } from "./api/administration.ts";
import { checkForSubmission } from "./api/check-program.ts";
import type { JobsContext } from "./api/context.ts";
import { hashReceipt } from "./api/convert-receipts.ts";
import { createJobHints, type JobHints, withNotes } from "./api/notes.ts";
import { readJob } from "./api/read.ts";
import { createJobsService } from "./api/service.ts";
import { submit } from "./api/submit.ts";
import { createJobWaits, type JobWaits } from "./api/wait.ts";
import type { EngineLimits, OnDryRunEnd } from "./drive/context.ts";
import { createJobEngine, type JobEngine } from "./drive/engine.ts";
import { type EngineObserver, type OnFaultPoint, silentObserver } from "./drive/observer.ts";
import type { ForceResult, JobOfProject } from "./drive/schedule/force.ts";
import { createProgramCache, openReadable } from "./drive/store/stored-program.ts";
import { jobFaults } from "./errors.ts";
import { createPersonAsker } from "./held/ask-person.ts";
import type { SkillContext } from "./skills/call-skill.ts";
import { findSkillTool, skillToolSlug } from "./skills/toolkit.ts";
import { createJobStarter, type JobStarter } from "./starts/starter.ts";
import { isEnd } from "./state/statuses.ts";

/** Dependencies of the administration of jobs. */
type JobAdministrationContext = Pick<JobsContext, "db" | "sealer" | "views"> & {
  readonly engine: Pick<JobEngine, "park" | "release">;
};

/**
 * Name under which a job's log records the cause of requests through AdminService. It names no person, because a deployment has one
 * administrator.
 */
const byAdministrator: readonly string[] = ["administrator"];

const listed: ListedTool = {
  name: "check_program",
  title: "Check a program",
  description:
    "Checks a program for run_program and runs nothing: returns all errors at once, each with its place and its fix, or the most that the " +
    "program can do. Without arguments it returns how to write programs: read that first.",
  inputSchema: {
    type: "object",
    additionalProperties: false,
    properties: { program: { type: "object", description: "The program. Leave it out to read how to write one." } },
  },
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
};

/** Creates the tool that checks programs and explains how to write them. */
function createCheckProgramTool(context: AgentJobsContext): AgentTool {
  return {
    group: "programs",
    listed,
    async answer({ program }, { principal }) {
      if (program === undefined) return answered({ guide }, guide);
      return checkedAnswer(await checkForSubmission(context, principal, JSON.stringify(program)));
    },
  };
}

type DescribedProgram = Awaited<ReturnType<typeof checkForSubmission>>;

function checkedAnswer({ faults, omittedFaults, estimate, needsApproval, notes }: DescribedProgram): ToolAnswer {
  if (faults.length > 0) {
    const told = faults.map(({ reason, field, message, help }) => ({
      ...{ reason, field: field.replace(/^programJson/, "program") },
      ...{ message: spoken(message), help: spoken(help) },
    }));
    const lines = told.map(({ reason, field, message, help }) => `${field} ${reason}: ${message}: ${help}`);
    if (omittedFaults > 0) lines.push(`and ${omittedFaults} more`);
    return { texts: [lines.join("\n")], structured: { faults: told, omittedFaults }, isError: true };
  }
  const { callsMin = 0, callsMax = 0, writesMax = 0, destructiveMax = 0, rowsMax = 0, asksMax = 0 } = estimate ?? {};
  const most = { callsMin, callsMax, writesMax, destructiveMax, rowsMax, asksMax, needsApproval };
  const approval = needsApproval ? " A person must approve it before it begins." : "";
  const text =
    `No errors. It makes ${callsMin} to ${callsMax} calls, at most ${writesMax} of them writes and ${destructiveMax} destructive, over at most ` +
    `${rowsMax} rows, and asks at most ${asksMax} questions.${approval} Run it with run_program.`;
  return withNotes(answered({ faults: [], ...most }, text), notes);
}

/** Dependencies and settings of a node's jobs. */
export type JobsOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly nodeId: NodeId;
  readonly views: CatalogViews;
  readonly accounts: Pick<AccountAccess, "resolve">;
  readonly caller: ToolCaller;
  /** Checks that ask endpoints have allowed addresses, by the same rules as for subscriptions. */
  readonly guard: AddressGuard;
  readonly dispatcher: Pick<Dispatcher, "wake" | "expire">;
  /** Applies the filters of subscriptions to the operational events about failed jobs. */
  readonly filters: OperationalFilters;
  /** Measures how long the work of each job uses the node's event loop. */
  readonly meter: WorkMeter;
  /** Worker threads for expensive evaluations. Their entry point must be `evaluationThread` of the program package. */
  readonly threads: ThreadPool;
  readonly observer?: EngineObserver | undefined;
  readonly askObserver?: AskObserver | undefined;
  /** Limits of the engine that differ from the defaults. */
  readonly limits?: Partial<EngineLimits> | undefined;
  /** Returns the console's address with a trailing slash, or undefined if no console is served. */
  readonly consoleUrl?: (() => string) | undefined;
  /** For which toolkits (apps) the sandbox answers instead of the app. The logs of their jobs then say so. */
  readonly sandboxMode: SandboxMode;
  /** Time for which svc keeps a job after its end, in milliseconds. Undefined: svc keeps ended jobs forever. */
  readonly jobRetentionMs?: number | undefined;
  /** Longest pause between two reads of a watched log, in milliseconds. Default 500. */
  readonly watchPollMs?: number | undefined;
  /**
   * Called in the transaction that ends an approval dry run. Such a dry run simulates a standing program (a program that starts jobs on a
   * schedule or event) before people approve it. The function stores the result of the dry run in the same transaction.
   */
  readonly onRehearsed?: OnDryRunEnd | undefined;
  /**
   * Called when a task becomes due on a node that leaves tasks to other nodes. The caller can then tell another node at once that there is
   * work.
   */
  readonly onDueElsewhere?: (() => void) | undefined;
  /** For tests: called at points of the job engine where work is only half done. A test may end the node there. */
  readonly onFaultPoint?: OnFaultPoint | undefined;
};

/** The parts of a node that run jobs and answer API calls about jobs. */
export type Jobs = {
  readonly engine: JobEngine;
  readonly hints: JobHints;
  /** API calls that wait until a job ends. When the node stops, `end` makes these calls return, even if the jobs have not ended. */
  readonly waits: Pick<JobWaits, "end">;
  /**
   * Calls a skill (a program that was promoted to a tool). svc uses this function for tools that it carries out itself (kind CODE) instead
   * of an app.
   */
  readonly callSkill: CodeCaller;
  /** Returns the tool for an older version of a skill (for example `skills.announce@3`). */
  readonly findSkill: CodeFinder;
  /** Asks a person to confirm a call. It submits a job that makes the call after the person has agreed. */
  readonly askPerson: PersonAsker;
  /** Starts the jobs of standing programs (programs that start jobs on a schedule or event). */
  readonly starter: JobStarter;
  readonly jobsService: ReturnType<typeof createJobsService>;
  readonly contactsService: ReturnType<typeof createContactsService>;
  /** The methods of AdminService with which an administrator parks jobs of any project (stops them until release) and releases them. */
  readonly administration: JobAdministration;
  /** Links through which contacts without a key answer. */
  readonly answerLinks: AnswerLinks;
  /** Tools with which agents check and run programs. */
  readonly agentTools: readonly AgentTool[];
  /** Methods with which clients of the agents' protocol (MCP) follow jobs as tasks. */
  readonly tasksOffer: McpOffer;
};

/**
 * Creates the parts of a node that run jobs and answer API calls about jobs. Does not start the engine (the part that runs the steps of
 * jobs).
 */
export function createJobs({ observer = silentObserver, askObserver, ...options }: JobsOptions): Jobs {
  const { limits, onFaultPoint, watchPollMs } = options;
  const hints = createJobHints();
  const waits = createJobWaits({ ...options, hints });
  const programs = createProgramCache(options.sealer);
  const asks: AskContext = {
    ...options,
    ...(askObserver && { observer: askObserver }),
    onDue: () => engine.wake(),
    moveJob: (tx, jobId) => engine.settled(tx, jobId),
    onLogged: (jobId) => hints.notify(jobId),
  };
  const engine: JobEngine = createJobEngine({
    ...options,
    asks: askPort,
    handlers: createAskHandlers(asks),
    programs,
    evaluator: createEvaluator(options.threads),
    hashReceipt,
    observer,
    onMoved: hints.notify,
    limits: limits ?? {},
    onFaultPoint,
  });
  const context = {
    ...asks,
    views: options.views,
    meter: options.meter,
    accounts: options.accounts,
    programs,
    engine,
    hints,
    waits,
    sandboxMode: options.sandboxMode,
    ...(watchPollMs !== undefined && { watchPollMs }),
  };
  const agents = { ...context, asks: askPort, jobRetentionMs: options.jobRetentionMs };
  return {
    engine,
    hints,
    waits,
    callSkill: createSkillCaller(context),
    findSkill: (projectId, toolSlug) => findSkillTool(options.db, projectId, toolSlug),
    askPerson: createPersonAsker(context),
    starter: createJobStarter({ ...context, asks: askPort }),
    jobsService: createJobsService(context),
    contactsService: createContactsService(context),
    administration: createJobAdministration(context),
    answerLinks: createAnswerLinks(asks),
    agentTools: [createCheckProgramTool(agents), createRunProgramTool(agents)],
    tasksOffer: createTasksOffer(agents),
  };
}

/**
 * Creates the function that calls skills (programs that a project uses as tools). A call submits a job of the skill's program with the
 * current definitions of its tools, and returns the job's id. If the program has errors and cannot be submitted, the outcome is
 * `not_callable`, with these errors.
 */
function createSkillCaller(context: SkillContext): CodeCaller {
  return (call) => callSkill(context, call);
}

async function callSkill(context: SkillContext, call: CodeCall): Promise<CodeAnswer> {
  const { caller, tool, args } = call;
  const { projectId, keyId, role = "member", binding = null, confirm } = caller;
  const named = readSkillName(tool.slug);
  const skill = named && (await skillsForProject(context.db, projectId).find(named));
  if (skill === undefined || keyId === undefined) {
    return { outcome: "not_callable", message: `${tool.slug} is a skill that this caller cannot start` };
  }
  const programJson = openReadable(context.sealer, { projectId, programDigest: skill.programDigest }, skill);
  const { inputSchema } = parseCheckedProgram(programJson);
  const input = (inputSchema === undefined ? args : fillInput(inputSchema, args)) as JsonObject;
  const submitted = await submit(
    { ...context, asks: askPort },
    {
      projectId,
      keyId,
      role,
      binding,
      confirm,
      programJson,
      mode: "live",
      simulateFirst: false,
      idempotencyKey: undefined,
      skill: { slug: skillToolSlug(skill.slug), calledAs: tool.slug, within: `${skill.slug}@${skill.version}`, input },
    },
  );
  if ("refusal" in submitted) return refused(call, submitted.refusal);
  return { outcome: "ok", value: { job_id: submitted.id }, isSandbox: submitted.isSandbox };
}

/** Returns the outcome of a tool call whose job could not start. The outcome contains the error with which SubmitJob refused the job. */
function refused({ tool }: CodeCall, { details, message }: Fault): CodeAnswer {
  const lacksAccounts = details.every(({ reason }) => reason === "PROGRAM_ACCOUNT_MISSING");
  const outcome = lacksAccounts ? "no_account" : "not_callable";
  return { outcome, message: `${tool.slug} cannot start now: ${message}` };
}

/** Returns the methods of AdminService about jobs. Their caller is always the administrator. */
function createJobAdministration(context: JobAdministrationContext): JobAdministration {
  const { engine } = context;
  return {
    async parkJob(request) {
      const job = jobOf(request);
      assertDone(job.jobId, await engine.park(job, byAdministrator), jobFaults.JOB_NOT_PARKABLE);
      return { job: await readJob(context, job.projectId, "jobId", job.jobId) };
    },
    async releaseJob(request) {
      const job = jobOf(request);
      assertDone(job.jobId, await engine.release(job, byAdministrator), jobFaults.JOB_NOT_RELEASABLE);
      return { job: await readJob(context, job.projectId, "jobId", job.jobId) };
    },
  };
}

function jobOf(request: { readonly projectId: string; readonly jobId: string }): JobOfProject {
  return {
    projectId: requireId("prj", "projectId", request.projectId),
    jobId: requireId("job", "jobId", request.jobId),
  };
}

function assertDone(id: Id<"job">, forced: ForceResult, refusal: (id: string, standing: string) => Fault): void {
  switch (forced.outcome) {
    case "done":
      return;
    case "missing":
      throw askFaults.JOB_NOT_FOUND("jobId", id);
    case "refused": {
      const { status, parkReason } = forced;
      if (isEnd(status)) throw jobFaults.JOB_FINISHED("jobId", id, status);
      throw refusal(id, parkReason === undefined ? status : `${status} (${parkReason})`);
    }
    default:
      assertExhaustive(forced);
  }
}
