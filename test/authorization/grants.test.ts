import { digestSecret } from "@svc/core";
import { askMcp, letIn, registerAgent } from "@svc/testing/agent";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

let svc: TestServer;
/** Keys of the project: the member's key that gives grants, and another member's key. `foreign`: a key of another project. */
const keys = { giver: "", other: "", foreign: "" };
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  const { projectId } = (await svc.call("svc.v1.IdentityService/GetIdentity")).json;
  const { project } = (await svc.admin("CreateProject", { name: "other" })).json;
  const make = async (name: string, owner: string) =>
    (await svc.admin("CreateApiKey", { projectId: owner, role: "ROLE_MEMBER", name })).json.key;
  keys.giver = await make("giver", projectId);
  keys.other = await make("other", projectId);
  keys.foreign = await make("foreign", project.id);
});
afterAll(() => svc.stop());

const call = (method: string, body: object, bearer: string) =>
  svc.call(`svc.v1.GrantsService/${method}`, body, { bearer });

async function give(): Promise<{ id: string; accessToken: string }> {
  const agent = await registerAgent(svc.url);
  const answer = await letIn({ url: svc.url, key: keys.giver }, agent, { toolkit: ["calendar", "sales_crm"] });
  const { json } = await agent.change(answer.get("code") ?? "");
  const listed = await call("ListGrants", { pageSize: 1 }, keys.giver);
  return { id: listed.json.grants[0].id, accessToken: json.access_token };
}

test("a grant is listed as it was given, narrowed and never widened, and ended with its tokens", async () => {
  const { id, accessToken } = await give();
  const { grants } = (await call("ListGrants", {}, keys.other)).json;
  expect(grants[0]).toMatchObject({
    ...{ id, clientName: "Test agent", clientOrigin: "http://127.0.0.1:7777", entityId: "ada", active: true },
    ...{ accessClasses: ["read", "write"], toolkitSlugs: ["calendar", "sales_crm"] },
  });
  expect(JSON.stringify(grants)).not.toContain("svca");
  const narrowed = await call("UpdateGrant", { id, accessClasses: ["read"], toolkitSlugs: ["calendar"] }, keys.giver);
  expect(narrowed.json.grant).toMatchObject({ accessClasses: ["read"], toolkitSlugs: ["calendar"] });
  for (const wider of [{ accessClasses: ["write"] }, { toolkitSlugs: ["sales_crm"] }, { accessClasses: ["all"] }])
    expect(await call("UpdateGrant", { id, ...wider }, keys.giver)).toMatchObject({
      status: 400,
      reason: "GRANT_WIDENED",
    });
  const write = { slug: "calendar.create_event", arguments: {}, dry_run: true };
  const refused = await askMcp(svc.url, accessToken, "tools/call", { name: "call_tool", arguments: write });
  expect(refused.status).toBe(403);
  const ended = await call("RevokeGrant", { id }, svc.key);
  expect(ended.json.grant).toMatchObject({ active: false, endedAt: expect.any(String) });
  expect((await askMcp(svc.url, accessToken, "tools/list")).status).toBe(401);
  expect((await call("RevokeGrant", { id }, svc.key)).json.grant.endedAt).toBe(ended.json.grant.endedAt);
  expect(await call("UpdateGrant", { id, accessClasses: ["read"] }, svc.key)).toMatchObject({ reason: "GRANT_ENDED" });
});

test("every end of a grant stands in the audit log, once: by a call, by a token given back, by a code or a token that is shown again", async () => {
  const agent = await registerAgent(svc.url);
  const allow = async () => (await letIn({ url: svc.url, key: keys.giver }, agent)).get("code") ?? "";
  const idOfNewest = async () => (await call("ListGrants", { pageSize: 1 }, keys.giver)).json.grants[0].id;
  const endings: Record<string, (code: string) => Promise<unknown>> = {
    "GrantsService.RevokeGrant": async (code) => {
      await agent.change(code);
      return call("RevokeGrant", { id: await idOfNewest() }, keys.giver);
    },
    "GrantToken.Revoke": async (code) => {
      const { json } = await agent.change(code);
      const form = new URLSearchParams({ token: json.refresh_token, client_id: agent.clientId });
      const revoke = () => fetch(`${svc.url}/oauth/revoke`, { method: "POST", body: form });
      expect((await revoke()).status).toBe(200);
      return revoke();
    },
    "GrantCode.Reuse": async (code) => {
      await agent.change(code);
      await agent.change(code);
      return agent.change(code);
    },
    "GrantToken.Reuse": async (code) => {
      const { json } = await agent.change(code);
      for (let times = 0; times < 3; times++) await agent.refresh(json.refresh_token);
    },
  };
  for (const [action, end] of Object.entries(endings)) {
    await end(await allow());
    const subject = await idOfNewest();
    const { json } = await svc.admin("ListAuditEvents", { action, pageSize: 5 });
    const rows = json.events.filter((event: { subject: string }) => event.subject === subject);
    expect(rows, action).toEqual([expect.objectContaining({ action, outcome: "ok" })]);
  }
});

