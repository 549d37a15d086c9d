import type { CatalogViews } from "@svc/catalog";
import type { AccountAccess, CallableAccount } from "@svc/connections";
import { type Clock, createId, type ProjectId, type Sealer, uuidOfId } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { createProject } from "@svc/db/projects/repo";
import { createTestClock, type TestClock } from "@svc/testing/clock";
import { createTestNode as createNode, type TestNode as Node, testSealer } from "@svc/testing/node";
import { answerOf } from "../service/call-request.ts";
import type { CallAnswer, CallReply } from "./call-reply.ts";
import type { CallRequest } from "./call-request.ts";
import type { DrainingToolCaller } from "./call-tool.ts";
import type { Ledger } from "./record/ledger.ts";
import type { CallObservation } from "./record/observer.ts";
import { testCatalog } from "./test-toolkits.ts";
import { createScriptedApp, type ScriptedApp } from "./test-transport.ts";

/** Credential of every connected account in these tests. */
export const credential = "planted-credential";

/** Connected accounts of these tests. Every entity (customer or user) has one, except `nobody` and `expired`. */
export type TestAccounts = AccountAccess & {
  /**
   * Renewals of access tokens after an app refused them. `renews`: true if the next renewal succeeds. `count`: number of renewals that were
   * requested.
   */
  refusals: { renews: boolean; count: number };
  grantedScopes: readonly string[];
  /** Function that a test may set. It runs before the credential of an account is read. */
  onAuthorize: () => void;
};

function createTestAccounts(): TestAccounts {
  const accounts = new Map<string, CallableAccount>();
  const withCredential = (request: Parameters<AccountAccess["preview"]>[2], value: string) => ({
    ...request,
    headers: { ...request.headers, authorization: `Bearer ${value}` },
  });
  const made: TestAccounts = {
    refusals: { renews: false, count: 0 },
    grantedScopes: [],
    onAuthorize: () => {},
    async resolve({ projectId, toolkit, entityId, accountId }) {
      if (entityId === "nobody") return { kind: "no_account", message: "nobody has no account" };
      if (entityId === "expired") return { kind: "account_unusable", message: "the account is expired" };
      const key = `${projectId}/${toolkit.slug}/${entityId}`;
      const known = accounts.get(key) ?? {
        id: accountId ?? createId("acc", 1),
        entityId,
        scheme: "api_key",
        variables: { site: entityId },
        grantedScopes: [],
      };
      accounts.set(key, known);
      return { ...known, grantedScopes: made.grantedScopes };
    },
    async authorize(_query, _account, request) {
      made.onAuthorize();
      return withCredential(request, credential);
    },
    preview: (_toolkit, _account, request) => withCredential(request, "***"),
    async refused() {
      made.refusals.count++;
      return made.refusals.renews;
    },
    taken: async () => undefined,
    lacked: async () => undefined,
  };
  return made;
}

/** A node for tests of tool calls. The test sets the app's answers. Accounts are in memory, and engines do not run. */
export type TestNode = {
  readonly db: Database;
  readonly clock: TestClock;
  readonly sealer: Sealer;
  readonly app: ScriptedApp;
  readonly accounts: TestAccounts;
  readonly ledger: Ledger;
  readonly views: CatalogViews;
  readonly caller: DrainingToolCaller;
  /** Tool calls that were reported to the test's observer of the ledger (the stored record of every tool call). */
  readonly observed: CallObservation[];
  /** Ids of calls whose outcome could not be recorded. */
  readonly unrecorded: readonly string[];
  /** Calls a tool of the test app for a project and the entity `ann` (a customer or user). Rejects like CallTool if there is no answer. */
  call(projectId: ProjectId, tool: string, changes?: Partial<CallRequest>): Promise<CallAnswer>;
  /**
   * Calls a tool of the test app for a project and the entity `ann` (a customer or user). Returns every outcome unchanged, including
   * refusals.
   */
  ask(projectId: ProjectId, tool: string, changes?: Partial<CallRequest>): Promise<CallReply>;
  /** Returns a client for one of the node's services, with a key of the project. */
  readonly client: Node["client"];
  /** Returns the rows of the ledger (the record of every tool call) of a project, oldest first. */
  rows(projectId: ProjectId): Promise<Record<string, unknown>[]>;
};

/**
 * Creates a test node on a database that others may share. If code waits, the node's clock moves forward by the time of the wait, and the
 * wait ends at once.
 */
export function createTestNode(
  db: Database,
  { app = createScriptedApp(), clock = createTestClock(), sealer = testSealer, catalog = testCatalog() } = {},
): TestNode {
  const impatient: Clock = { now: clock.now, wait: async (ms) => clock.advance(ms) };
  const accounts = createTestAccounts();
  const { transport } = app;
  const { views, apps, told, client } = createNode(db, {
    clock: impatient,
    catalog,
    ...{ sealer, transport, accounts },
  });
  const { caller, ledger } = apps;
  const ask: TestNode["ask"] = (projectId, tool, changes = {}) =>
    caller.call({
      caller: { projectId, keyId: createId("key", 1) },
      toolSlug: tool.includes(".") ? tool : `desk.${tool}`,
      args: { id: "t1" },
      entityId: "ann",
      accountId: undefined,
      idempotencyKey: undefined,
      isDryRun: false,
      ...changes,
    });
  const call: TestNode["call"] = async (...asked) => answerOf(await ask(...asked));
  const rows: TestNode["rows"] = async (projectId) => [
    ...(await db.sql`select * from tool_calls where project_id = ${uuidOfId(projectId)} order by id`),
  ];
  const { calls: observed, unrecorded } = told;
  return { db, clock, sealer, app, accounts, ledger, views, caller, observed, unrecorded, call, ask, client, rows };
}

let projects = 0;

/** Adds a project to the database and returns its id. */
export async function addProject(db: Database): Promise<ProjectId> {
  return (await createProject(db, `project-${++projects}`, 1)).id;
}
