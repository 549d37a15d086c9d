import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSvcClient, JobStatus, type SvcClient } from "@svc/sdk";
import { createTestDatabase } from "@svc/testing/database";
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from "@svc/testing/otlp-receiver";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { calendarSecret, startServerProcess, vaultKey } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "./source.ts";

// A post that starts a job, with an OpenTelemetry receiver that gets all spans of it as one trace.

const senderTrace = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${senderTrace}-00f067aa0ba902b7-01`;
/** The trace of the post, which svc begins. */
let trace = "";
/** A value of the calendar's post, which must be in no span. */
const secretChannel = "channel-of-a-person";

let otlp: OtlpReceiver;
let receiver: TestReceiver;
let server: TestServer;
let client: SvcClient;
let jobId = "";

const program = {
  version: 1,
  title: "Copy the deals of Ada",
  steps: [{ id: "deals_of_ada", call: "sales_crm.list_deals", entity: "ada" }],
};
const definition = { version: 1, source: { trigger: { slug: "calendar.events_changed" } }, program };

function variablesOf({ url }: OtlpReceiver): Record<string, string> {
  return {
    SVC_WEBHOOK_SECRET_CALENDAR: calendarSecret,
    SVC_SANDBOX: "force",
    SVC_RETRY_SCHEDULE: "100ms",
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: "x-receiver-key=key-of-the-receiver",
    OTEL_SERVICE_NAME: "svc-of-the-test",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    OTEL_BSP_SCHEDULE_DELAY: "50",
  };
}

async function postCalendar(headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(`${server.url}/webhooks/calendar?token=${calendarSecret}`, {
    method: "POST",
    headers: {
      "x-calendar-channel-id": secretChannel,
      "x-calendar-message-number": String(Math.floor(performance.now() * 1_000)),
      "x-calendar-resource-id": "resource-1",
      "x-calendar-resource-state": "exists",
      "x-calendar-resource-uri": "https://calendar.example/calendar/v3/calendars/primary/events?alt=json",
      ...headers,
    },
  });
  await response.arrayBuffer();
  return response.status;
}

const inTrace = (id: string) => otlp.spans.filter(({ traceId }) => traceId === id);
const isOwn = ({ name, links }: ReceivedSpan, id: string) =>
  name === "post" && links.some((link) => link.traceId === id);
/** Returns the trace of the post that is linked with the trace of its sender; empty if it has not arrived. */
const traceOfPost = (sender: string) => otlp.spans.find((span) => isOwn(span, sender))?.traceId ?? "";
const namesOf = (spans: readonly ReceivedSpan[]) => spans.map(({ name }) => name).sort();

beforeAll(async () => {
  otlp = await startOtlpReceiver();
  receiver = await startTestReceiver();
  server = await startTestServer({ variables: variablesOf(otlp) });
  client = createSvcClient({ baseUrl: server.url, apiKey: server.key });
  await client.connections.initiateConnection({ toolkitSlug: "sales_crm", entityId: "ada" });
  await client.triggers.createSubscription({ endpointUrl: receiver.url });
  const definitionJson = JSON.stringify(definition);
  const { standingProgram } = await client.standing.createStandingProgram({ slug: "copy", definitionJson });
  expect(await postCalendar({ traceparent })).toBe(202);
  await until(async () => {
    const { runs } = await client.standing.listStandingRuns({ standingProgramId: standingProgram?.id ?? "" });
    jobId = runs[0]?.jobId ?? "";
    const { job } = jobId === "" ? {} : await client.jobs.getJob({ id: jobId });
    return job?.status === JobStatus.SUCCEEDED && receiver.requests.length > 0;
  });
  await until(() => namesOf(inTrace(traceOfPost(senderTrace))).includes("job"));
  trace = traceOfPost(senderTrace);
}, 180_000);
afterAll(async () => {
  await server?.stop();
  await receiver?.[Symbol.asyncDispose]();
  await otlp?.[Symbol.asyncDispose]();
  for (const name of Object.keys(process.env)) if (name.startsWith("OTEL_")) delete process.env[name];
});

test("a post, its delivery, its run, its job and the request to the app are one connected trace", async () => {
  const spans = inTrace(trace);
  const parentOf = new Map(spans.map(({ id, parentId }) => [id, parentId]));
  const byName = new Map(spans.map((span) => [span.name, span]));
  const pathOf = (name: string) => {
    const path: string[] = [];
    for (let id = byName.get(name)?.id; id !== undefined; id = parentOf.get(id))
      path.unshift(spans.find((span) => span.id === id)?.name ?? id);
    return path;
  };
  const from = ["", "post", "record"];
  expect(pathOf("deliver")).toEqual([...from, "deliver"]);
  const tool = ["job", "step call", "execute_tool sales_crm.list_deals", "request GET"];
  expect(pathOf("request GET")).toEqual([...from, "schedule decision", ...tool]);
  expect(byName.get("job")?.attributes["svc.job.id"]).toBe(jobId);
  expect(byName.get("execute_tool sales_crm.list_deals")?.attributes).toMatchObject({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "sales_crm.list_deals",
  });
});

test("the trace of a post is linked with the trace of its sender, and is not part of it", () => {
  expect(inTrace(senderTrace)).toEqual([]);
  const post = inTrace(trace).find(({ name }) => name === "post");
  expect(post).toMatchObject({ parentId: "", links: [{ traceId: senderTrace, id: "00f067aa0ba902b7" }] });
});

test("the commit of a batch is a trace of its own, which is linked with the event", () => {
  const record = inTrace(trace).find(({ name }) => name === "record");
  const commit = otlp.spans.find(
    ({ name, links }) => name === "batch commit" && links.some(({ id }) => id === record?.id),
  );
  expect(commit?.traceId).not.toBe(trace);
  expect(commit?.links).toEqual([{ traceId: trace, id: record?.id }]);
});

test("the endpoint can continue the trace", () => {
  const delivery = inTrace(trace).find(({ name }) => name === "deliver");
  expect(receiver.requests[0]?.headers["traceparent"]).toBe(`00-${trace}-${delivery?.id}-01`);
});

test("the receiver gets the service, its attributes and the operator's headers", () => {
  expect(otlp.resources[0]).toMatchObject({
    "service.name": "svc-of-the-test",
    "service.instance.id": server.server.nodeId,
    "deployment.environment.name": "test",
  });
  expect(otlp.headers[0]).toMatchObject({ "x-receiver-key": "key-of-the-receiver", path: "/v1/traces" });
});

test("the metrics name the trace of a delivery, a call and a job in the format OpenMetrics", async () => {
  const response = await fetch(`${server.url}/metrics`);
  expect(response.headers.get("content-type")).toContain("application/openmetrics-text");
  const text = await response.text();
  expect(text).toMatch(/# EOF\n$/);
  const timed = ["ingest_post", "delivery_attempt", "tool_call", "job"];
  for (const name of timed) {
    const line = new RegExp(
      `^svc_${name}_duration_seconds_bucket\\{.*\\} \\d+ # \\{trace_id="${trace}",span_id="[0-9a-f]{16}"\\}`,
      "m",
    );
    expect(text).toMatch(line);
  }
});

