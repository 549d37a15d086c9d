import { createSvcClient } from "@svc/sdk";
import { until } from "@svc/testing/server-process";
import type { Json, Playing } from "./leaks-playing.ts";

const inputSchema = {
  type: "object",
  additionalProperties: false,
  required: ["token"],
  properties: { token: { type: "string", "x-sensitive": true }, note: { type: "string" } },
};
const secretAnswer = {
  type: "object",
  additionalProperties: false,
  properties: { access_token: { type: "string", "x-sensitive": true } },
};
const exchange = {
  id: "exchange",
  call: "bank_link.exchange_public_token",
  entity: "ann",
  args: { public_token: { $ref: "input.token" } },
};
const item = {
  id: "item",
  call: "bank_link.get_item",
  entity: "ann",
  args: { access_token: { $ref: "steps.exchange.access_token" } },
};

/** A program over rows that contain a secret each: they are sent to one app, refused by another, and taken back. */
const overRows = {
  approval: { plan: "never" },
  points: {},
  saga: { on: ["failed"] },
  steps: [
    {
      id: "auth",
      call: "bank_link.get_auth",
      entity: "ann",
      args: { access_token: { $ref: "input.token" } },
      rows: { from: "numbers.ach[]", keep: ["account_id", "account"] },
    },
    {
      id: "tell",
      map: "auth",
      do: [
        {
          id: "send",
          call: "messaging_bot.send_message",
          entity: "ann",
          args: { chat_id: "@team", text: { $text: "{row.account}" } },
          undo: {
            call: "messaging_bot.delete_message",
            args: { chat_id: { $ref: "row.account" }, message_id: { $ref: "output.message_id" }, confirm: true },
          },
        },
        { id: "enter", call: "sales_crm.create_deal", entity: "ann", args: { title: { $ref: "row.account" } } },
      ],
    },
  ],
};

/**
 * Runs jobs that read secrets, ask about them, are answered with them and fail because of them. One of them is a skill, and some questions
 * go to people and endpoints.
 */
export async function useJobs(scene: Playing): Promise<void> {
  const { call, secrets, words, server, receiver } = scene;
  const reach = { toolSlug: "messaging_bot.send_message", entityId: "ann" };
  const template = JSON.stringify({ chat_id: "@team", text: "{question}" });
  const lead = { principalId: "lead", name: "Lead", reach: { ...reach, argsJson: template } };
  await call("ContactsService/PutContact", { contact: lead });
  await call("JobsService/CreateAskEndpoint", { endpointUrl: receiver.url });
  const program = {
    version: 1,
    title: "Uses secrets",
    inputSchema,
    input: { token: secrets["programInput"], note: words["programNote"] },
    params: { word: words["programParam"] },
    steps: [exchange, item, { id: "ask", judge: "sure" }],
    points: {
      sure: {
        question: "{input.token} {steps.exchange.access_token} {steps.item.item.item_id}?",
        continuations: ["proceed", "retry-with"],
        overrides: { target: "steps.item.args", rerunFrom: "item" },
        answerSchema: secretAnswer,
        escalation: [{ principal: "lead" }],
      },
    },
    result: {
      token: { $ref: "input.token" },
      text: { $text: "with {steps.exchange.access_token}" },
      repeated: { $ref: "steps.item.item.item_id" },
    },
  };
  const main = await submit(scene, program, { idempotencyKey: "main" });
  await submit(scene, program, { idempotencyKey: "main" });
  const overridesJson = JSON.stringify({ access_token: secrets["answered"] });
  await answerOnce(scene, main, {
    continuation: "retry-with",
    overridesJson: `{"access_token":["${secrets["answered"]}"]}`,
  });
  await answerOnce(scene, main, { continuation: "retry-with", overridesJson });
  await answerOnce(scene, main, { continuation: "proceed" });
  await ended(scene, main);
  await submit(scene, program, { mode: "simulate" });
  await submit(scene, { ...program, steps: [exchange, item], points: {} }, { simulateFirst: true });
  const failing = {
    ...program,
    points: {},
    result: {},
    // Neither tool marks its arguments as sensitive. Only the program knows that it passes a secret.
    steps: [
      { id: "tell", call: "sales_crm.create_deal", entity: "ann", args: { title: { $text: "fail {input.token}" } } },
    ],
  };
  await ended(scene, await submit(scene, failing));
  const unfit = { title: "t", currency: { $ref: "input.token" } };
  await ended(scene, await submit(scene, { ...failing, steps: [{ ...failing.steps[0], args: unfit }] }));
  await ended(scene, await submit(scene, { ...program, ...overRows, result: {} }));
  const paused = await submit(scene, { ...program, points: {}, result: {}, steps: [{ id: "pause", wait: "1h" }] });
  for (const method of ["PauseJob", "ResumeJob"]) await call(`JobsService/${method}`, { id: paused });
  await parkAndRelease(scene, { ...program, points: {}, result: {}, steps: [slow] });
  const literal = { ...exchange, args: { public_token: secrets["literal"] } };
  const param = { ...exchange, id: "other", args: { public_token: { $ref: "params.token" } } };
  const written = JSON.stringify({
    version: 1,
    title: "x",
    params: { token: secrets["literal"] },
    steps: [literal, param],
  });
  for (const method of ["SubmitJob", "CheckProgram", "DescribeProgram"])
    await call(`JobsService/${method}`, { programJson: written });
  await call("JobsService/SubmitJob", {
    programJson: JSON.stringify({ ...program, input: { token: [secrets["literal"]], other: secrets["literal"] } }),
  });
  await useRequests(scene);
  await call("JobsService/PromoteJob", { jobId: main, slug: "use", description: "Uses secrets, for tests of leaks." });
  const argumentsJson = JSON.stringify({ token: secrets["skillInput"] });
  await call("ToolsService/CallTool", { toolSlug: "skills.use", argumentsJson });
  const { jobs } = await call("JobsService/ListJobs", { skillSlug: "skills.use" });
  await until(async () => (await read(scene, jobs[0].id)).pendingAsk !== undefined, 10_000, "the skill's question");
  await call("JobsService/CancelJob", { id: jobs[0].id });
  await useSkills(scene);
  await until(() => receiver.received.length >= 3, 10_000, "the publication of asks");
  const client = createSvcClient({ baseUrl: server.url, apiKey: server.key });
  for await (const { event } of client.jobs.watchJob({ jobId: main })) {
    const { type = "", payloadJson = "", principalChain = [] } = event ?? {};
    scene.answers.push({
      method: "JobsService/WatchJob",
      isOk: true,
      text: [type, payloadJson, ...principalChain].join(" "),
    });
  }
}

