import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeToolkits } from "@svc/testing/catalog";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Terminal } from "../command/context.ts";
import { runTestCommand, startCommand } from "../test-command.ts";

let folder: string;
let server: TestServer;
let variables: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-cli-"));
  await writeToolkits(folder, [sampleToolkits.payments]);
  server = await startTestServer({ variables: { SVC_SANDBOX: "force", SVC_TOOLKITS: folder } });
  variables = { SVC_URL: server.url, SVC_API_KEY: server.key, PAYMENTS_SECRET: "secret-marker-2" };
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const set = ["credentials", "set", "payments", "--client-id", "4711"];
const prefix = ["--var", "prefix=shop-1"];

test("a client secret from standard input becomes the project's account, whose id alone is printed", async () => {
  const { code, printed, noted } = await runTestCommand([...set, ...prefix, "--secret-stdin"], variables, "s-marker\n");
  expect({ code, printed, noted }).toEqual({
    code: 0,
    printed: [expect.stringMatching(/^acc_\w{26}$/)],
    noted: ["The project itself calls payments with it: `svc call payments.…` without --entity."],
  });
  const listed = await runTestCommand(["connections", "--json"], variables);
  expect(JSON.parse(listed.printed.join("\n"))).toMatchObject([
    { id: printed[0], entityId: "", scheme: "client_credentials", accountVariables: { prefix: "shop-1" } },
  ]);
  expect(listed.printed.join("\n") + server.logs.join("\n")).not.toContain("s-marker");
});

test("setting it again from a variable replaces it, and delete erases it once", async () => {
  const first = await runTestCommand([...set, ...prefix, "--secret-env", "PAYMENTS_SECRET"], variables);
  const second = await runTestCommand([...set, ...prefix, "--secret-env", "PAYMENTS_SECRET", "--json"], variables);
  const account = JSON.parse(second.printed.join("\n"));
  expect(account).toMatchObject({ state: "active", toolkitSlug: "payments" });
  expect(account.id).not.toBe(first.printed[0]);
  const remove = ["credentials", "delete", "payments"];
  expect(await runTestCommand(remove, variables)).toMatchObject({
    code: 0,
    printed: ["the project's own credential of payments was erased"],
  });
  expect(await runTestCommand(remove, variables)).toMatchObject({
    code: 1,
    noted: [expect.stringContaining("PROJECT_CREDENTIAL_NOT_FOUND")],
  });
});

test("a terminal is asked for what is missing, and for the secret without echo", async () => {
  const questions: string[] = [];
  const answer = async (question: string) => {
    questions.push(question);
    return question.startsWith("prefix") ? "shop-2" : "";
  };
  const terminal: Terminal = {
    ask: answer,
    askSecret: (question) => answer(`secret ${question}`).then(() => "typed-secret"),
    openPage: async () => false,
    startSpinner: async () => () => {},
  };
  expect(await startCommand(set, variables, "", terminal).exitCode).toBe(0);
  expect(questions).toEqual([
    expect.stringMatching(/^prefix: .*such as shop-1\): $/),
    "secret Client secret (not shown while you type): ",
  ]);
});

test("without a terminal what is missing is named by the options that give it, and no option takes the secret", async () => {
  const unfilled = await runTestCommand([...set, "--secret-env", "PAYMENTS_SECRET"], variables);
  expect(unfilled).toMatchObject({
    code: 1,
    noted: [expect.stringMatching(/payments also needs --var prefix=shop-1/)],
  });
  const secretless = await runTestCommand([...set, ...prefix], variables);
  expect(secretless).toMatchObject({
    code: 1,
    noted: [expect.stringMatching(/--secret-stdin or --secret-env.*CREDENTIAL_MISSING/)],
  });
  const { printed } = await runTestCommand(["credentials", "set", "--help"]);
  expect(printed.join("\n")).not.toMatch(/--(?:secret|client-secret) /);
});