test("a grant is its giver's and the approvers' to change; to another project it is none", async () => {
  const { id } = await give();
  for (const method of ["UpdateGrant", "RevokeGrant"]) {
    expect(await call(method, { id }, keys.other)).toMatchObject({ status: 403, reason: "GRANT_NOT_YOURS" });
    expect(await call(method, { id }, keys.foreign)).toMatchObject({ status: 404, reason: "GRANT_NOT_FOUND" });
  }
  expect((await call("ListGrants", {}, keys.foreign)).json.grants).toEqual([]);
  expect((await call("RevokeGrant", { id }, keys.giver)).status).toBe(200);
});

/** Returns an agent with an authorization code that is not exchanged yet. */
async function agentWithCode() {
  const agent = await registerAgent(svc.url);
  const code = (await letIn({ url: svc.url, key: keys.giver }, agent)).get("code") ?? "";
  return { agent, code };
}

/**
 * Makes requests meet in the database: each has read the row of `digest` as unused, before one of them may change it. This can happen on
 * nodes that do not know of each other.
 */
async function meeting<Answer>(
  table: "grant_codes" | "grant_tokens",
  text: string,
  requests: (() => Promise<Answer>)[],
) {
  const { sql } = svc.database.db;
  let answers: Promise<Answer>[] = [];
  await sql.begin(async (tx) => {
    await tx`select 1 from ${tx(table)} where digest = ${digestSecret(text)} for update`;
    answers = requests.map((request) => request());
    await until(async () => {
      const waiting =
        await sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length === requests.length;
    }, "all wait for the row");
  });
  return Promise.all(answers);
}

