import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand, startCommand } from "./test-command.ts";

// The output of commands that end by themselves is recorded in test/golden/commands. This file tests the JSON of the others.

const secret = { SVC_WEBHOOK_SECRET_CALENDAR: "swordfish" };
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ variables: secret });
});
afterAll(() => server.stop());

function variables() {
  return { ...secret, SVC_URL: server.url, SVC_API_KEY: server.key };
}

test("listen and watch print each delivery and each notice as a line of JSON", async () => {
  const listening = startCommand(["listen", "--json"], variables());
  await listening.line(/Listening at/);
  expect(await runTestCommand(["trigger", "calendar"], variables())).toMatchObject({ code: 0 });
  const heard = JSON.parse(await listening.line(/^\{/));
  expect(heard).toMatchObject({ delivery: { toolkitSlug: "calendar" } });
  listening.interrupt();
  await listening.exitCode;
  const watching = startCommand(["watch", "--kind", "event", "--since", "5m", "--json"], variables());
  expect(JSON.parse(await watching.line(/^\{/))).toMatchObject({ id: heard.delivery.id });
  watching.interrupt();
  await watching.exitCode;
});
