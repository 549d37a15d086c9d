import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ToolkitSource, writeToolkits } from "@svc/testing/catalog";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Terminal } from "../../command/context.ts";
import { runTestCommand, startCommand } from "../../test-command.ts";

/** Note that `svc connect` prints in the sandbox. */
const sandboxNote = "Sandbox: no app was asked, and any credential is accepted; results of calls are made up.";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
});
afterAll(() => server.stop());

function variables(): Record<string, string> {
  return { SVC_URL: server.url, SVC_API_KEY: server.key };
}

function svc(...argv: string[]) {
  return runTestCommand(argv, variables());
}

/** Creates a person at the terminal. The person answers each question from a table, and clicks `decision` on the app's consent page. */
function createPerson({ answers = {}, decision }: { answers?: Record<string, string>; decision?: "allow" | "deny" }) {
  const questions: string[] = [];
  const spinners: string[] = [];
  const answer = async (question: string) => {
    questions.push(question);
    return Object.entries(answers).find(([start]) => question.startsWith(start))?.[1] ?? "";
  };
  const terminal: Terminal = {
    ask: answer,
    askSecret: (question) => answer(`secret ${question}`),
    async openPage(url) {
      if (decision === undefined) return false;
      await consent(url, decision);
      return true;
    },
    async startSpinner(text) {
      spinners.push(`start ${text}`);
      return () => void spinners.push("stop");
    },
  };
  return { terminal, questions, spinners };
}

/** Does the same as a browser: opens the page, submits its form, and follows redirects with the cookies that it received. */
async function consent(url: string, decision: string): Promise<number> {
  const start = await fetch(url, { redirect: "manual" });
  const cookie = (start.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const page = await (await fetch(start.headers.get("location") ?? "")).text();
  const [, request = ""] = /name="request" value="([^"]+)"/.exec(page) ?? [];
  const decided = await fetch(new URL("/sandbox/authorize", url), {
    method: "POST",
    body: new URLSearchParams({ request, decision }),
    redirect: "manual",
  });
  return (await fetch(decided.headers.get("location") ?? "", { headers: { cookie } })).status;
}

test("a key from standard input connects an account, whose id alone is printed", async () => {
  const argv = ["connect", "messaging_bot", "--entity", "ada", "--key-stdin"];
  const { code, printed, noted } = await runTestCommand(argv, variables(), "secret-marker-1\n");
  expect({ code, noted }).toEqual({
    code: 0,
    noted: ["messaging_bot is connected for ada with api_key.", sandboxNote],
  });
  expect(printed).toEqual([expect.stringMatching(/^acc_\w{26}$/)]);
});

test("a key from a variable that is not set is refused by the variable's name", async () => {
  const { code, noted } = await svc("connect", "messaging_bot", "--entity", "ada", "--key-env", "NO_SUCH_KEY");
  expect({ code, noted }).toEqual({ code: 1, noted: ["svc: --key-env NO_SUCH_KEY: the variable is not set"] });
});

test("where there is no sandbox, a key that is missing is asked for by the options that take one", async () => {
  const real = await startTestServer();
  const env = { SVC_URL: real.url, SVC_API_KEY: real.key };
  const { code, noted } = await runTestCommand(["connect", "messaging_bot", "--entity", "ada"], env);
  const variable = ["connect", "search_engine", "--entity", "ada", "--var", "hostname=a b", "--var", "port=443"];
  const refused = await runTestCommand(variable, env);
  await real.stop();
  expect(refused.noted).toEqual([
    expect.stringMatching(/^svc: --var hostname is "a b", .*\(ACCOUNT_VARIABLE_INVALID\)/),
  ]);
  expect(code).toBe(1);
  expect(noted).toEqual([
    expect.stringMatching(/^svc: the key \(--key-stdin or --key-env\) is empty; .*\(CREDENTIAL_MISSING\)/),
  ]);
});

test("a terminal is asked for what is missing, and for the key without echo", async () => {
  const { terminal, questions } = createPerson({ answers: { "hostname:": "search.example.com", "port:": "443" } });
  const argv = ["connect", "search_engine", "--entity", "ada", "--var", "port=8443"];
  const { exitCode, printed, noted } = startCommand(argv, variables(), "", terminal);
  expect({ code: await exitCode, noted }).toMatchObject({ code: 0 });
  expect(questions).toEqual([
    expect.stringMatching(/^hostname: .*such as search\.example\.com\): $/),
    "secret Key (not shown while you type): ",
  ]);
  const shown = await svc("connections", "show", printed[0] ?? "");
  expect(JSON.parse(shown.printed.join("\n"))).toMatchObject({
    accountVariables: { hostname: "search.example.com", port: "8443" },
  });
});

test("without a terminal every variable that is missing is named once, as the option that gives it", async () => {
  const { code, noted } = await svc("connect", "search_engine", "--entity", "ada");
  expect(code).toBe(1);
  expect(noted).toEqual([
    expect.stringMatching(
      /^svc: search_engine also needs --var hostname=search\.example\.com \(.*\); --var port=443 \(.*\)$/,
    ),
  ]);
  expect(noted[0]?.match(/hostname=/g)).toHaveLength(1);
});

