import {
  type AnswerLinks,
  type AskContext,
  type AskObserver,
  askPort,
  createAnswerLinks,
  createAskHandlers,
  createContactsService,
} from "@svc/asks";
import type { CatalogViews } from "@svc/catalog";
import type { AccountAccess } from "@svc/connections";
import type { AddressGuard, Clock, NodeId, Sealer, ThreadPool, WorkMeter } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { Dispatcher } from "@svc/delivery";
import { createEvaluator } from "@svc/program";
import type { AgentTool, CodeCaller, CodeFinder, McpOffer, PersonAsker, ToolCaller } from "@svc/tools";
import { createCheckProgramTool } from "./agents/check-program-tool.ts";
import { createRunProgramTool } from "./agents/run-program-tool.ts";
import { createTasksOffer } from "./agents/tasks.ts";
import { createJobAdministration, type JobAdministration } from "./api/administration.ts";
import { createJobHints, type JobHints } from "./api/hints.ts";
import { hashReceipt } from "./api/receipt-hash.ts";
import { createJobsService } from "./api/service.ts";
import type { EngineLimits, OnRehearsed } from "./drive/context.ts";
import { createJobEngine, type JobEngine } from "./drive/engine.ts";
import type { OnFaultPoint } from "./drive/fault-points.ts";
import { type EngineObserver, silentObserver } from "./drive/observer.ts";
import { createProgramCache } from "./drive/programs.ts";
import { createPersonAsker } from "./held/ask-person.ts";
import { createSkillCaller } from "./skills/call-skill.ts";
import { findSkillTool } from "./skills/toolkit.ts";
import { createJobStarter, type JobStarter } from "./starts/starter.ts";

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
