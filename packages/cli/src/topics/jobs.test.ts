import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

let server: TestServer;
let folder: string;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  folder = await mkdtemp(join(tmpdir(), "svc-cli-"));
  await svc("connect", "messaging_bot", "--entity", "ops");
  await svc("contacts", "put", "lead", "--name", "Ada");
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

function svc(...argv: string[]) {
  return runTestCommand(argv, { SVC_URL: server.url, SVC_API_KEY: server.key });
}

async function saveProgram(name: string, program: unknown): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, typeof program === "string" ? program : JSON.stringify(program, undefined, 2));
  return file;
}

const send = {
  id: "send",
  call: "messaging_bot.send_message",
  entity: "ops",
  args: { chat_id: "@team", text: { $ref: "input.text" } },
};
const announce = {
  version: 1,
  title: "Announce",
  inputSchema: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
  input: { text: "Hello" },
  steps: [send],
  result: { text: { $ref: "steps.send.text" } },
};
const asking = {
  ...announce,
  params: { count: 2 },
  steps: [{ id: "gate", judge: "sure" }, send],
  points: {
    sure: {
      question: "Send {params.count}?",
      continuations: ["proceed", "retry-with", "abort"],
      overrides: { target: "params", rerunFrom: "gate" },
      answerSchema: { type: "object", additionalProperties: false, properties: { count: { type: "integer" } } },
      escalation: [{ principal: "lead", timeout: "1h" }],
    },
  },
};

test("submit --watch shows the job to its end, prints its result, and --set gives its input", async () => {
  const file = await saveProgram("announce.json", announce);
  const { code, printed, noted } = await svc("jobs", "submit", file, "--set", "input.text=5 o'clock", "--watch");
  expect(code).toBe(0);
  expect(JSON.parse(printed.join("\n"))).toEqual({ text: "5 o'clock" });
  expect(noted[0]).toMatch(/^job_\w{26}$/);
  expect(noted.at(-1)).toMatch(/^job job_\w+ succeeded/);
});

test("submit prints the job's id alone, and the same one for the same idempotency key", async () => {
  const file = await saveProgram("announce.json", announce);
  const first = await svc("jobs", "submit", file, "--idempotency-key", "monday");
  const second = await svc("jobs", "submit", file, "--idempotency-key", "monday");
  expect(first).toMatchObject({ code: 0, printed: [expect.stringMatching(/^job_\w{26}$/)] });
  expect(second.printed).toEqual(first.printed);
});

test("every fault of a program is a line with the file's line, the pointer and the code", async () => {
  const text = `{
  "version": 1,
  "title": "Faulty",
  "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
  "input": {"n": 1},
  "steps": [
    {"id": "a", "call": "messaging_bot.nope", "entity": "ops", "args": {}},
    {"id": "b", "judge": "missing",
     "extra": true}
  ]
}`;
  const file = await saveProgram("faulty.json", text);
  const { code, printed, noted } = await svc("jobs", "submit", file, "--set", "input.n=many");
  expect({ code, printed }).toEqual({ code: 1, printed: [] });
  expect(noted).toEqual([
    expect.stringMatching(/^--set input\.n \/input\/n PROGRAM_ARGUMENT_INVALID: /),
    expect.stringContaining(`${file}:7 /steps/0/call PROGRAM_TOOL_UNKNOWN: there is no tool`),
    expect.stringContaining(`${file}:8 /steps/1/judge PROGRAM_REFERENCE_INVALID: `),
    expect.stringContaining(`${file}:9 /steps/1/extra PROGRAM_MALFORMED: `),
    `svc: ${file} has 4 problems, and nothing was submitted`,
  ]);
  const checked = await svc("jobs", "check", file, "--set", "input.n=many");
  expect(checked).toEqual({ code: 1, printed: noted.slice(0, 4), noted: [`svc: ${file} has 4 problems`] });
  const [fault] = (JSON.parse((await svc("jobs", "check", file, "--json")).printed.join("")) as { faults: object[] })
    .faults;
  expect(fault).toMatchObject({ reason: "PROGRAM_TOOL_UNKNOWN", field: "programJson/steps/0/call" });
});

