import { expect, test } from "vitest";
import { runTestCommand } from "./testing.ts";

const commands = [
  "",
  "serve",
  "projects",
  "projects create",
  "projects list",
  "projects policy",
  "keys",
  "keys create",
  "keys list",
  "keys revoke",
  "listen",
  "trigger",
  "events",
  "deliveries",
  "replay",
  "catalog",
  "catalog check",
  "catalog list",
  "catalog show",
  "catalog publish",
  "catalog delete",
  "search",
  "connect",
  "connections",
  "connections list",
  "connections show",
  "connections delete",
  "call",
  "tool-calls",
  "tool-calls list",
  "tool-calls show",
  "jobs",
  "jobs submit",
  "jobs list",
  "jobs show",
  "jobs watch",
  "jobs log",
  "jobs cancel",
  "jobs promote",
  "asks",
  "asks list",
  "asks show",
  "answer",
  "contacts",
  "contacts list",
  "contacts put",
  "contacts delete",
  "whoami",
];

test.each(commands)("help of `svc %s` ends with an example of it and describes every option", async (command) => {
  const { code, printed } = await runTestCommand([...command.split(" ").filter(Boolean), "--help"]);
  const help = printed.join("\n");
  expect(code).toBe(0);
  expect(help).toContain(`\nExamples:\n`);
  expect(help.slice(help.indexOf("Examples:"))).toContain(`svc ${command}`.trimEnd());
  for (const option of help.match(/^ {2}-.*$/gm) ?? [])
    expect(option).toMatch(/^ {2}-{1,2}\S+(?:, --\S+)?(?: <.+>)? {2,}\S/);
});

test("help of `svc serve` lists the variables of the service", async () => {
  const { printed } = await runTestCommand(["serve", "--help"]);
  for (const name of ["SVC_PORT", "SVC_DATABASE_URL", "SVC_ADMIN_TOKEN"])
    expect(printed.join("\n")).toContain(`  ${name} `);
});

test.each([
  [["nope"], "unknown command 'nope'"],
  [["events", "--nope"], "unknown option '--nope'"],
  [["events", "--limit", "0"], "expected a whole number from 1 to 999999"],
  [["listen", "--forward", "localhost:3000"], "expected an http or https URL, such as http://localhost:3000/hook"],
  [["trigger"], "missing required argument 'toolkit'"],
  [["trigger", "calendar", "--header", "name"], "expected name=value"],
  [["search", "mail", "--limit", "51"], "expected a whole number from 1 to 50"],
  [["search", "mail", "--class", "odd"], "Allowed choices are read, write, destructive"],
  [["call", "calendar.list_events", "--arg", "calendar_id"], "expected name=value"],
  [["call", "calendar.list_events", "--max-bytes", "255"], "expected a whole number from 256"],
  [["connect", "calendar"], "required option '--entity <id>' not specified"],
  [["connections", "list", "--state", "gone"], "Allowed choices are pending, active, expired, superseded, revoked"],
  [["tool-calls", "list", "--since", "soon"], 'duration "soon" is not understood'],
  [["jobs", "submit", "p.json", "--set", "steps.a=1"], "expected input.name=value or params.name=value"],
  [["jobs", "submit", "p.json", "--simulate", "--simulate-first"], "cannot be used with option"],
  [["jobs", "list", "--status", "gone"], "Allowed choices are simulating, pending_plan_approval, queued"],
  [["answer", "ask_1", "yes", "--as", "lead"], "Allowed choices are proceed, retry-with, skip, abort"],
  [["answer", "ask_1", "proceed"], "required option '--as <principal>' not specified"],
  [["contacts", "put", "lead"], "required option '--name <name>' not specified"],
  [["projects", "policy", "p", "--plan-approval", "odd"], "Allowed choices are never, destructive, always"],
  [["keys", "create", "--role", "owner"], "Allowed choices are member, approver"],
  [["keys", "create", "--expires-in", "soon"], 'duration "soon" is not understood'],
])("wrong arguments end with 2 and say what would be right: %s", async (argv, text) => {
  const { code, printed, noted } = await runTestCommand(argv);
  expect({ code, printed }).toEqual({ code: 2, printed: [] });
  expect(noted.join("\n")).toContain(text);
});

test("the version is that of the package", async () => {
  expect(await runTestCommand(["--version"])).toMatchObject({
    code: 0,
    printed: [expect.stringMatching(/^\d+\.\d+\.\d+$/)],
  });
});

test.each([
  ["SVC_PORT, without another address", [], { SVC_PORT: "2" }, "cannot reach http://127.0.0.1:2:"],
  ["SVC_URL before SVC_PORT", [], { SVC_PORT: "3", SVC_URL: "http://127.0.0.1:2" }, "cannot reach http://127.0.0.1:2:"],
  ["no port that HTTP clients refuse", ["--url", "http://127.0.0.1:6000"], {}, "its port belongs to another protocol"],
  ["no port beyond 65535", ["--url", "http://127.0.0.1:99999"], {}, "has the port 99999; expected 1 to 65535"],
])("a command uses %s", async (_, options, variables, text) => {
  const { code, noted } = await runTestCommand(["listen", ...options], { SVC_API_KEY: "key", ...variables });
  expect({ code, noted }).toEqual({ code: 1, noted: [expect.stringContaining(text)] });
});

test("a service that is away ends a command with 1 and one line that says where it was looked for", async () => {
  const variables = { SVC_URL: "http://127.0.0.1:2", SVC_API_KEY: "key" };
  const { code, noted } = await runTestCommand(["replay", "evt_1"], variables);
  expect(code).toBe(1);
  expect(noted).toEqual([
    expect.stringMatching(/^svc: cannot reach http:\/\/127\.0\.0\.1:2: ECONNREFUSED\. Start the service/),
  ]);
});

test.each([
  ["the key", ["events"], "no API key: give --api-key"],
  ["the administrator token", ["projects", "list"], "needs the administrator token: set SVC_ADMIN_TOKEN"],
  ["a usable address", ["events", "--url", "localhost"], 'the address "localhost" is no http or https URL'],
])("a command without %s says how to give it", async (_, argv, text) => {
  const { code, noted } = await runTestCommand(argv, { SVC_DATA_DIR: "/nonexistent" });
  expect(code).toBe(1);
  expect(noted).toEqual([expect.stringContaining(text)]);
});