/** Runs a skill as a step of another program, which passes a secret to it. */
async function useSkills(scene: Playing): Promise<void> {
  const { call, secrets } = scene;
  const input = { token: { $ref: "input.token" } };
  const program = {
    version: 1,
    title: "Runs a skill",
    inputSchema,
    input: { token: secrets["skillInput"] },
    steps: [{ id: "own", run: "skills.use", input }],
  };
  const parent = await submit(scene, program);
  const childOf = async () => (await call("JobsService/ListJobs", { parentJobId: parent })).jobs?.[0];
  await until(async () => (await childOf())?.pendingAsk !== undefined, 10_000, "the question of a child");
  await call("JobsService/CancelJob", { id: parent });
  await ended(scene, parent);
}

/** Makes HTTP requests with a secret in every place that accepts one. The host repeats it, in a successful answer and in an error. */
async function useRequests(scene: Playing): Promise<void> {
  const { call, server, app } = scene;
  const { projectId } = await call("IdentityService/GetIdentity");
  const http = { hosts: [new URL(app.url).host] };
  await call("AdminService/SetProjectPolicy", { projectId, http }, server.adminToken);
  const secret = { $secret: "own_function" };
  const request = (id: string, path: string, method = "POST") => ({
    id,
    http: {
      method,
      url: `${app.url}${path}`,
      headers: { authorization: { ...secret, prefix: "Bearer " }, "x-key": secret },
      query: { key: secret },
      ...(method === "POST" && { body: { deep: [secret] } }),
    },
  });
  const rows = { from: "list[]", keep: ["said"] };
  const told = { id: "tell", map: "rows", do: [request("each", "/own"), request("refused", "/refused")] };
  const program = (...steps: object[]) => ({ version: 1, title: "Requests", steps });
  const own = program(request("own", "/own"), { ...request("rows", "/own", "GET"), rows }, told);
  const result = { said: { $ref: "steps.own.said" }, text: { $text: "said {steps.own.said}" } };
  await ended(scene, await submit(scene, { ...own, result }));
  await ended(scene, await submit(scene, { ...own, result: {} }, { mode: "simulate" }));
  const refused = await submit(scene, { ...program(request("refused", "/refused")), params: { note: "" } });
  await ended(scene, refused);
  await call("JobsService/RetryJob", { id: refused, idempotencyKey: "again" });
  await ended(scene, refused);
  const rerun = await call("JobsService/RerunJob", { id: refused, repin: true });
  await ended(scene, rerun.job.id);
  const filter = { status: "JOB_STATUS_FAILED" };
  await call("JobsService/BulkJobs", { action: "BULK_JOBS_ACTION_RETRY", filter, dryRun: true });
  const vaulted = { ...exchange, args: { public_token: secret } };
  await ended(scene, await submit(scene, program(vaulted, { ...item, id: "again" })));
}

/** A read whose answer the app holds back until the test allows it. */
const slow = { id: "slow", call: "sales_crm.list_deals", entity: "ann", args: { status: "lost" } };

/** Parks a job in the middle of a call, as the administrator, and releases it. */
async function parkAndRelease(scene: Playing, program: object): Promise<void> {
  const { call, server, held } = scene;
  const jobId = await submit(scene, program);
  await until(() => held.length > 0, 10_000, "the call of a job");
  const { projectId } = await call("IdentityService/GetIdentity");
  for (const method of ["ParkJob", "ReleaseJob"]) {
    await call(`AdminService/${method}`, { projectId, jobId }, server.adminToken);
  }
  for (const answer of held.splice(0)) answer();
}

async function submit({ call }: Playing, program: object, changes: object = {}): Promise<string> {
  const answer = await call("JobsService/SubmitJob", { programJson: JSON.stringify(program), ...changes });
  if (answer.job === undefined) throw new Error(JSON.stringify(answer));
  return answer.job.id;
}

async function read({ call }: Playing, id: string): Promise<Json> {
  return (await call("JobsService/GetJob", { id })).job;
}

async function ended(scene: Playing, id: string): Promise<void> {
  await until(async () => (await read(scene, id)).finishedAt !== undefined, 10_000, "the end of a job");
}

/** Waits for a question that is not answered yet, and answers it. A refused answer does not settle the question. */
async function answerOnce(scene: Playing, jobId: string, answer: object): Promise<void> {
  await until(async () => (await read(scene, jobId)).pendingAsk !== undefined, 10_000, "a question");
  await scene.call("JobsService/CreateAnswerLink", { jobId, principalId: "lead" });
  await scene.call("JobsService/AnswerAsk", { jobId, principalId: "lead", note: "as you wish", ...answer });
}
