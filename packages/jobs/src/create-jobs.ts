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
import { type CatalogViews, fillInput } from "@svc/catalog";
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
import { describeProgram } from "./api/check-program.ts";
import type { JobsContext } from "./api/context.ts";
import { hashReceipt } from "./api/convert-receipts.ts";
import { createJobHints, type JobHints, withNotes } from "./api/notes.ts";
import { readJob } from "./api/read.ts";
import { createJobsService } from "./api/service.ts";
import { submit } from "./api/submit.ts";
import type { EngineLimits, OnRehearsed } from "./drive/context.ts";
import { createJobEngine, type JobEngine } from "./drive/engine.ts";
import { type EngineObserver, type OnFaultPoint, silentObserver } from "./drive/observer.ts";
import type { Forced, JobOfProject } from "./drive/schedule/force.ts";
import { createProgramCache, openReadable } from "./drive/store/stored-program.ts";
import { jobFaults } from "./errors.ts";
import { createPersonAsker } from "./held/ask-person.ts";
import type { SkillContext } from "./skills/call-skill.ts";
import { findSkillTool, skillToolSlug } from "./skills/toolkit.ts";
import { createJobStarter, type JobStarter } from "./starts/starter.ts";
import { isEnd } from "./state/statuses.ts";

/** What they work with. */
type JobAdministrationContext = Pick<JobsContext, "db" | "sealer"> & {
  readonly engine: Pick<JobEngine, "park" | "release">;
};

/** Who asked, as the log names it: the deployment has one administrator. */
const byAdministrator: readonly string[] = ["administrator"];

const listed: ListedTool = {
  name: "check_program",
  title: "Check a program",
  description:
    "Checks a program for run_program and runs nothing: tells every fault at once, each with its place and what would be right, or what the " +
    "program can do at most. Without arguments it returns how programs are written: read that first.",
  inputSchema: {
    type: "object",
    additionalProperties: false,
    properties: { program: { type: "object", description: "The program. Leave it out to read how one is written." } },
  },
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
};

/** Checks programs, and teaches how they are written. */
function createCheckProgramTool(context: AgentJobsContext): AgentTool {
  return {
    group: "programs",
    listed,
    async answer({ program }, { principal }) {
      if (program === undefined) return answered({ guide }, guide);
      return checkedAnswer(await describeProgram(context, principal, JSON.stringify(program)));
    },
  };
}

type Checked = Awaited<ReturnType<typeof describeProgram>>;

function checkedAnswer({ faults, omittedFaults, estimate, needsApproval, notes }: Checked): ToolAnswer {
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
    `No faults. It makes ${callsMin} to ${callsMax} calls, at most ${writesMax} of them writes and ${destructiveMax} destructive, over at most ` +
    `${rowsMax} rows, and asks at most ${asksMax} questions.${approval} Run it with run_program.`;
  return withNotes(answered({ faults: [], ...most }, text), notes);
}

/** What the jobs of a node are made of. */
export type JobsOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly nodeId: NodeId;
  readonly views: CatalogViews;
  readonly accounts: Pick<AccountAccess, "resolve">;
  readonly caller: ToolCaller;
  /** Judges the addresses of ask endpoints, as of subscriptions. */
  readonly guard: AddressGuard;
  readonly dispatcher: Pick<Dispatcher, "wake" | "expire">;
  /** Meters what drivers do, by job. */
  readonly meter: WorkMeter;
  /** Threads whose entry is `evaluationThread` of the program's package: what is expensive to evaluate runs there. */
  readonly threads: ThreadPool;
  readonly observer?: EngineObserver | undefined;
  readonly askObserver?: AskObserver | undefined;
  /** Bounds of the engine that differ from the defaults. */
  readonly limits?: Partial<EngineLimits> | undefined;
  /** The address of the console, with a slash at its end; undefined where none is served. */
  readonly consoleUrl?: (() => string) | undefined;
  /** Whether an emulator answers in place of the apps, which the logs of jobs tell. Default false. */
  readonly isSandbox?: boolean | undefined;
  /** How long jobs that have ended are kept, milliseconds; undefined: for good. */
  readonly jobRetentionMs?: number | undefined;
  /** Longest pause between two looks at a log that is watched, milliseconds. Default 500. */
  readonly watchPollMs?: number | undefined;
  /** Does what is to be committed with the end of a rehearsal, which a standing program is asked about by. */
  readonly onRehearsed?: OnRehearsed | undefined;
  /** For tests: comes to a fault point of the engine. */
  readonly onFaultPoint?: OnFaultPoint | undefined;
};

/** What runs and serves jobs on a node. */
export type Jobs = {
  readonly engine: JobEngine;
  readonly hints: JobHints;
  /** Calls a promoted program; tools of kind CODE lead here. */
  readonly callSkill: CodeCaller;
  /** Finds the tool of a version of a skill that is not the newest. */
  readonly findSkill: CodeFinder;
  /** Asks a person about a call that one confirms, by a job that then makes it. */
  readonly askPerson: PersonAsker;
  /** Starts jobs of programs that stand. */
  readonly starter: JobStarter;
  readonly jobsService: ReturnType<typeof createJobsService>;
  readonly contactsService: ReturnType<typeof createContactsService>;
  /** The methods of AdminService about jobs, of every project. */
  readonly administration: JobAdministration;
  /** Links by which contacts without a key answer. */
  readonly answerLinks: AnswerLinks;
  /** What agents check and run programs with. */
  readonly agentTools: readonly AgentTool[];
  /** Jobs as tasks of agents' protocol. */
  readonly tasksOffer: McpOffer;
};

/** Makes what runs and serves jobs on a node. The engine is not started. */
export function createJobs({ observer = silentObserver, askObserver, ...options }: JobsOptions): Jobs {
  const { limits, onFaultPoint, watchPollMs } = options;
  const hints = createJobHints();
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
    accounts: options.accounts,
    programs,
    engine,
    hints,
    isSandbox: options.isSandbox,
    ...(watchPollMs !== undefined && { watchPollMs }),
  };
  const agents = { ...context, asks: askPort, jobRetentionMs: options.jobRetentionMs };
  return {
    engine,
    hints,
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
 * Makes the caller of skills: a call submits a job of the skill's program, with the arguments as its input and on the definitions
 * of today, and answers the job's id. A plan that cannot be submitted now is not callable, and its faults are told.
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
    return { outcome: "not_callable", message: `${tool.slug} is a skill that this caller cannot begin` };
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
  return { outcome: "ok", value: { job_id: submitted.id } };
}

/** What SubmitJob would refuse is an outcome of the call: nothing was begun. */
function refused({ tool }: CodeCall, { details, message }: Fault): CodeAnswer {
  const lacksAccounts = details.every(({ reason }) => reason === "PROGRAM_ACCOUNT_MISSING");
  const outcome = lacksAccounts ? "no_account" : "not_callable";
  return { outcome, message: `${tool.slug} cannot be begun now: ${message}` };
}

/** Makes the methods of AdminService about jobs. Whoever reaches them is the administrator. */
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

function assertDone(id: Id<"job">, forced: Forced, refusal: (id: string, standing: string) => Fault): void {
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
