import { type Client, Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { type Catalog, type CatalogViews, createCatalogViews } from "@svc/catalog";
import { catalogOf } from "@svc/catalog/testing";
import { createAccountAccess } from "@svc/connections";
import {
  createAddressGuard,
  createId,
  createSealer,
  type KeyId,
  type ProjectId,
  principalContext,
  type Role,
  type Sealer,
  systemClock,
} from "@svc/core";
import { activateAccount, createProject, type Database, loadJob } from "@svc/db";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { type Job, JobsService } from "@svc/gen/jobs";
import { type CodeCaller, createLedger, createToolCaller, type ToolCaller } from "@svc/tools";
import type { AskContext } from "../asks/context.ts";
import { createAskHandlers } from "../asks/handlers.ts";
import { askPort } from "../asks/port.ts";

import { hashReceipt } from "../convert/receipt-hash.ts";
import { createJobEngine, type JobEngine } from "../engine/engine.ts";
import { createProgramCache } from "../engine/programs.ts";
import { createWorld, desk, type World } from "../engine/test-engine.ts";
import { createPinReader, type Pins } from "../program/pins.ts";
import { createSkillCaller } from "../skills/call-skill.ts";
import { readSkillToolkits } from "../skills/toolkit.ts";
import { createJobHints, type JobHints } from "./hints.ts";
import { createJobsService } from "./service.ts";

/** A project with a key of each role and an account of the desk for entity `ops`. */
export type TestProject = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  readonly client: Client<typeof JobsService>;
  /** The same project's client with another key. */
  as(role: Role, keyId?: KeyId): Client<typeof JobsService>;
};

/** One node as far as jobs go: service, engine, asks, skills and calls over the desk. Its clock is the machine's. */
export type TestNode = AsyncDisposable & {
  readonly db: Database;
  readonly world: World;
  readonly views: CatalogViews;
  readonly caller: ToolCaller;
  readonly engine: JobEngine;
  readonly hints: JobHints;
  /** Ends every call under way. */
  readonly shutdown: AbortController;
  project(): Promise<TestProject>;
  /** Waits until a job has a status of the store. */
  reach(jobId: string, ...statuses: string[]): Promise<void>;
};

let projects = 0;

