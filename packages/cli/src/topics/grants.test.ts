import { askMcp, letIn, registerAgent } from "@svc/testing/agent";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

let server: TestServer;
let variables: Record<string, string>;
let id = "";

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  variables = { SVC_URL: server.url, SVC_API_KEY: server.key };
  const agent = await registerAgent(server.url);
  await agent.change((await letIn(server, agent)).get("code") ?? "");
});
afterAll(() => server.stop());

const run = (...args: string[]) => runTestCommand(["grants", ...args], variables);

test("grants are listed, narrowed and revoked", async () => {
  const listed = await run();
  expect(listed.printed[0]).toMatch(/^ID +GIVEN +USED +ENTITY +MAY +TOOLKITS +CONFIRMED +AGENT/);
  expect(listed.printed[1]).toMatch(/ ada +read,write +all +Test agent at http:\/\/127.0.0.1:7777/);
  [{ id }] = JSON.parse((await run("list", "--json")).printed.join("\n"));
  const narrowed = await run("update", id, "--access", "read", "--toolkits", "calendar, sales_crm");
  expect(narrowed).toMatchObject({ code: 0, printed: [`${id} may read with calendar, sales_crm`] });
  const confirmed = await run("narrow", id, "--confirm", "destructive", "--confirm-by", "owner");
  expect(confirmed.printed).toEqual([`${id} may read with calendar, sales_crm; confirmed: destructive by owner`]);
  expect((await run()).printed[1]).toMatch(/ destructive by owner +Test agent/);
  const widened = await run("update", id, "--access", "write");
  expect(widened.code).not.toBe(0);
  expect(await run("revoke", id)).toMatchObject({ code: 0, printed: [`${id} has ended`] });
  expect((await run()).printed).toHaveLength(1);
  expect((await run("list", "--all")).printed[1]).toMatch(/ ended /);
});

test("what an agent has beside the tools of apps is given by name, narrowed by name and gone at its next list", async () => {
  const asAdmin = { SVC_URL: server.url, SVC_ADMIN_TOKEN: server.adminToken };
  const create = (tools: string) => runTestCommand(["keys", "create", "--agent-tools", tools], asAdmin);
  const listed = async (token: string) => {
    const answer = await (await askMcp(server.url, token, "tools/list")).json();
    const { result } = answer as { result: { tools: { name: string }[] } };
    return result.tools.map(({ name }) => name).slice(4);
  };
  const { printed } = await create("programs,operate");
  expect(await listed(printed[0] ?? "")).toEqual([
    ...["check_program", "run_program"],
    ...["where_is_event", "explain_delivery", "why"],
  ]);
  const unknown = await create("programs,everything");
  expect(unknown.code).not.toBe(0);
  expect(unknown.noted.join()).toContain('"everything" is not one of programs, connect, operate, repair');
  const agent = await registerAgent(server.url);
  const code = (await letIn(server, agent, { "agent-tools": ["programs", "connect"] })).get("code") ?? "";
  const token: string = (await agent.change(code)).json.access_token;
  expect(await listed(token)).toEqual(["check_program", "run_program", "connect_account"]);
  const [grant] = JSON.parse((await run("list", "--json")).printed.join("\n"));
  const wrong = await run("update", grant.id, "--agent-tools", "everything");
  expect(wrong.noted.join()).toContain('"everything" is not one of programs, connect, which the grant has');
  // A shell variable that is not set gives an empty text. Without a refusal, the grant would then keep the permissions that the user wants
  // to remove.
  for (const option of ["--agent-tools", "--access", "--toolkits"]) {
    const empty = await run("update", grant.id, option, "");
    expect(empty.code).not.toBe(0);
    expect(empty.noted.join()).toContain("expected words such as a,b");
  }
  const narrowed = await run("update", grant.id, "--agent-tools", "connect");
  expect(narrowed.printed).toEqual([`${grant.id} may read, write with all toolkits, and connect`]);
  expect(await listed(token)).toEqual(["connect_account"]);
  await run("update", grant.id, "--agent-tools", "none");
  expect(await listed(token)).toEqual([]);
});

test("an approver makes keys for agents, lists those that are valid, and ends one", async () => {
  const keys = (...args: string[]) => runTestCommand(["agent-keys", ...args], variables);
  const scope = ["--entity", "ada", "--access", "read", "--toolkits", "calendar"];
  const made = await keys("create", ...scope, "--expires-in", "8h", "--name", "assistant");
  expect(made).toMatchObject({ code: 0, printed: [expect.stringMatching(/^svc_/)] });
  expect(made.noted.join()).toMatch(/^key_\w+ \(ada; read; calendar\), valid until .*Keep the key/);
  const whoami = await runTestCommand(["whoami"], { ...variables, SVC_API_KEY: made.printed[0] ?? "" });
  expect(whoami.printed.join("\n")).toContain("ada");
  const listed = await keys();
  expect(listed.printed[0]).toMatch(/^ID +HINT +STATE +LAST USED +BOUND TO +CONFIRMED +NAME$/);
  expect(listed.printed[1]).toMatch(/ until .* ada; read; calendar +assistant$/);
  const [{ id }] = JSON.parse((await keys("list", "--json")).printed.join("\n"));
  expect((await keys("revoke", id)).printed[0]).toMatch(/ was revoked at 20/);
  expect((await keys()).printed).toHaveLength(1);
  expect((await keys("list", "--all")).printed[1]).toContain(" revoked ");
  const unscoped = await keys("create", "--access", "read");
  expect(unscoped.code).not.toBe(0);
  expect(unscoped.noted.join()).toContain("Name the one entity that the agent works for, or the toolkits");
  const long = await keys("create", "--entity", "ada", "--expires-in", "25h");
  expect(long.noted.join()).toContain("lifetime 90000s is not between 1s and 24h");
});
