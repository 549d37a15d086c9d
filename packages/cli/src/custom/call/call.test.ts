import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../../test-command.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  for (const entity of ["ada", "sandbox:429", "sandbox:cut"]) await svc("connect", "messaging_bot", "--entity", entity);
});
afterAll(() => server.stop());

function svc(...argv: string[]) {
  return runTestCommand(argv, { SVC_URL: server.url, SVC_API_KEY: server.key });
}

function call(tool: string, ...options: string[]) {
  return svc("call", `messaging_bot.${tool}`, "--entity", "ada", ...options);
}

test("a call prints its result as JSON on standard output, and that the sandbox made it on standard error", async () => {
  const { code, printed, noted } = await call("send_message", "--arg", "chat_id=4711", "--arg", "text=We are live");
  expect({ code, noted }).toEqual({ code: 0, noted: ["Sandbox: the result is made up; no app was called."] });
  expect(JSON.parse(printed.join("\n"))).toMatchObject({ text: "We are live" });
});

test("arguments come from --args-json, a file and standard input alike, and --arg wins", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-cli-"));
  const json = '{"chat_id": "4711", "text": "from JSON"}';
  await writeFile(join(folder, "args.json"), json);
  const results = [
    await call("send_message", "--args-json", json),
    await call("send_message", "--args-json", `@${join(folder, "args.json")}`),
    await runTestCommand(
      ["call", "messaging_bot.send_message", "--entity", "ada", "--args-json", "@-"],
      { SVC_URL: server.url, SVC_API_KEY: server.key },
      json,
    ),
    await call("send_message", "--args-json", json, "--arg", "text=typed"),
  ];
  await rm(folder, { recursive: true });
  expect(results.map(({ printed }) => JSON.parse(printed.join("\n")).text)).toEqual([
    "from JSON",
    "from JSON",
    "from JSON",
    "typed",
  ]);
});

test.each([
  ["[1]", 'svc: --args-json "[1]" is not a JSON object'],
  ["{", "svc: --args-json is not JSON:"],
  ["@/nonexistent/args.json", "svc: --args-json @/nonexistent/args.json cannot be read:"],
])("--args-json %s is refused before anything is called", async (json, text) => {
  const { code, printed, noted } = await call("send_message", "--args-json", json);
  expect({ code, printed }).toEqual({ code: 1, printed: [] });
  expect(noted).toEqual([expect.stringContaining(text)]);
});

const destructive = ["delete_message", "--arg", "chat_id=4711", "--arg", "message_id=5"] as const;

test("a destructive tool is held with 3, shows what would be sent, and is executed with --confirm", async () => {
  const { code, printed, noted } = await call(...destructive);
  expect({ code, printed }).toEqual({ code: 3, printed: [] });
  expect(noted[0]).toBe("Request:");
  expect(noted.join("\n")).toMatch(/POST https:\S+\/deleteMessage\n.*Authorization: [^\n]*\*\*\*.*"message_id": 5/s);
  expect(noted.at(-1)).toBe(
    "svc: held: messaging_bot.delete_message is destructive, and nothing was sent. The same command with --confirm sends it.",
  );
  expect(await call(...destructive, "--confirm")).toMatchObject({ code: 0 });
});

test.each([
  ["of a write", ["send_message", "--arg", "chat_id=4711", "--arg", "text=Hi"], "Dry run: nothing was sent."],
  ["of what is destructive", destructive, "Dry run: nothing was sent. Without --confirm the call needs confirmation."],
])("a dry run %s prints the request with its credential masked", async (_, [tool = "", ...options], note) => {
  const { code, printed, noted } = await call(tool, ...options, "--dry-run");
  expect({ code, noted }).toEqual({ code: 0, noted: [note] });
  expect(printed[0]).toMatch(/^POST https:/);
  expect(printed.join("\n")).toContain("***");
});

test("every fault of the arguments is a line, and the command ends with 1", async () => {
  const { code, printed, noted } = await call("send_message", "--arg", "chat=5", "--arg", "text=Hi");
  expect({ code, printed }).toEqual({ code: 1, printed: [] });
  expect(noted).toEqual([
    "  the arguments must have required property 'chat_id'",
    '  the arguments must not have the property "chat"; did you mean "chat_id"?',
    "svc: invalid_arguments: 2 problems, and nothing was sent. `svc toolkits show messaging_bot.send_message` shows the arguments.",
  ]);
});