/** Makes a node on a database. `isStarted` false leaves the engine idle: what is submitted stays as it is. */
export function createTestNode(
  db: Database,
  {
    world = createWorld(),
    isStarted = true,
    catalog = catalogOf({ toolkits: [desk] }),
    watchPollMs = 20,
  }: { world?: World; isStarted?: boolean; catalog?: Catalog; watchPollMs?: number } = {},
): TestNode {
  const clock = systemClock;
  const sealer = createSealer([{ id: "k1", secret: Buffer.alloc(32, 7) }]);
  const nodeId = createId("node", clock.now());
  const views = createCatalogViews({
    catalog,
    db,
    clock,
    onBroken: () => {},
    extraToolkits: (projectId) => readSkillToolkits(db, projectId),
  });
  const oauth = { clientOf: () => undefined, fetch: () => Promise.reject(new Error("no token endpoint")) };
  const accounts = createAccountAccess({ db, clock, sealer, oauth, isSandbox: true });
  const hints = createJobHints();
  const callCode: CodeCaller = (call) => callSkill(call);
  const caller = createToolCaller({
    views,
    accounts,
    transport: world.transport,
    ledger: createLedger({ db, clock, sealer }),
    db,
    clock,
    isSandbox: true,
    onUnrecorded: () => {},
    callCode,
  });
  const askContext: AskContext = {
    db,
    clock,
    sealer,
    guard: createAddressGuard({ allowedRanges: ["127.0.0.0/8"] }),
    nodeId,
    caller,
    dispatcher: { wake: () => {}, expire: async () => {} } as unknown as AskContext["dispatcher"],
    onDue: () => engine.wake(),
    moveJob: (tx, jobId) => engine.settled(tx, jobId),
    onLogged: (jobId) => hints.notify(jobId),
  };
  const pins = createPinReader();
  const engine: JobEngine = createJobEngine({
    db,
    clock,
    sealer,
    caller,
    nodeId,
    asks: askPort,
    programs: createProgramCache((text) => pins.tools(JSON.parse(text) as Pins)),
    handlers: createAskHandlers(askContext),
    hashReceipt,
    limits: { pollMs: 20 },
    observer: {
      moved: (jobId) => hints.notify(jobId),
      leaseLost: () => {},
      failed: (what, error) => process.stderr.write(`${what}: ${error instanceof Error ? error.stack : error}\n`),
    },
  });
  const context = { ...askContext, views, accounts, engine, hints, watchPollMs };
  const callSkill = createSkillCaller(context);
  const shutdown = new AbortController();
  const service = createJobsService(context);
  const clientOf = (projectId: ProjectId, keyId: KeyId, role: Role) =>
    createClient(
      JobsService,
      createRouterTransport((router) => router.service(JobsService, service), {
        router: {
          shutdownSignal: shutdown.signal,
          interceptors: [
            (next) => (req) => {
              req.contextValues.set(principalContext, { kind: "project", projectId, keyId, role });
              return next(req);
            },
          ],
        },
      }),
    );
  if (isStarted) engine.start();
  return {
    db,
    world,
    views,
    caller,
    engine,
    hints,
    shutdown,
    async project() {
      const nowMs = clock.now();
      const { id: projectId } = await createProject(db, `jobs-${++projects}`, nowMs);
      await connectDesk(db, sealer, projectId, nowMs);
      const keyId = createId("key", nowMs);
      const as = (role: Role, key = keyId) => clientOf(projectId, key, role);
      return { projectId, keyId, client: as("approver"), as };
    },
    async reach(jobId, ...statuses) {
      const end = performance.now() + 15_000;
      for (;;) {
        const job = await loadJob(db, jobId as Parameters<typeof loadJob>[1]);
        if (job !== undefined && statuses.includes(job.status)) return;
        if (performance.now() > end) throw new Error(`the job is ${job?.status} (${job?.lastError})`);
        await clock.wait(2);
      }
    },
    async [Symbol.asyncDispose]() {
      if (isStarted) await engine.drain(0);
    },
  };
}

async function connectDesk(db: Database, sealer: Sealer, projectId: ProjectId, nowMs: number): Promise<void> {
  const id = createId("acc", nowMs);
  const credential = sealer.seal(Buffer.from('{"scheme":"none"}'), `${projectId}/connected_accounts/${id}`);
  const account = {
    id,
    projectId,
    toolkitSlug: "desk",
    isPrivate: false,
    isSandbox: true,
    entityId: "ops",
    scheme: "none",
    variables: {},
    credential,
    originDigest: null,
    grantedScopes: [],
    createdAt: nowMs,
    updatedAt: nowMs,
    expiresAt: null,
    refreshAt: null,
  };
  await activateAccount(db, account, { isNew: true, referencesOf: () => [], exclusiveOf: () => [] });
}

/** How a call was refused: its code and its details. A call that succeeds is a fault of the test. */
export async function refusalOf(
  call: Promise<unknown>,
): Promise<{ code: string; details: { reason: string; field: string }[] }> {
  const error = await call.then(
    () => undefined,
    (cause: unknown) => ConnectError.from(cause),
  );
  if (error === undefined) throw new Error("the call was not refused");
  const details = error.findDetails(ErrorDetailSchema).map(({ reason, field }) => ({ reason, field }));
  return { code: Code[error.code], details };
}

/** The text of a program with what every program has. */
export function programText(program: object): string {
  return JSON.stringify({ version: 1, title: "Test", ...program });
}

/** The job of a response, which always has one. */
export function jobOf({ job }: { readonly job?: Job | undefined }): Job {
  if (job === undefined) throw new Error("the response has no job");
  return job;
}
