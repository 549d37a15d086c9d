import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Terminal } from "../command/context.ts";
import { runTestCommand, startCommand } from "../test-command.ts";

let server: TestServer;
let variables: Record<string, string>;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  variables = { SVC_URL: server.url, SVC_API_KEY: server.key, BILLING_TOKEN: "marker-of-a-variable" };
});
afterAll(() => server.stop());

const run = (args: string[], input = "") => runTestCommand(["secrets", ...args], variables, input);

test("a secret is put, given another value, listed without it and deleted", async () => {
  expect(await run(["put", "billing_token", "--secret-stdin"], "marker-of-input\n")).toMatchObject({
    code: 0,
    printed: ["billing_token"],
    noted: ['Programs send it in place of {"$secret": "billing_token"}.'],
  });
  const again = await run(["put", "billing_token", "--secret-env", "BILLING_TOKEN", "--json"]);
  expect(JSON.parse(again.printed.join("\n"))).toMatchObject({ name: "billing_token" });
  const listed = await run([]);
  expect(listed.printed).toEqual([
    expect.stringMatching(/^NAME +CREATED +VALUE OF/),
    expect.stringMatching(/^billing_token +20\S+Z +20\S+Z/),
  ]);
  const shown = [...again.printed, ...listed.printed, ...(await run(["list", "--json"])).printed, ...server.logs];
  expect(shown.join("\n")).not.toContain("marker");
  expect(await run(["delete", "billing_token"])).toMatchObject({ code: 0, printed: ["billing_token was erased"] });
  expect(await run(["delete", "billing_token"])).toMatchObject({
    code: 1,
    noted: [expect.stringContaining("SECRET_NOT_FOUND")],
  });
});

test("at a terminal the value is asked for without echo; a value that is none is refused and not quoted", async () => {
  const questions: string[] = [];
  const terminal: Terminal = {
    ask: async () => "",
    async askSecret(question) {
      questions.push(question);
      return "typed-se";
    },
    openPage: async () => false,
    startSpinner: async () => () => {},
  };
  expect(await startCommand(["secrets", "put", "typed"], variables, "", terminal).exitCode).toBe(0);
  expect(questions).toEqual(["Value of the secret (not shown while you type): "]);
  const short = await run(["put", "typed", "--secret-stdin"], "marker");
  expect(short).toMatchObject({ code: 1, noted: [expect.stringContaining("SECRET_VALUE_INVALID")] });
  expect(short.noted.join()).not.toContain("marker");
  expect((await run(["put", "--help"])).printed.join("\n")).not.toMatch(/--(?:value|secret) </);
});
