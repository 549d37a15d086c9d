import { type CatalogViews, createCatalogViews } from "@svc/catalog";
import type { AccountAccess, CallableAccount } from "@svc/connections";
import { type Clock, createId, createSealer, type ProjectId, parseVaultKeys, type Sealer, uuidOfId } from "@svc/core";
import { createTestClock, type TestClock } from "@svc/core/testing";
import { createProject, type Database } from "@svc/db";
import { type CallRequest, createToolCaller, type DrainingToolCaller, type ToolCaller } from "./call-tool.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { testCatalog } from "./test-toolkits.ts";
import { createScriptedApp, type ScriptedApp } from "./test-transport.ts";

/** The credential of every account of these tests. */
export const credential = "planted-credential";

/** Accounts of these tests: every entity has one, but for `nobody` and `expired`. */
export type TestAccounts = AccountAccess & {
  /** What `refused` answers next, and how often it was asked. */
  refusals: { renews: boolean; count: number };
  grantedScopes: readonly string[];
  /** Runs before a credential is read. */
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
  };
  return made;
}

/** A node as far as calls go. */
export type TestNode = {
  readonly db: Database;
  readonly clock: TestClock;
  readonly sealer: Sealer;
  readonly app: ScriptedApp;
  readonly accounts: TestAccounts;
  readonly ledger: Ledger;
  readonly views: CatalogViews;
  readonly caller: DrainingToolCaller;
  /** What could not be recorded. */
  readonly unrecorded: string[];
  /** Calls a tool of the desk for the project and entity `ann`. */
  call(projectId: ProjectId, tool: string, changes?: Partial<CallRequest>): ReturnType<ToolCaller["call"]>;
  /** The ledger's rows of a project, oldest first. */
  rows(projectId: ProjectId): Promise<Record<string, unknown>[]>;
};

const usualSealer = createSealer(parseVaultKeys(`a:${Buffer.alloc(32, 7).toString("base64")}`));

/** Makes a node over a database that others may share; the clock passes at once whenever it is waited for. */
export function createTestNode(
  db: Database,
  { app = createScriptedApp(), clock = createTestClock(), sealer = usualSealer } = {},
): TestNode {
  const impatient: Clock = { now: clock.now, wait: async (ms) => clock.advance(ms) };
  const ledger = createLedger({ db, clock, sealer });
  const views = createCatalogViews({ catalog: testCatalog(), db, clock, onBroken: () => {} });
  const accounts = createTestAccounts();
  const unrecorded: string[] = [];
  const caller = createToolCaller({
    views,
    accounts,
    transport: app.transport,
    ledger,
    db,
    clock: impatient,
    isSandbox: false,
    onUnrecorded: (callId) => unrecorded.push(callId),
  });
  const call: TestNode["call"] = (projectId, tool, changes = {}) =>
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
  const rows: TestNode["rows"] = async (projectId) => [
    ...(await db.sql`select * from tool_calls where project_id = ${uuidOfId(projectId)} order by id`),
  ];
  return { db, clock, sealer, app, accounts, ledger, views, caller, unrecorded, call, rows };
}

let projects = 0;

/** Adds a project. */
export async function addProject(db: Database): Promise<ProjectId> {
  return (await createProject(db, `project-${++projects}`, 1)).id;
}
