import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { commandNames } from "./program.ts";
import { runTestCommand } from "./test-command.ts";

const names = commandNames();
/** Leaves out command groups, which only have subcommands and do nothing themselves. */
const commands = names.filter((name) => !names.some((other) => other.startsWith(`${name} `)));

/** Returns the file that declares a command without members. `serve` has a file of its own, so that it loads no other command. */
const programOf = (name: string) => (name === "serve" ? "serve-program.ts" : "program.ts");

test("a command is found by its name: the file of its topic declares it, or the program", () => {
  const textOf = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
  const missing = names.filter((name) => {
    const [topic = "", command] = name.split(" ");
    const isDeclared =
      command === undefined ? /^ {2}"?([\w-]+)"?: \w+,$|^ {2}add(Serve)Command/ : /^ {4}"?([\w-]+)"?: /;
    const text = textOf(command === undefined ? programOf(topic) : `topics/${topic}.ts`);
    return !text
      .split("\n")
      .some((line) => isDeclared.exec(line)?.slice(1).find(Boolean)?.toLowerCase() === (command ?? topic));
  });
  expect(missing).toEqual([]);
});

test.each(["", ...names])("help of `svc %s` ends with an example of it and describes every option", async (command) => {
  const { code, printed } = await runTestCommand([...command.split(" ").filter(Boolean), "--help"]);
  const help = printed.join("\n");
  expect(code).toBe(0);
  expect(help).toContain(`\nExamples:\n`);
  expect(help.slice(help.indexOf("Examples:"))).toContain(`svc ${command}`.trimEnd());
  for (const option of help.match(/^ {2}-.*$/gm) ?? [])
    expect(option).toMatch(/^ {2}-{1,2}\S+(?:, --\S+)?(?: <.+>)? {2,}\S/);
});

test.each(commands.filter((name) => name !== "serve"))(
  "`svc %s` tells what it found or did as JSON, too",
  async (command) => {
    const { printed } = await runTestCommand([...command.split(" "), "--help"]);
    expect(printed.join("\n")).toMatch(/^ {2}--json {2,}\S/m);
  },
);

test("help of `svc serve` lists the variables of the service", async () => {
  const { printed } = await runTestCommand(["serve", "--help"]);
  for (const name of ["SVC_PORT", "SVC_DATABASE_URL", "SVC_ADMIN_TOKEN"])
    expect(printed.join("\n")).toContain(`  ${name} `);
});

test.each([
  [["jobs", "sumbit", "p.json"], "unknown command 'svc jobs sumbit'. Did you mean `svc jobs submit`?"],
  [
    ["deliveries", "list"],
    "no deliveries are selected: give --event, --subscription or --states, or --since with --state or --failed",
  ],
  [["events", "list", "--until", "2026-03-14"], "expected a time such as 2026-03-14T09:00:00Z, or a span before now"],
  [["connections", "list", "--state", "gone"], "Allowed choices are pending, active, expired, superseded, revoked"],
  [["projects", "policy", "p", "--redirect-url", "notaurl"], "argument 'notaurl' is invalid. expected an absolute URL"],
])("wrong arguments end with 2 and say what would be right: %s", async (argv, text) => {
  const { code, printed, noted } = await runTestCommand(argv);
  expect({ code, printed }).toEqual({ code: 2, printed: [] });
  expect(noted.join("\n")).toContain(text);
});

test("the version comes from the package", async () => {
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
  ["a usable address", ["events", "--url", "localhost"], 'the address "localhost" is not an http or https URL'],
])("a command without %s says how to give it", async (_, argv, text) => {
  const { code, noted } = await runTestCommand(argv, { SVC_DATA_DIR: "/nonexistent" });
  expect(code).toBe(1);
  expect(noted).toEqual([expect.stringContaining(text)]);
});