test("no span has a secret, a payload, or a name that the project chose", () => {
  const text = JSON.stringify([otlp.spans, otlp.resources]);
  const chosen = [
    secretChannel,
    "resource-1",
    calendarSecret,
    server.key,
    receiver.url,
    "deals_of_ada",
    "Copy the deals",
  ];
  for (const value of chosen) expect(text).not.toContain(value);
});

test("an API call continues the trace of its caller, and so does the job that it submits", async () => {
  const own = "4bf92f3577b34da6a3ce929d0e0e4736";
  const headers = { traceparent: `00-${own}-00f067aa0ba902b7-01` };
  const { json } = await server.call(
    "svc.v1.JobsService/SubmitJob",
    { programJson: JSON.stringify(program) },
    { headers },
  );
  await until(async () => (await client.jobs.getJob({ id: json.job.id })).job?.status === JobStatus.SUCCEEDED);
  await until(() => ["job", "svc.v1.JobsService/SubmitJob"].every((name) => namesOf(inTrace(own)).includes(name)));
  const call = inTrace(own).find(({ name }) => name.startsWith("svc.v1."));
  expect(call).toMatchObject({ parentId: "00f067aa0ba902b7", attributes: { "rpc.method": "SubmitJob" } });
  expect(inTrace(own).find(({ name }) => name === "job")?.parentId).toBe(call?.id);
  expect(namesOf(inTrace(own))).toContain("request GET");
});