test("an entity without an account is told how to connect one", async () => {
  const options = ["--entity", "zoe", "--arg", "chat_id=1", "--arg", "text=Hi"];
  const { code, noted } = await svc("call", "messaging_bot.send_message", ...options);
  expect(code).toBe(1);
  expect(noted).toEqual([
    expect.stringMatching(/^svc: no_account: entity "zoe" .* `svc connect messaging_bot --entity zoe`\.$/),
  ]);
});

test.each([
  ["sandbox:429", /^svc: rate_limited \(HTTP 429\): .* The same call can be sent again in 1 s\.$/],
  ["sandbox:cut", /^svc: outcome_unknown: .* `svc tool-calls show call_\w+` shows what was sent\.$/],
])("what became of a call for %s is one line that says how to go on", async (entity, line) => {
  const options = ["--entity", entity, "--arg", "chat_id=1", "--arg", "text=Hi"];
  const { code, printed, noted } = await svc("call", "messaging_bot.send_message", ...options);
  expect({ code, printed }).toEqual({ code: 1, printed: [] });
  expect(noted).toEqual([expect.stringMatching(line)]);
});

test("a tool that is not there is refused with its reason", async () => {
  const { code, noted } = await svc("call", "nope.nope", "--arg", "a=1");
  expect(code).toBe(1);
  expect(noted).toEqual([expect.stringContaining("(TOOL_NOT_FOUND)")]);
});

test("a call that a full limit refuses says in how many seconds to come again; --json leaves standard output to answers", async () => {
  await svc("limits", "put", "once", "--toolkit", "messaging_bot", "--key", "entityId", "--rate", "1/1h");
  await svc("connect", "messaging_bot", "--entity", "limited");
  const options = ["call", "messaging_bot.get_me", "--entity", "limited"];
  expect(await svc(...options)).toMatchObject({ code: 0 });
  for (const json of [[], ["--json"]]) {
    const { code, printed, noted } = await svc(...options, ...json);
    expect({ code, printed }).toEqual({ code: 1, printed: [] });
    expect(noted).toEqual([expect.stringMatching(/\(CALL_LIMIT\)\. Send the same request again after \d{4} s, or /)]);
  }
  await svc("limits", "put", "once", "--toolkit", "messaging_bot", "--paused");
  expect((await svc(...options)).noted).toEqual([
    expect.stringMatching(/\(CALL_LIMIT_PAUSED\)\. Wait until .* Retry after \d+ s\.$/),
  ]);
  await svc("limits", "delete", "once");
});

test("a result is kept to --fields, and shortened to --max-bytes with a warning", async () => {
  const { printed } = await call("get_updates", "--fields", "updates.update_id");
  const { updates } = JSON.parse(printed.join("\n")) as { updates: object[] };
  expect(updates.length).toBeGreaterThan(1);
  expect(Object.keys(updates[0] ?? {})).toEqual(["update_id"]);
  const short = await call("get_updates", "--max-bytes", "300");
  expect(JSON.stringify(JSON.parse(short.printed.join("\n"))).length).toBeLessThanOrEqual(300);
  expect(short.noted).toContainEqual(expect.stringMatching(/^Warning: truncated: /));
});

test("tool-calls show says of a job's call that its arguments and result stay with the job", async () => {
  const steps = [
    { id: "say", call: "messaging_bot.send_message", entity: "ada", args: { chat_id: "5", text: "By a job" } },
  ];
  const programJson = JSON.stringify({ version: 1, title: "Say it", steps });
  const { json } = await server.call("svc.v1.JobsService/SubmitJob", { programJson });
  const jobId = String(json.job.id);
  let id = "";
  await until(async () => {
    const { printed } = await svc("tool-calls", "list", "--json");
    const calls = JSON.parse(printed.join("\n")) as { id: string; jobId?: string; outcome: string }[];
    id = calls.find((one) => one.jobId === jobId && one.outcome === "ok")?.id ?? "";
    return id !== "";
  });
  const { printed } = await svc("tool-calls", "show", id);
  expect(printed.join("\n")).toContain("Arguments and result belong to the job and are not shown here:");
  expect(printed.join("\n")).toContain(`svc jobs show ${jobId}`);
  expect(printed.join("\n")).not.toContain("By a job");
});