test("of two that change the same code at once one is given tokens, and those are over: RFC 6749, 4.1.2", async () => {
  const { agent, code } = await agentWithCode();
  const change = () => agent.change(code);
  const answers = await meeting("grant_codes", code, [change, change]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  expect(answers.find(({ status }) => status === 400)?.json).toMatchObject({ error: "invalid_grant" });
  const { access_token: access, refresh_token: refresh } = answers.find(({ status }) => status === 200)?.json ?? {};
  expect((await askMcp(svc.url, access, "tools/list")).status).toBe(401);
  expect(await agent.refresh(refresh)).toMatchObject({ status: 400, json: { error: "invalid_grant" } });
  const { grants } = (await call("ListGrants", { pageSize: 1 }, keys.giver)).json;
  expect(grants[0]).toMatchObject({ active: false });
});

test("of two that show the same refresh token at once one is given tokens, and the whole family is over", async () => {
  const { agent, code } = await agentWithCode();
  const { json: first } = await agent.change(code);
  const refresh = () => agent.refresh(first.refresh_token);
  const answers = await meeting("grant_tokens", first.refresh_token, [refresh, refresh]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  const next = answers.find(({ status }) => status === 200)?.json;
  for (const { access_token: access, refresh_token: again } of [first, next]) {
    expect((await askMcp(svc.url, access, "tools/list")).status).toBe(401);
    expect((await agent.refresh(again)).status).toBe(400);
  }
});

test("whoever registers beyond 1,000 is let in the place of the oldest that nobody let in; an agent in use stays", async () => {
  const { agent, code } = await agentWithCode();
  const { json: tokens } = await agent.change(code);
  await svc.database.db.sql`insert into grant_clients (id, name, redirect_uris, created_at)
    select 'client_flood_' || n, 'flood', '{https://agent.example/cb}', now() - interval '1 hour' + n * interval '1 second'
    from generate_series(1, 1000) n`;
  await svc.database.db
    .sql`update grant_clients set created_at = now() - interval '1 day' where id = ${agent.clientId}`;
  const late = await registerAgent(svc.url);
  const left = await svc.database.db.sql<{ id: string }[]>`
    select id from grant_clients where used_at is null order by created_at`;
  expect(left).toHaveLength(1_000);
  expect(left.map(({ id }) => id)).toContain(late.clientId);
  expect(left.map(({ id }) => id)).not.toContain("client_flood_1");
  expect((await agent.refresh(tokens.refresh_token)).status).toBe(200);
  expect((await letIn({ url: svc.url, key: keys.giver }, agent)).get("code")).toBeTruthy();
  await svc.database.db.sql`delete from grant_clients where id like 'client_flood_%'`;
});

test("what a grant has beside the tools of apps is narrowed by name, and gone at the next list", async () => {
  const agent = await registerAgent(svc.url);
  const chosen = { "agent-tools": ["programs", "connect"] };
  const { json } = await agent.change(
    (await letIn({ url: svc.url, key: keys.giver }, agent, chosen)).get("code") ?? "",
  );
  const listed = async () => {
    const answer = await (await askMcp(svc.url, json.access_token, "tools/list")).json();
    const { result } = answer as { result: { tools: { name: string }[] } };
    return result.tools.map(({ name }) => name).filter((name) => /program|connect/.test(name));
  };
  expect(await listed()).toEqual(["check_program", "run_program", "connect_account"]);
  const [{ id }] = (await call("ListGrants", { pageSize: 1 }, keys.giver)).json.grants;
  const narrow = (agentTools: string[]) => call("UpdateGrant", { id, agentTools }, keys.giver);
  const wrong = await narrow(["programs", "everything"]);
  expect(wrong).toMatchObject({ reason: "GRANT_WIDENED", field: "agentTools[1]" });
  expect(wrong.json.message).toContain('"everything" is not one of programs, connect, which the grant has');
  expect((await narrow(["programs"])).json.grant.agentTools).toEqual(["programs"]);
  expect(await listed()).toEqual(["check_program", "run_program"]);
  const run = { name: "connect_account", arguments: { toolkit: "calendar", entity_id: "ada" } };
  expect(await (await askMcp(svc.url, json.access_token, "tools/call", run)).text()).toContain("Unknown tool");
  expect((await narrow(["connect"])).reason).toBe("GRANT_WIDENED");
  expect((await narrow(["none"])).json.grant.agentTools).toEqual([]);
  expect(await listed()).toEqual([]);
  const nothing = await narrow(["programs"]);
  expect(nothing).toMatchObject({ reason: "GRANT_WIDENED" });
  expect(nothing.json.message).toBe('agentTools[0] "programs" is not part of the grant, which has none');
});

test("the list of tools and the challenge of a refused call name the same scopes", async () => {
  const agent = await registerAgent(svc.url);
  const tokenOf = async (choice: Readonly<Record<string, string | string[]>>) => {
    const answer = await letIn(svc, agent, choice);
    return (await agent.change(answer.get("code") ?? "")).json.access_token;
  };
  const schemesAt = async (token: string, query: string) => {
    type Listed = { result: { tools: { securitySchemes: unknown; _meta: { securitySchemes: unknown } }[] } };
    const { result } = (await (await askMcp(svc.url, token, "tools/list", {}, query)).json()) as Listed;
    return result.tools.map((tool) => {
      expect(tool._meta.securitySchemes).toEqual(tool.securitySchemes);
      return tool.securitySchemes;
    });
  };
  const schemes = (...scopes: string[]) => [{ type: "oauth2", scopes }];
  for (const [choice, toolkits] of [
    [{ toolkit: "calendar" }, ["toolkit:calendar"]],
    [{ "any-toolkit": "on" }, []],
  ] as [Record<string, string>, string[]][]) {
    const reader = await tokenOf({ ...choice, access: "read" });
    expect(await schemesAt(reader, "")).toEqual([schemes(), schemes(), schemes("read")]);
    expect(await schemesAt(reader, "?tools=calendar.list_events")).toEqual([schemes("read", ...toolkits)]);
    const call = { name: "call_tool", arguments: { slug: "calendar.delete_event", arguments: {}, dry_run: true } };
    const refused = await askMcp(svc.url, reader, "tools/call", call);
    expect(refused.headers.get("www-authenticate")).toContain(
      `scope="${["read", "destructive", ...toolkits].join(" ")}"`,
    );
    const wider = await tokenOf({ ...choice, access: ["read", "destructive"] });
    expect(await schemesAt(wider, "?tools=calendar.delete_event")).toEqual([schemes("destructive", ...toolkits)]);
  }
});