test("oauth2 opens the page of consent, waits with a spinner, and prints the id once the account is active", async () => {
  const { terminal, spinners } = createPerson({ decision: "allow" });
  const { exitCode, printed, noted } = startCommand(
    ["connect", "calendar", "--entity", "ada"],
    variables(),
    "",
    terminal,
  );
  expect(await exitCode).toBe(0);
  expect(printed).toEqual([expect.stringMatching(/^acc_\w{26}$/)]);
  expect(noted).toEqual([
    "Your browser should show the page. If it does not, open:",
    expect.stringContaining(`${server.url}/oauth/start?state=`),
    "calendar is connected for ada with oauth2.",
    sandboxNote,
  ]);
  expect(spinners).toEqual(["start Waiting for consent", "stop"]);
});

test("consent that is refused ends the wait with 1 and the reason", async () => {
  const { terminal, spinners } = createPerson({ decision: "deny" });
  const { exitCode, printed, noted } = startCommand(
    ["connect", "calendar", "--entity", "eve"],
    variables(),
    "",
    terminal,
  );
  expect({ code: await exitCode, printed }).toEqual({ code: 1, printed: [] });
  expect(noted.at(-1)).toMatch(/^svc: the account was not connected: consent was not given: .*access_denied/);
  expect(spinners).toEqual(["start Waiting for consent", "stop"]);
});

test("with --no-open and without a terminal the page's address is printed, and the wait goes on until consent", async () => {
  const command = startCommand(["connect", "calendar", "--entity", "bob", "--no-open"], variables());
  const url = await command.line(/oauth\/start/);
  expect(command.noted).toEqual(["Open this page within 10 minutes:", url]);
  expect(await consent(url, "allow")).toBe(200);
  expect(await command.exitCode).toBe(0);
});

test("an interrupt ends the wait and says how to go on", async () => {
  const command = startCommand(["connect", "calendar", "--entity", "carl", "--no-open"], variables());
  await command.line(/oauth\/start/);
  command.interrupt();
  expect(await command.exitCode).toBe(1);
  expect(command.noted.at(-1)).toMatch(/^svc: stopped waiting; `svc connections show acc_\w+` shows/);
});

test("a key that the scheme does not take is refused before anything is sent", async () => {
  const { code, noted } = await svc("connect", "calendar", "--entity", "ada", "--key-stdin");
  expect(code).toBe(1);
  expect(noted).toEqual(["svc: the scheme oauth2 has no key: leave out --key-stdin and --key-env"]);
});

test("an app's own key given with --api-key is told where it belongs", async () => {
  const { code, noted } = await svc("connect", "messaging_bot", "--entity", "ada", "--api-key", "the-apps-own-key");
  expect(code).toBe(1);
  expect(noted).toEqual([
    expect.stringMatching(/API_KEY_INVALID.* give the app's own key with --key-stdin or --key-env\.$/),
  ]);
});

test("no option of connect takes a secret, and its help says why", async () => {
  const { printed } = await runTestCommand(["connect", "--help"]);
  const help = printed.join("\n");
  expect(help).not.toMatch(/--(?:key|password|secret|api-secret) /);
  expect(help).toContain("it would stay in the shell's history");
});

test("where a toolkit declares several schemes, one is named, or chosen at the terminal", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-cli-"));
  const notes: ToolkitSource = {
    toolkit: {
      slug: "notes",
      name: "Notes",
      description: "Pages of notes that a team keeps for itself.",
      version: "0.1.0",
      category: "knowledge",
      baseUrl: "https://notes.example.com",
      auth: [{ type: "basic" }, { type: "api_key", placement: "header", name: "X-Key", value: "{{credential.key}}" }],
    },
    tools: {
      list_pages: {
        kind: "action",
        class: "read",
        description: "Lists the pages that the team keeps for itself, ordered by title.",
        intents: ["what have we written", "show the table of contents", "find the page on onboarding"],
        input: { type: "object", additionalProperties: false, properties: {} },
        output: { type: "object", properties: { pages: { type: "array", items: { type: "string" } } } },
        request: { method: "GET", path: "/pages" },
      },
    },
  };
  await writeToolkits(folder, [notes]);
  const several = await startTestServer({ variables: { SVC_SANDBOX: "force", SVC_TOOLKITS: folder } });
  try {
    const env = { SVC_URL: several.url, SVC_API_KEY: several.key, NOTES_KEY: "k" };
    const unnamed = await runTestCommand(["connect", "notes", "--entity", "ada", "--key-env", "NOTES_KEY"], env);
    expect(unnamed.noted).toEqual([
      "svc: notes can be connected in several ways: give --scheme basic or --scheme api_key",
    ]);
    const named = ["connect", "notes", "--entity", "ada", "--scheme", "api_key", "--key-env", "NOTES_KEY"];
    expect(await runTestCommand(named, env)).toMatchObject({ code: 0 });
    const { terminal, questions } = createPerson({ answers: { Scheme: "basic", "User name": "ada" } });
    const asked = startCommand(["connect", "notes", "--entity", "ada"], env, "", terminal);
    expect(await asked.exitCode).toBe(0);
    expect(questions).toEqual([
      "Scheme (basic, api_key): ",
      "User name: ",
      "secret Password (not shown while you type): ",
    ]);
  } finally {
    await several.stop();
    await rm(folder, { recursive: true });
  }
});
