import type { ProjectId } from "@svc/core";
import { parseId } from "@svc/core";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import { refusalOf } from "@svc/testing/project-client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createAccountAccess } from "./access.ts";
import type { AccountQuery } from "./account-access.ts";
import { createOauthPages } from "./oauth-flow.ts";
import { createRefresher } from "./refresher.ts";
import {
  accountOf,
  bareRequest,
  connectOverOauth,
  createTestConnections,
  type TestConnections,
} from "./test-connections.ts";

// Tests that accounts of the sandbox are used only in the sandbox, and real accounts only outside it.

let t: TestConnections;
let projectId: ProjectId;

beforeAll(async () => {
  t = await createTestConnections();
});
beforeEach(async () => {
  projectId = await t.project();
  t.app.userId = `user-${projectId}`;
  t.app.tokenRequests.length = 0;
});
afterAll(() => t[Symbol.asyncDispose]());

const key = { toolkitSlug: "plain", entityId: "ada", apiKey: "real-key" };
const modeOf = (isSandbox: boolean) => (isSandbox ? "force" : "off");
const client = (isSandbox: boolean) => t.client(projectId, "approver", { sandboxMode: modeOf(isSandbox) });
const connect = async (isSandbox: boolean, changes: object = {}) =>
  (await client(isSandbox).initiateConnection({ ...key, ...changes })).account!;
const access = (isSandbox: boolean) => createAccountAccess({ ...t.options, sandboxMode: modeOf(isSandbox) });
const ask = (changes: Partial<AccountQuery> = {}): AccountQuery => ({
  projectId,
  toolkit: t.toolkit("plain"),
  entityId: "ada",
  ...changes,
});
const id = (text: string) => parseId("acc", text)!;
const rowOf = async (text: string) => (await connectedAccountsForProject(t.db, projectId).find(id(text)))!;

test.each([
  [true, 'the account of entity "ada" was made in the sandbox'],
  [false, 'the account of entity "ada" was made outside the sandbox'],
])(
  "an account made with sandbox: %s is none on the other side, named or not, and says why",
  async (madeIn, message) => {
    const account = await connect(madeIn);
    expect(account).toMatchObject({ sandbox: madeIn, state: "active" });
    expect(accountOf(await access(madeIn).resolve(ask())).id).toBe(account.id);
    const other = access(!madeIn);
    const fault = { kind: "no_account", message: `${message} (${account.id}); connect again` };
    expect(await other.resolve(ask())).toEqual(fault);
    expect(await other.resolve(ask({ accountId: id(account.id) }))).toEqual(fault);
    expect(await other.resolve(ask({ entityId: "bob" }))).toMatchObject({
      message: expect.stringContaining("connect one with InitiateConnection"),
    });
    // This is true even for a call that began in the other environment: no credential is sent, and no credential expires because of an
    // answer there.
    const held = accountOf(await access(madeIn).resolve(ask()));
    expect(await other.authorize(ask(), held, bareRequest)).toEqual(fault);
    expect(await other.refused(ask(), held)).toBe(false);
    expect((await rowOf(account.id)).state).toBe("active");
  },
);

test("neither supersedes the other, inherits from it or is deleted as it, and both are listed", async () => {
  const real = await connect(false);
  await client(false).setAccountReferences({ id: real.id, references: ["real"] });
  const made = await connect(true);
  const again = await connect(true);
  expect(await rowOf(real.id)).toMatchObject({ state: "active", references: ["real"] });
  expect([(await rowOf(made.id)).state, (await rowOf(again.id)).state]).toEqual(["superseded", "active"]);
  expect(again.references).toEqual([]);
  const { accounts } = await client(false).listConnections({ state: "active" });
  // Ids that were created in the same millisecond are in no particular order.
  expect(new Map(accounts.map(({ id: accountId, sandbox }) => [accountId, sandbox]))).toEqual(
    new Map([
      [again.id, true],
      [real.id, false],
    ]),
  );
  expect(accountOf(await access(false).resolve(ask())).id).toBe(real.id);
  expect(accountOf(await access(true).resolve(ask())).id).toBe(again.id);
  const newer = await connect(false);
  expect(newer.references).toEqual(["real"]);
  expect((await rowOf(again.id)).state).toBe("active");
});

test("a project's own credential of the sandbox is not the one outside it", async () => {
  const credential = { toolkitSlug: "machine", clientId: "client-1", clientSecret: "any" };
  const query = ask({ toolkit: t.toolkit("machine"), entityId: "" });
  await client(true).setProjectCredential(credential);
  expect(await access(false).resolve(query)).toMatchObject({
    kind: "no_account",
    message: expect.stringMatching(/^the account of this project was made in the sandbox .*SetProjectCredential$/),
  });
  expect(await refusalOf(client(false).deleteProjectCredential({ toolkitSlug: "machine" }))).toMatchObject({
    reason: "PROJECT_CREDENTIAL_NOT_FOUND",
  });
  await client(true).deleteProjectCredential({ toolkitSlug: "machine" });
  expect(await access(true).resolve(query)).toMatchObject({ kind: "no_account" });
});

test("a consent that was begun on the other side connects nothing", async () => {
  const request = { toolkitSlug: "tracker", entityId: "ada", scheme: "oauth2" };
  const started = await client(false).initiateConnection(request);
  const sandboxPages = createOauthPages({ ...t.options, sandboxMode: "force" });
  expect(await sandboxPages.handleOauthStart(new URL(started.authorizeUrl), {})).toMatchObject({ status: 400 });
  const browser = await t.pages.handleOauthStart(new URL(started.authorizeUrl), {});
  const cookie = (browser.headers["set-cookie"] ?? "").split(";")[0];
  const back = t.app.consent(browser.headers["location"] ?? "");
  expect(await sandboxPages.handleOauthCallback(back, { cookie })).toMatchObject({ status: 400 });
  expect(t.app.tokenRequests).toEqual([]);
  expect(await rowOf(started.account!.id)).toMatchObject({
    state: "revoked",
    lastError: "the sandbox was turned on or off before consent was given",
  });
});

test("the refresher renews the accounts of its own side alone", async () => {
  const accountId = await connectOverOauth(t, projectId);
  t.app.tokenRequests.length = 0;
  t.clock.advance(3600_000 - 60_000);
  for (const [isSandbox, count] of [
    [true, 0],
    [false, 1],
  ] as const) {
    const errors: unknown[] = [];
    const refresher = createRefresher({
      ...t.options,
      sandboxMode: modeOf(isSandbox),
      onError: (error) => errors.push(error),
    });
    refresher.start();
    await expect.poll(() => t.clock.waiting()).toBe(1);
    await refresher.stop();
    expect(t.app.tokenRequests.filter((form) => form.get("grant_type") === "refresh_token")).toHaveLength(count);
    expect(errors).toEqual([]);
  }
  expect(await rowOf(accountId)).toMatchObject({ state: "active", refreshLeaseUntil: null });
});
