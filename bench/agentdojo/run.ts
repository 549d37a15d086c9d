import { delay } from "../monotonic.ts";
import { benchAdminToken, callServer } from "../server.ts";
import { classOf, type Suite, type TaskCalls } from "./suites.ts";

/** The calls that a person must confirm: see ConfirmPolicy of the contract. */
export type Policy = "destructive" | "writes";

/** Results of all pairs of a suite under one policy. */
export type SuiteRun = {
  /** Pairs of a user's task and an injected task for which the suite states the calls. */
  readonly pairs: number;
  /** Pairs in which at least one call of the injected task was held back. */
  readonly held: number;
  /** Pairs in which every call of the injected task was held back. */
  readonly allHeld: number;
  /** Calls of the users' tasks, and how many of them were not made. */
  readonly benign: number;
  readonly lost: number;
  /** Number of confirmations that the users' tasks needed from a person. */
  readonly asked: number;
  readonly userTasks: number;
  /** Number of all calls made, which the test app must have received. */
  readonly made: number;
};

/** The service, and the key of the person who confirms calls. */
export type Desk = { readonly port: number; readonly personKey: string };

const principalId = "lead";
/**
 * Returns the entity whose accounts the agent uses. Pairs that run at the same time have different entities, because the service asks only
 * once about two identical calls of an entity.
 */
const entityOf = (at: number) => `user-${at}`;
const entitiesMax = 20;

/** Creates the person who is asked, with a key, and publishes the toolkits. */
export async function prepareDesk(
  port: number,
  definitions: readonly { readonly toolkit: { readonly slug: string } }[],
): Promise<Desk & { readonly projectId: string }> {
  const admin = (method: string, request: object) =>
    callServer(port, `AdminService/${method}`, request, benchAdminToken);
  const { projects } = (await admin("ListProjects", {})) as { projects: { id: string }[] };
  const projectId = projects[0]?.id ?? "";
  const made = (await admin("CreateApiKey", { projectId, role: "ROLE_APPROVER", name: "person" })) as { key: string };
  await callServer(port, "ContactsService/PutContact", { contact: { principalId, name: "Team lead" } });
  for (const definition of definitions) {
    const definitionJson = JSON.stringify(definition);
    await callServer(port, "CatalogService/PublishToolkit", { definitionJson }, made.key);
    const toolkitSlug = definition.toolkit.slug;
    for (let at = 0; at < entitiesMax; at += 1)
      await callServer(port, "ConnectionsService/InitiateConnection", {
        toolkitSlug,
        entityId: entityOf(at),
        scheme: "none",
      });
  }
  return { port, projectId, personKey: made.key };
}

/** Sets which calls a person must confirm in the project. */
export async function setPolicy(port: number, projectId: string, person: Policy): Promise<void> {
  const confirm = { person, contact: principalId };
  await callServer(port, "AdminService/SetProjectPolicy", { projectId, confirm }, benchAdminToken);
}

/**
 * Runs every pair of a suite: the calls of the user's task, then those of the injected one, all with the agent's key. As an attentive
 * person would, the person answers proceed for calls of the user's task and abort for the others.
 */
export async function runSuite(desk: Desk, suite: Suite): Promise<SuiteRun> {
  const total = {
    pairs: 0,
    held: 0,
    allHeld: 0,
    benign: 0,
    lost: 0,
    asked: 0,
    userTasks: suite.userTasks.length,
    made: 0,
  };
  const injected = suite.injectionTasks.filter(({ calls }) => calls.length > 0);
  for (const user of suite.userTasks) {
    await Promise.all(
      injected.map(async (injection, at) => {
        const entityId = entityOf(at);
        const own = await makeCalls(desk, { suite, entityId, task: user, continuation: "proceed" });
        const foreign = await makeCalls(desk, { suite, entityId, task: injection, continuation: "abort" });
        total.pairs += 1;
        total.held += foreign.made < injection.calls.length ? 1 : 0;
        total.allHeld += foreign.made === 0 ? 1 : 0;
        total.benign += user.calls.length;
        total.lost += user.calls.length - own.made;
        total.asked += own.asked;
        total.made += own.made + foreign.made;
      }),
    );
  }
  return total;
}

type Calls = {
  readonly suite: Suite;
  readonly entityId: string;
  readonly task: TaskCalls;
  /** Answer of the person for every question. */
  readonly continuation: "proceed" | "abort";
};

/** Number of calls so far. It makes every call distinct, because the service does not ask twice about the same call. */
let callsMade = 0;

async function makeCalls(desk: Desk, { suite, entityId, task, continuation }: Calls) {
  const count = { made: 0, asked: 0 };
  for (const call of task.calls) {
    const toolSlug = `${suite.name}.${call.function}`;
    // The model's own confirmation is set, as an injected text would demand.
    const confirm = classOf(toolSlug) === "destructive" ? { confirm: true } : {};
    callsMade += 1;
    const idempotencyKey = `call-${callsMade}`;
    const request = {
      toolSlug,
      entityId,
      idempotencyKey,
      argumentsJson: JSON.stringify({ ...withoutNull(call.args), ...confirm }),
    };
    const answer = (await callServer(desk.port, "ToolsService/CallTool", request)) as {
      outcome: string;
      jobId?: string;
    };
    if (answer.outcome === "held" && answer.jobId) {
      count.asked += 1;
      count.made += (await settle(desk, answer.jobId, continuation)) ? 1 : 0;
    } else if (answer.outcome === "ok") count.made += 1;
    else throw new Error(`${toolSlug} ended as ${JSON.stringify(answer)}`);
  }
  return count;
}

function withoutNull(args: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

const ended = new Set(
  ["SUCCEEDED", "FAILED", "ABORTED", "REJECTED", "EXPIRED", "CANCELLED"].map((one) => `JOB_STATUS_${one}`),
);

/** Gives the person's answer. Returns true if the call was then made. */
async function settle({ port, personKey }: Desk, jobId: string, continuation: string): Promise<boolean> {
  await callServer(port, "JobsService/AnswerAsk", { jobId, principalId, continuation }, personKey);
  for (;;) {
    const { job } = (await callServer(port, "JobsService/GetJob", { id: jobId })) as { job: { status: string } };
    if (ended.has(job.status)) return job.status === "JOB_STATUS_SUCCEEDED";
    await delay(20);
  }
}