/** Submits a program in a trace of its own, waits until the job has ended, and returns the spans of the trace. */
async function spansOfJob(own: string, submitted: object): Promise<ReceivedSpan[]> {
  const headers = { traceparent: `00-${own}-00f067aa0ba902b7-01` };
  const body = { programJson: JSON.stringify(submitted) };
  expect((await server.call("svc.v1.JobsService/SubmitJob", body, { headers })).status).toBe(200);
  await until(() => namesOf(inTrace(own)).includes("job"));
  return inTrace(own);
}

test("a failed job and its failed step have the error of the step, and a step that ended before has none", async () => {
  const [calls] = program.steps;
  const steps = [calls, { id: "stop_here", fail: "the deals of Ada are wrong" }];
  const spans = await spansOfJob("9bf92f3577b34da6a3ce929d0e0e4736", { ...program, steps });
  const error = { status: 2, message: "FAIL_STEP", attributes: { "error.type": "FAIL_STEP" } };
  expect(spans.find(({ name }) => name === "job")).toMatchObject(error);
  expect(spans.find(({ name }) => name === "step fail")).toMatchObject(error);
  expect(spans.find(({ name }) => name === "step call")).toMatchObject({ status: 0, message: "" });
  expect(JSON.stringify(spans)).not.toContain("deals of Ada");
});

test("a step whose error the program handles has the error, and the job has none", async () => {
  const steps = JSON.parse(`[{ "id": "tried", "if": "1 < 2", "then": [{ "id": "stop", "fail": "no" }],
    "onError": { "codes": ["FAIL_STEP"], "then": "continue" } }]`);
  const spans = await spansOfJob("abf92f3577b34da6a3ce929d0e0e4736", { ...program, steps });
  expect(spans.find(({ name }) => name === "step fail")).toMatchObject({ status: 2, message: "FAIL_STEP" });
  expect(spans.find(({ name }) => name === "job")).toMatchObject({ status: 0, message: "" });
});

test("a job that a node claimed is linked with the claim, and is not part of its trace", async () => {
  const claims = () => otlp.spans.filter(({ name }) => name === "claim jobs");
  const isLinked = ({ name, links }: ReceivedSpan) =>
    name === "job" &&
    links.some((link) => claims().some(({ traceId, id }) => link.traceId === traceId && link.id === id));
  // A job that waits is claimed when its time has come.
  const steps = [{ id: "rest", wait: "1s" }];
  const own = "bbf92f3577b34da6a3ce929d0e0e4736";
  await spansOfJob(own, { ...program, steps });
  await until(() => inTrace(own).some(isLinked));
  expect(claims().every(({ traceId, parentId }) => traceId !== own && parentId === "")).toBe(true);
});

