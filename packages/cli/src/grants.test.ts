import { letIn, registerAgent } from "@svc/testing/agent";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "./test-command.ts";

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
