import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

test("whoami shows the project, the role, where the key comes from, and the service", async () => {
  const variables = { SVC_URL: server.url, SVC_API_KEY: server.key };
  const { code, printed } = await runTestCommand(["whoami"], variables);
  expect(code).toBe(0);
  expect(printed).toEqual([
    expect.stringMatching(/^project {2}default \(prj_\w+\)$/),
    "role     approver",
    expect.stringMatching(/^key {6}key_\w+; the key is that of SVC_API_KEY$/),
    `service  ${server.url}`,
  ]);
  const json = await runTestCommand(["whoami", "--json"], variables);
  expect(JSON.parse(json.printed.join("\n"))).toMatchObject({ projectName: "default", role: "ROLE_APPROVER" });
});
