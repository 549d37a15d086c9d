import type { Client, ConnectRouter } from "@connectrpc/connect";
import type { CatalogViews, Toolkit } from "@svc/catalog";
import { type AddressGuard, type Clock, createAddressGuard, type ProjectId, type Role, type Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { createProject } from "@svc/db/projects/repo";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { catalogOf, deploymentOf } from "@svc/testing/catalog";
import { createTestClock, type TestClock } from "@svc/testing/clock";
import { createTestDatabase } from "@svc/testing/database";
import { createTestNode } from "@svc/testing/node";
import { createProjectClient } from "@svc/testing/project-client";
import type { AccountAccess, AccountFault, CallableAccount } from "./account-access.ts";
import type { AppRequest } from "./app-transport.ts";
import { createAppTransport, type NetworkTransport } from "./network-transport.ts";
import type { OauthPages } from "./oauth-flow.ts";
import type { RenewalOptions } from "./renewal.ts";
import type { TestConnectionContext } from "./service/try-connection.ts";
import { createConnectionsService } from "./service.ts";
import { startTestApp, type TestApp } from "./test-app.ts";
import { testDeployment, testToolkits, testVariables } from "./test-toolkits.ts";

/** A database, a test app, and a node without engines (background work). */
export type TestConnections = AsyncDisposable & {
  readonly db: Database;
  readonly url: string;
  readonly clock: TestClock;
  readonly sealer: Sealer;
  readonly guard: AddressGuard;
  readonly views: CatalogViews;
  readonly app: TestApp;
  readonly transport: NetworkTransport;
  readonly options: TestConnectionContext & Pick<RenewalOptions, "filters">;
  readonly node: Pick<ReturnType<typeof createTestNode>, "client">;
  readonly access: AccountAccess;
  readonly pages: OauthPages;
  project(): Promise<ProjectId>;
  /** Returns a client of the node's ConnectionsService. `changes`: options that replace the service's usual options. */
  client(
    projectId: ProjectId,
    role?: Role,
    changes?: Partial<TestConnectionContext>,
  ): Client<typeof ConnectionsService>;
  toolkit(slug: string): Toolkit;
  /**
   * Publishes the definition of a private toolkit (an app's tools, for one project only) for a project and returns the compiled toolkit.
   */
  publish(projectId: ProjectId, definitionJson: string): Promise<Toolkit>;
};

/** Public address of the deployment in the tests. */
export const publicUrl = "https://svc.example.com";

/** Creates a database, a test app and a node. The clock moves only when the test moves it. */
export async function createTestConnections(): Promise<TestConnections> {
  const database = await createTestDatabase();
  const { db, url } = database;
  const clock = createTestClock();
  const app = await startTestApp();
  const transport = createAppTransport({ guard: createAddressGuard({ allowedRanges: ["127.0.0.1/32"] }) });
  const deployment = testDeployment(app.url);
  const catalog = catalogOf({ toolkits: testToolkits, deployment });
  const node = createTestNode(db, {
    clock,
    catalog,
    deployment: deploymentOf(deployment),
    variable: (name) => testVariables[name],
    ranges: { endpoints: [], apps: ["127.0.0.1/32"] },
    transport,
    publicUrl: () => publicUrl,
    observer: {
      heldLoop: () => {},
      toolkitBroken(_projectId, _slug, error) {
        throw error;
      },
    },
  });
  const { sealer } = node.parts;
  const { views, apps } = node;
  const options: TestConnections["options"] = {
    ...apps,
    views,
    db,
    clock,
    sealer,
    sandboxMode: "off",
    publicUrl: () => publicUrl,
    // No subscription of these tests has a filter.
    filters: { begin: () => async () => new Map(), countFaults: () => {} },
  };
  let projects = 0;
  return {
    node,
    ...{ db, url, clock, sealer, views, app, transport, options },
    guard: apps.guard,
    access: apps.accounts,
    pages: apps.pages,
    project: async () => (await createProject(db, `project-${++projects}`, clock.now())).id,
    client(projectId, role = "approver", changes = undefined) {
      if (changes === undefined) return node.client(ConnectionsService, { projectId, role });
      const changed = createConnectionsService({ ...options, ...changes });
      const register = (router: ConnectRouter) => router.service(ConnectionsService, changed);
      return createProjectClient(ConnectionsService, register, { projectId, role });
    },
    toolkit: (slug) => catalog.toolkits.get(slug) as Toolkit,
    async publish(projectId, definitionJson) {
      const { toolkit } = await node.client(CatalogService, { projectId }).publishToolkit({ definitionJson });
      return (await views.forProject(projectId)).toolkits.get(toolkit?.slug ?? "") as Toolkit;
    },
    async [Symbol.asyncDispose]() {
      await node[Symbol.asyncDispose]();
      await transport.close();
      await app[Symbol.asyncDispose]();
      await database.drop();
    },
  };
}

/** A request to an app before the credential is added. */
export const bareRequest: AppRequest = {
  method: "GET",
  url: "https://app.example.com/me?page=1",
  headers: { accept: "application/json" },
  body: undefined,
};

/** Returns the account that a lookup found. Throws if the lookup returned a fault. */
export function accountOf(found: CallableAccount | AccountFault): CallableAccount {
  if ("kind" in found) throw new Error(`${found.kind}: ${found.message}`);
  return found;
}

/**
 * Connects an entity (customer or user) over OAuth as a browser would. By default, connects it to the app of the test toolkit `tracker`.
 * Returns the account's id.
 */
export async function connectOverOauth(
  test: TestConnections,
  projectId: ProjectId,
  { entityId = "ada", toolkitSlug = "tracker" } = {},
): Promise<string> {
  const started = await test.client(projectId).initiateConnection({ toolkitSlug, entityId, scheme: "oauth2" });
  const browser = await test.pages.handleOauthStart(new URL(started.authorizeUrl), {});
  const cookie = (browser.headers["set-cookie"] ?? "").split(";")[0];
  const back = test.app.consent(browser.headers["location"] ?? "");
  const answer = await test.pages.handleOauthCallback(back, { cookie });
  if (answer.status !== 200) throw new Error(`the callback answered ${answer.status}`);
  return started.account?.id ?? "";
}

/** Returns a clock that runs and starts at the time of the test's clock. It is for tests that really wait. */
export function runningClock(base: Clock): Clock {
  return { now: base.now, wait: (ms, signal) => new Promise((resolve) => realWait(ms, signal, resolve)) };
}

function realWait(ms: number, signal: AbortSignal | undefined, resolve: () => void): void {
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener("abort", () => {
    clearTimeout(timer);
    resolve();
  });
}
