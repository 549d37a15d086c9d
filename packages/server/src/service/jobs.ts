import type { ConnectRouter } from "@connectrpc/connect";
import type { CatalogViews } from "@svc/catalog";
import type { AccountAccess } from "@svc/connections";
import type { AddressGuard, Clock, NodeId, Sealer } from "@svc/core";
import type { Database } from "@svc/db";
import type { Dispatcher } from "@svc/delivery";
import { ContactsService } from "@svc/gen/contacts";
import { JobsService } from "@svc/gen/jobs";
import {
  type AskContext,
  askPort,
  createAskHandlers,
  createContactsService,
  createJobEngine,
  createJobHints,
  createJobsService,
  createPinReader,
  createProgramCache,
  createSkillCaller,
  hashReceipt,
  type JobEngine,
  type Pins,
} from "@svc/jobs";
import type { CodeCaller, ToolCaller } from "@svc/tools";
import type { Logger } from "../logger.ts";

/** What runs and serves jobs on this node. */
export type Jobs = {
  readonly engine: JobEngine;
  /** Calls a promoted program; tools of kind CODE lead here. */
  readonly callSkill: CodeCaller;
  /** Adds JobsService and ContactsService. */
  register(router: ConnectRouter): void;
};

/** What the parts are made of. */
export type JobsOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly nodeId: NodeId;
  readonly views: CatalogViews;
  readonly accounts: AccountAccess;
  readonly caller: ToolCaller;
  /** Judges the addresses of ask endpoints, as of subscriptions. */
  readonly guard: AddressGuard;
  readonly dispatcher: Dispatcher;
  readonly logger: Logger;
};

/** Makes the parts of a node that run and serve jobs. */
export function createJobs(options: JobsOptions): Jobs {
  const { logger } = options;
  const hints = createJobHints();
  const asks: AskContext = {
    ...options,
    onDue: () => engine.wake(),
    moveJob: (tx, jobId) => engine.settled(tx, jobId),
    onLogged: (jobId) => hints.notify(jobId),
  };
  const pins = createPinReader();
  const engine: JobEngine = createJobEngine({
    ...options,
    asks: askPort,
    handlers: createAskHandlers(asks),
    programs: createProgramCache((text) => pins.tools(JSON.parse(text) as Pins)),
    hashReceipt,
    observer: {
      moved: (jobId) => hints.notify(jobId),
      leaseLost: (jobId) => logger.warn({ jobId }, "the lease of a job was lost; another node goes on with it"),
      failed: (what, err) => logger.warn({ err, what }, "work of jobs failed and is tried again"),
    },
  });
  const context = { ...asks, views: options.views, accounts: options.accounts, engine, hints };
  const service = createJobsService(context);
  const contacts = createContactsService(context);
  return {
    engine,
    callSkill: createSkillCaller(context),
    register(router) {
      router.service(JobsService, service);
      router.service(ContactsService, contacts);
    },
  };
}