test("an MCP request continues the trace that the client names in _meta", async () => {
  const own = "5bf92f3577b34da6a3ce929d0e0e4736";
  const version = "2026-07-28";
  const response = await fetch(`${server.url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      authorization: `Bearer ${server.key}`,
      ...{ "mcp-protocol-version": version, "mcp-method": "tools/list" },
    },
    body: JSON.stringify({
      ...{ jsonrpc: "2.0", id: 1, method: "tools/list" },
      params: {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": version,
          "io.modelcontextprotocol/clientCapabilities": {},
          traceparent: `00-${own}-00f067aa0ba902b7-01`,
        },
      },
    }),
  });
  expect(response.status).toBe(200);
  await until(() => inTrace(own).length > 0);
  expect(inTrace(own)[0]).toMatchObject({
    ...{ name: "mcp tools/list", parentId: "00f067aa0ba902b7" },
    attributes: { "mcp.method.name": "tools/list", "mcp.protocol.version": version },
  });
});

test.each(["", "garbage", `00-${"0".repeat(32)}-00f067aa0ba902b7-01`, `ff-${senderTrace}-00f067aa0ba902b7-01`])(
  "a post with the traceparent %j has no link",
  async (text) => {
    const before = otlp.spans.filter(({ name }) => name === "post").length;
    expect(await postCalendar({ traceparent: text })).toBe(202);
    await until(() => otlp.spans.filter(({ name }) => name === "post").length > before);
    expect(otlp.spans.filter(({ name }) => name === "post").at(-1)).toMatchObject({ parentId: "", links: [] });
  },
);

test("a delivery that is tried again continues the trace of its event", async () => {
  const own = "7bf92f3577b34da6a3ce929d0e0e4736";
  receiver.script({ status: 500 }, { status: 200 });
  expect(await postCalendar({ traceparent: `00-${own}-00f067aa0ba902b7-01` })).toBe(202);
  const attempts = () => inTrace(traceOfPost(own)).filter(({ name }) => name === "deliver");
  await until(() => attempts().length === 2);
  const record = inTrace(traceOfPost(own)).find(({ name }) => name === "record");
  expect(attempts()).toMatchObject([
    { parentId: record?.id, status: 2, attributes: { "svc.attempt": "1", "error.type": "http_500" } },
    { parentId: record?.id, status: 0, attributes: { "svc.attempt": "2", "http.response.status_code": "200" } },
  ]);
});

test("the sender of a post does not decide that it is not traced", async () => {
  const own = "6bf92f3577b34da6a3ce929d0e0e4736";
  const sent = receiver.requests.length;
  expect(await postCalendar({ traceparent: `00-${own}-00f067aa0ba902b7-00` })).toBe(202);
  await until(() => receiver.requests.length > sent && traceOfPost(own) !== "");
  const form = new RegExp(`^00-${traceOfPost(own)}-[0-9a-f]{16}-01$`);
  expect(receiver.requests.at(-1)?.headers["traceparent"]).toMatch(form);
  expect(inTrace(own)).toEqual([]);
});

test("a call that is refused before it is processed has no span", async () => {
  const own = "8bf92f3577b34da6a3ce929d0e0e4736";
  const headers = { traceparent: `00-${own}-00f067aa0ba902b7-01` };
  const listEvents = "svc.v1.TriggersService/ListEvents";
  const { status } = await server.call(listEvents, {}, { bearer: null, headers });
  expect(status).toBe(401);
  expect((await fetch(`${server.url}/${listEvents}`, { headers })).status).toBe(405);
  await server.call(listEvents, {}, { headers });
  await until(() => inTrace(own).length > 0);
  expect(inTrace(own)).toMatchObject([{ parentId: "00f067aa0ba902b7", status: 0 }]);
});

/** The libraries of OpenTelemetry without its API, which the library of metrics loads to measure the process without spans. */
const loaded = /node_modules\/@opentelemetry\/(?!api\/)|open-tracer/;

test("without a receiver, a node loads no library of OpenTelemetry", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-loaded-"));
  const database = await createTestDatabase();
  const key = vaultKey();
  try {
    const list = join(folder, "loaded.txt");
    const hooks = join(folder, "hooks.mjs");
    const line = 'appendFileSync(process.env.LOADED, url + "\\n");';
    const load = `load(url, context, next) { ${line} return next(url, context); }`;
    const text = `import { appendFileSync } from "node:fs"; import { registerHooks } from "node:module"; registerHooks({ ${load} });`;
    writeFileSync(hooks, text);
    // A bundle has all libraries in one file, so the server is started from its sources.
    process.env["SVC_TEST_PROGRAM"] = `${process.execPath} ${join(root, "packages/cli/src/main.ts")}`;
    const loadedBy = async (variables: Record<string, string>) => {
      writeFileSync(list, "");
      const common = {
        SVC_DATABASE_URL: database.url,
        SVC_VAULT_KEY: key,
        NODE_OPTIONS: `--import ${hooks}`,
        LOADED: list,
      };
      const started = await startServerProcess({ ...common, ...variables });
      await started.end("SIGTERM");
      return readFileSync(list, "utf8");
    };
    expect(await loadedBy({})).not.toMatch(loaded);
    // The same check finds the libraries if there is a receiver.
    expect(await loadedBy({ OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url })).toMatch(loaded);
  } finally {
    delete process.env["SVC_TEST_PROGRAM"];
    rmSync(folder, { recursive: true, force: true });
    await database.drop();
  }
}, 240_000);