test("a program without faults is told what it can do, and is not submitted", async () => {
  const file = await saveProgram("asking-only.json", asking);
  const { code, printed } = await svc("jobs", "check", file);
  expect({ code, printed }).toEqual({
    code: 0,
    printed: [
      expect.stringMatching(/ can be submitted: 1 to \d+ calls?; /),
      "needs approval: no",
      expect.stringMatching(/^programHash: [0-9a-f]{64}$/),
    ],
  });
});

test("a program that is no JSON is refused by line and column before anything is sent", async () => {
  const { code, noted } = await runTestCommand(["jobs", "submit", "-"], { SVC_API_KEY: "key" }, '{"a": 1,\n b}');
  expect({ code, noted }).toEqual({ code: 1, noted: [expect.stringMatching(/^svc: stdin:2:2 is not JSON: /)] });
});

test("a question is listed, shown with the values of the program, answered by its id or the job's, and read back", async () => {
  const file = await saveProgram("asking.json", asking);
  const parked = await svc("jobs", "submit", file, "--watch");
  expect(parked.code).toBe(3);
  const jobId = parked.noted[0] ?? "";
  const listed = await svc("asks", "list", "--job", jobId);
  const askId = /ask_\w+/.exec(listed.printed[1] ?? "")?.[0] ?? "";
  expect(listed.printed[1]).toMatch(/pending +lead +Send 2\?$/);
  const shown = await svc("asks", "show", askId);
  expect(shown.printed.at(-2)).toBe(`    svc answer ${askId} retry-with --as lead --overrides '{"count":2}'`);
  // Removes the remaining time from the lines, because it may change between two commands.
  const withoutTime = (lines: readonly string[]) => lines.map((line) => line.replace(/, for .+ more$/, ""));
  const ofJob = await svc("asks", "show", askId, "--job", jobId);
  expect(withoutTime(ofJob.printed)).toEqual(withoutTime(shown.printed));
  const elsewhere = await svc("asks", "show", askId, "--job", "job_00000000000000000000000000");
  expect(elsewhere).toMatchObject({ code: 1, printed: [], noted: [expect.stringContaining("_NOT_FOUND")] });

  expect(await svc("answer", askId, "skip", "--as", "lead")).toMatchObject({ code: 1, printed: [] });
  const again = await svc("answer", askId, "retry-with", "--as", "lead", "--overrides", '{"count": 3}');
  expect(again).toMatchObject({ code: 0, printed: [expect.stringMatching(`^${jobId} is `)] });
  expect((await svc("jobs", "watch", jobId)).noted).toContain("? Send 3?");
  expect(await svc("answer", jobId, "proceed", "--as", "lead", "--note", "fine")).toMatchObject({ code: 0 });
  expect(await svc("jobs", "watch", jobId)).toMatchObject({ code: 0 });

  const settled = await svc("asks", "list", "--job", jobId, "--state", "answered");
  expect(settled.printed).toHaveLength(3);
  const job = (await svc("jobs", "show", jobId)).printed.join("\n");
  expect(job).toMatch(/^send +call +messaging_bot\.send_message +completed +- +1 write/m);
  expect(job).toContain("2 asked: 2 answered, 0 by default, 0 withdrawn; 1 answer refused");
  const log = (await svc("jobs", "log", jobId)).printed.join("\n");
  expect(log).toMatch(/ask-settled +gate +contact:lead/);
});

test("a question keeps its lines where it is shown, and is one line in a list", async () => {
  const text = "Send it?\n- to the team\n  Answer with one of:";
  const points = { sure: { ...asking.points.sure, question: text, overrides: undefined, answerSchema: undefined } };
  const continuations = ["proceed", "abort"];
  const file = await saveProgram("lines.json", { ...asking, points: { sure: { ...points.sure, continuations } } });
  const jobId = (await svc("jobs", "submit", file, "--watch")).noted[0] ?? "";
  const listed = (await svc("asks", "list", "--job", jobId)).printed[1] ?? "";
  expect(listed).toMatch(/Send it\? - to the team/);
  const askId = /ask_\w+/.exec(listed)?.[0] ?? "";
  const shown = (await svc("asks", "show", askId)).printed.join("\n");
  expect(shown).toMatch(/^question +Send it\?\n +- to the team\n/m);
  expect(shown).toMatch(/^\? Send it\?\n {2}\| - to the team\n {2}\| {3}Answer with one of:\n/m);
  expect((await svc("jobs", "cancel", jobId)).code).toBe(0);
});

