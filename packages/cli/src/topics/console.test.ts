import { sendAsPage, signInToConsole } from "@svc/testing/console-session";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Terminal } from "../command/context.ts";
import { runTestCommand, startCommand } from "../test-command.ts";

let server: TestServer;
let variables: Record<string, string>;

beforeAll(async () => {
  server = await startTestServer();
  variables = { SVC_URL: server.url, SVC_API_KEY: server.key };
});
afterAll(() => server.stop());

const run = (...args: string[]) => runTestCommand(["console", ...args], variables);

test("the link that is printed signs in once, with the seat of the key", async () => {
  const { code, printed } = await run("--print");
  expect(code).toBe(0);
  const [before, link] = printed.join("\n").split("#link=");
  expect(before).toBe(`${server.url}/console/`);
  const answer = await sendAsPage(server, "/console/session", { link });
  expect(answer.json.seats).toEqual([expect.objectContaining({ projectName: "default", role: "approver" })]);
  expect(await sendAsPage(server, "/console/session", { link })).toMatchObject({
    status: 401,
    reason: "LINK_INVALID",
    json: {
      message: expect.stringContaining("used already"),
      details: [{ debug: { help: expect.stringContaining("npx svc console") } }],
    },
  });
});

test("at a terminal the link is opened, and printed where no browser opens it", async () => {
  for (const isOpened of [true, false]) {
    const pages: string[] = [];
    const terminal: Partial<Terminal> = { openPage: async (url) => pages.push(url) > 0 && isOpened };
    const { exitCode, printed } = startCommand(["console"], variables, "", terminal as Terminal);
    expect([await exitCode, pages.length, printed.length]).toEqual([0, 1, isOpened ? 0 : 1]);
  }
});

test("sessions are listed, and end one by one", async () => {
  const session = await signInToConsole(server, { key: server.key });
  const listed = JSON.parse((await run("sessions", "--json")).printed.join("\n"));
  const [{ id }] = listed;
  expect((await run("sessions")).printed[0]).toMatch(/^ID +SIGNED IN +USED +BROWSER/);
  expect(await run("end", id)).toMatchObject({ code: 0, printed: [`${id} has ended`] });
  const keyId = (await server.call("svc.v1.IdentityService/GetIdentity")).json.keyId;
  expect((await session.call(keyId, "svc.v1.IdentityService/GetIdentity")).reason).toBe("SESSION_INVALID");
  expect(await run("end", id)).toMatchObject({ code: 1, noted: [expect.stringContaining("SESSION_NOT_FOUND")] });
});