test("a call with an idempotency key is executed once, and the ledger shows one call", async () => {
  const options = ["--arg", "chat_id=1", "--arg", "text=Once", "--idempotency-key", "once"];
  const first = await call("send_message", ...options);
  const second = await call("send_message", ...options);
  expect(second.printed).toEqual(first.printed);
  expect(second.noted).toContainEqual(expect.stringMatching(/^Replayed: /));
});

test("tool-calls lists what was called by its filters, and shows one with arguments and result", async () => {
  await call("send_message", "--arg", "chat_id=77", "--arg", "text=For the ledger");
  const filters = ["--tool", "messaging_bot.send_message", "--outcome", "ok", "--since", "5m", "--limit", "1"];
  const { printed } = await svc("tool-calls", "list", ...filters);
  expect(printed[0]).toMatch(/^MADE +ID +TOOL +ENTITY +OUTCOME +HTTP +MS$/);
  expect(printed.slice(1)).toEqual([
    expect.stringMatching(/^\S+Z {2}call_\w+ {2}messaging_bot\.send_message {2}ada +ok +200 +\d+$/),
  ]);
  const [id = ""] = /call_\w+/.exec(printed[1] ?? "") ?? [];
  const shown = (await svc("tool-calls", "show", id)).printed.join("\n");
  expect(shown).toMatch(/^outcome +ok, HTTP 200$/m);
  expect(shown).toMatch(/^Arguments:\n\{.*"text": "For the ledger".*^Result:\n\{/ms);
  const message = JSON.parse((await svc("tool-calls", "show", id, "--json")).printed.join("\n"));
  expect(message).toMatchObject({ id, toolSlug: "messaging_bot.send_message", entityId: "ada", outcome: "ok" });
  const none = await svc("tool-calls", "--entity", "nobody");
  expect(none).toMatchObject({ printed: [expect.anything()], noted: ["No call matches."] });
  const unknown = await svc("tool-calls", "--tool", "nope.nope");
  expect(unknown.noted).toEqual(["No call matches, and the project has no tool nope.nope; `svc search` finds tools."]);
  const json = await svc("tool-calls", "list", ...filters, "--json");
  expect(JSON.parse(json.printed.join("\n"))).toMatchObject([{ id, outcome: "ok" }]);
});

test("the message of a recorded call names the command that helps, as the call itself did", async () => {
  await svc("call", "messaging_bot.get_me", "--entity", "zoe");
  const { printed } = await svc("tool-calls", "list", "--outcome", "no_account", "--entity", "zoe", "--since", "5m");
  const [id = ""] = /call_\w+/.exec(printed[1] ?? "") ?? [];
  const shown = (await svc("tool-calls", "show", id)).printed.join("\n");
  expect(shown).toMatch(/^message .*`svc connect messaging_bot --entity zoe`/m);
});

test("an outcome that there is not is refused with those there are", async () => {
  const { code, noted } = await svc("tool-calls", "--outcome", "fine");
  expect(code).toBe(1);
  expect(noted).toEqual([expect.stringMatching(/OUTCOME_INVALID.*outcome_unknown/)]);
});

test("search lists tools with class and first sentence, best first", async () => {
  const { code, printed, noted } = await svc("search", "tell", "the", "team", "chat", "--limit", "2");
  expect(code).toBe(0);
  expect(printed[0]).toMatch(/^TOOL +CLASS +CONFIDENCE +DESCRIPTION$/);
  expect(printed.slice(1).filter((line) => /^\S/.test(line))).toHaveLength(2);
  expect(noted).toEqual([expect.stringMatching(/^`svc toolkits show \w+\.\w+` shows the arguments of a tool\.$/)]);
});

test("search keeps to a toolkit and a class, and --json is the service's answer", async () => {
  const filters = ["--toolkit", "calendar", "--class", "destructive", "--json"];
  const { printed } = await svc("search", "remove a meeting", ...filters);
  const { results } = JSON.parse(printed.join("\n")) as { results: { tool: { slug: string; accessClass: string } }[] };
  expect(results.length).toBeGreaterThan(0);
  for (const { tool } of results) {
    expect(tool).toMatchObject({ slug: expect.stringMatching(/^calendar\./), accessClass: "destructive" });
  }
});

test("a search that nothing fits says so and prints nothing", async () => {
  const { code, printed, noted } = await svc("search", "zzzzqqqq");
  expect({ code, printed }).toEqual({ code: 0, printed: [] });
  expect(noted).toEqual(["No tool matches. Use other words, or fewer filters."]);
});