test("what waits is found by its status, cancelled, and watched to an end with 1", async () => {
  const file = await saveProgram("asking.json", asking);
  const jobId = (await svc("jobs", "submit", file, "--watch")).noted[0] ?? "";
  expect((await svc("jobs", "list", "--status", "parked")).printed.join("\n")).toContain(jobId);
  expect((await svc("jobs", "cancel", jobId)).code).toBe(0);
  // The job still asks its question until an engine handles the cancellation. Without `--wait`, the watch would end at this question.
  const { code, noted } = await svc("jobs", "watch", jobId, "--wait");
  expect({ code, last: noted.at(-1) }).toEqual({ code: 1, last: expect.stringContaining(`${jobId} was cancelled`) });
});

test("an answer that ends its job names no command that follows it, and a ladder's times are told as spans", async () => {
  const file = await saveProgram("asking.json", asking);
  const jobId = (await svc("jobs", "submit", file, "--watch")).noted[0] ?? "";
  const askId = /ask_\w+/.exec((await svc("asks", "list", "--job", jobId)).printed[1] ?? "")?.[0] ?? "";
  expect((await svc("asks", "show", askId)).printed.join("\n")).toMatch(/^ladder +lead for 1 h$/m);
  const answered = await svc("answer", askId, "abort", "--as", "lead");
  expect(answered).toEqual({ code: 0, printed: [`${jobId} is aborted`], noted: [] });
});

test("a job that succeeded is promoted to a skill, whose jobs are listed by it", async () => {
  const file = await saveProgram("announce.json", announce);
  const jobId = (await svc("jobs", "submit", file, "--watch")).noted[0] ?? "";
  const promoted = await svc("jobs", "promote", jobId, "--slug", "announce", "--description", "Announces something");
  expect(promoted).toMatchObject({ code: 0, printed: ["skills.announce"] });
  const called = await svc("call", "skills.announce", "--arg", "text=Hi");
  expect(called).toMatchObject({
    code: 0,
    noted: ["Sandbox: the job was submitted; the results of its calls are made up."],
  });
  for (const skill of ["skills.announce", "announce"]) {
    expect((await svc("jobs", "list", "--skill", skill)).printed).toHaveLength(2);
  }
  const again = ["jobs", "promote", jobId, "--slug", "announce", "--description", "Announces more", "--new-version"];
  expect((await svc(...again)).noted[0]).toBe("It is now version 2.");
  expect((await svc("skills")).printed[1]).toMatch(/^announce +2 +write +Announces more$/);
  expect((await svc("skills", "list", "announce")).printed).toHaveLength(3);
  const read = await svc("skills", "get", "skills.announce", "--skill-version", "1");
  expect(read.noted).toEqual([`skills.announce, version 1, promoted from ${jobId}`]);
  expect(JSON.parse(read.printed[0] ?? "")).toMatchObject({ version: 1 });
  expect((await svc("skills", "delete", "announce", "--skill-version", "2")).printed).toEqual([
    "version 2 of announce is deleted",
  ]);
  expect((await svc("skills")).printed[1]).toMatch(/^announce +1 +write +Announces something$/);
});

test("contacts are put with how they are reached, listed and deleted", async () => {
  const reach = ["--reach-tool", "messaging_bot.send_message", "--reach-entity", "ops"];
  const args = ["--reach-args", '{"chat_id": "@ben", "text": "{question}"}'];
  const put = await svc("contacts", "put", "head", "--name", "Ben", "--approver", ...reach, ...args);
  expect(put.printed).toEqual(["head is an approver and is reached by messaging_bot.send_message"]);
  expect((await svc("contacts")).printed[1]).toMatch(/^head +yes +messaging_bot\.send_message as ops +Ben$/);
  expect((await svc("contacts", "delete", "head")).printed).toEqual(["head is deleted"]);
  const { code, noted } = await svc("contacts", "put", "head", "--name", "Ben", ...args);
  expect({ code, noted }).toEqual({ code: 1, noted: [expect.stringContaining("need --reach-tool")] });
});
