import { type DescService, getOption } from "@bufbuild/protobuf";
import { AdminService } from "@svc/gen/admin";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { ConsoleService } from "@svc/gen/console";
import { ContactsService } from "@svc/gen/contacts";
import { GrantsService } from "@svc/gen/grants";
import { IdentityService } from "@svc/gen/identity";
import { JobsService } from "@svc/gen/jobs";
import { Role, required_role } from "@svc/gen/options";
import { SandboxService } from "@svc/gen/sandbox";
import { SecretsService } from "@svc/gen/secrets";
import { StandingService } from "@svc/gen/standing";
import { StatsService } from "@svc/gen/stats";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import { letIn, registerAgent } from "@svc/testing/agent";
import { signInToConsole } from "@svc/testing/console-session";
import { repeats } from "@svc/testing/sample";
import { until } from "@svc/testing/until";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type DeskWorld,
  deleteNote,
  deleting,
  ownDefinition,
  reading,
  startDeskWorld,
  type Written,
  writing,
} from "./confirm-desk.ts";
import { callMcp } from "./confirm-world.ts";

// An approver's key, together with the keys that it makes for agents, its grants and its sessions, must not be able to send a destructive
// call under `confirm: person` by any sequence of calls. The test uses all calls of the contract: a new call fails the first test until it
// is added here.

const services: readonly DescService[] = [
  ...[AdminService, CatalogService, ConnectionsService, ConsoleService, ContactsService, GrantsService],
  ...[
    IdentityService,
    JobsService,
    SandboxService,
    SecretsService,
    StandingService,
    StatsService,
    ToolsService,
    TriggersService,
  ],
];
const callsOfKeys = services.flatMap(({ name, methods }) =>
  methods.filter((method) => getOption(method, required_role) !== Role.ADMIN).map((method) => `${name}/${method.name}`),
);

const json = JSON.stringify;
const saga = { on: ["failed", "aborted", "cancelled"] };
let world: DeskWorld;
let approver: string;
let person: string;
/** The keys of one person: the approver's key, and the keys that it made for agents. */
const hand: string[] = [];
/** The key with which the next call is made. */
let acting: string;
/** Grants that were given with these keys. */
const grants: string[] = [];
/** The approver's session in the console. */
let session: Awaited<ReturnType<typeof signInToConsole>>;
let counter = 0;
/** The notes that each job of a call would delete, by the job's id. */
const notes = new Map<string, Set<string>>();
/** For each note, the number of times that another person allowed its deletion. */
const allowed = new Map<string, number>();
/** Requests that the app received while the policy was active. */
const sent: Written[] = [];

/** Random numbers for a command: `pick` chooses an object, `form` a variant. */
type Draw = { readonly pick: number; readonly form: number };

const fresh = (letter: string) => {
  counter += 1;
  return `${letter}${counter}`;
};
const by = (method: string, body: object, key = acting) => world.tried(method, body, key);
const chosen = <T>(all: readonly T[], pick: number): T | undefined => all[pick % Math.max(1, all.length)];
const listed = async (method: string, field: string): Promise<Record<string, string>[]> =>
  (await by(method, { pageSize: 100 }, approver)).json[field] ?? [];
const jobId = async ({ pick }: Draw) => chosen(await listed("JobsService/ListJobs", "jobs"), pick)?.["id"] ?? "job_";
const standingId = async ({ pick }: Draw) =>
  chosen(await listed("StandingService/ListStandingPrograms", "standingPrograms"), pick)?.["id"] ?? "stp_";
const skill = async ({ pick }: Draw) => chosen(await listed("JobsService/ListSkills", "skills"), pick)?.["slug"];

/** Returns programs that delete something, each in another way. */
async function programOf(draw: Draw): Promise<{ readonly program: object; readonly own: readonly string[] }> {
  const [note, undone] = [fresh("n"), fresh("u")];
  const named = { $ref: "params.note" };
  const inputSchema = { type: "object", additionalProperties: false, properties: {} };
  const base = { version: 1, title: "T", approval: { plan: "never" }, params: { note }, inputSchema, input: {} };
  const slug = await skill(draw);
  const fetched = { ...reading("l"), rows: { from: "items[]", key: "id", keep: ["id"] } };
  const sure = {
    ...{ question: "Sure?", continuations: ["proceed", "retry-with", "abort"], escalation: [{ principal: "lead" }] },
    overrides: { target: "params", rerunFrom: "r" },
    answerSchema: { type: "object", additionalProperties: false, properties: { note: { type: "string" } } },
  };
  const forms: readonly object[] = [
    { steps: [deleting(named)] },
    { steps: [{ id: "o", call: "own.remove", entity: "ada", args: { id: named } }] },
    { steps: [writing("a"), { id: "p", wait: "1s" }, deleting(named)] },
    {
      steps: [{ ...reading("s"), undo: { call: deleteNote, args: { id: undone, confirm: true } } }, writing("fail")],
      saga,
    },
    { steps: [reading("r"), { id: "j", judge: "sure" }, deleting(named)], points: { sure } },
    { steps: [fetched, { id: "m", map: "l", do: [deleting(named)] }] },
    { steps: [{ id: "b", parallel: { one: [{ id: "p", wait: "1s" }], two: [deleting(named)] } }] },
    { steps: [slug === undefined ? deleting(named) : { id: "k", run: `skills.${slug}`, input: {} }] },
  ];
  return { program: { ...base, ...chosen(forms, draw.form) }, own: [note, undone] };
}

const keep = (id: string | undefined, own: readonly string[]) => {
  if (id !== undefined && id !== "") notes.set(id, new Set([...(notes.get(id) ?? []), ...own]));
};

async function definition(draw: Draw): Promise<string> {
  const { program } = await programOf(draw);
  return json({ version: 1, source: { schedule: { every: "1d" } }, overlap: { policy: "allow" }, program });
}

/**
 * Answers a question with one of the person's keys: by a call, in the console, or by a form of an MCP client. Changes values if the
 * question allows it.
 */
async function answer(draw: Draw): Promise<void> {
  const id = await jobId(draw);
  const note = fresh("o");
  const continuation = chosen(["proceed", "retry-with", "skip", "abort", "proceed"], draw.form) ?? "proceed";
  const overridesJson = continuation === "retry-with" ? json({ note }) : "";
  const body = { jobId: id, principalId: chosen(["lead", "owner"], draw.form) ?? "", continuation, overridesJson };
  const seat = session.seats[0]?.keyId ?? "";
  const answered =
    draw.form % 3 === 0
      ? await session.call(seat, "svc.v1.JobsService/AnswerAsk", body)
      : await by("JobsService/AnswerAsk", body);
  if (answered.status === 200 && continuation === "retry-with") keep(id, [note]);
  const response = { action: "accept", content: { continuation: "proceed" } };
  const task = { id, inputResponses: { [id]: response }, name: "call_tool", arguments: {} };
  if (draw.form % 5 === 0) await callMcp(world.svc.url, chosen(grants, draw.pick) ?? "", task);
}

/** Calls a tool by RPC, or over MCP with a grant and a form that the client answers itself. */
async function callTool(draw: Draw): Promise<void> {
  const [id, slug] = [fresh("n"), await skill(draw)];
  const isSkill = draw.form % 3 === 0 && slug !== undefined;
  const isOwn = draw.pick % 3 === 0;
  const args = isSkill ? { confirm: true } : { id, ...(isOwn ? {} : { confirm: true }) };
  const toolSlug = isSkill ? `skills.${slug}` : isOwn ? "own.remove" : deleteNote;
  if (draw.form % 2 === 0) {
    const named = draw.form % 4 === 0 ? { idempotencyKey: `k${draw.pick}` } : {};
    const called = await by("ToolsService/CallTool", {
      toolSlug,
      entityId: "ada",
      argumentsJson: json(args),
      ...named,
    });
    keep(called.json.jobId, [id]);
    return;
  }
  const params = { name: "call_tool", arguments: { slug: toolSlug, entity_id: "ada", arguments: args } };
  const grant = chosen(grants, draw.pick) ?? "";
  const asked = await callMcp(world.svc.url, grant, params);
  const inputResponses = { confirm: { action: "accept", content: { confirm: true } } };
  await callMcp(world.svc.url, grant, { ...params, inputResponses, requestState: asked?.requestState ?? "x" });
}

async function again(method: string, draw: Draw): Promise<void> {
  const [id, note] = [await jobId(draw), fresh("o")];
  const params = draw.form % 2 === 0 ? {} : { paramsJson: json({ note }) };
  const answered = await by(method, { id, ...params });
  if (answered.status !== 200) return;
  // A schedule's job is not in `notes`. The text of its program names what it deletes.
  const { id: made, programJson } = answered.json.job;
  const named = [...programJson.matchAll(/"([nu]\d+)\b/g)].map(([, name = ""]) => name);
  keep(made, [...(notes.get(id) ?? []), ...named, ...(draw.form % 2 === 0 ? [] : [note])]);
}

/** Makes one call with one of the person's keys. */
async function perform(name: string, draw: Draw): Promise<void> {
  acting = chosen(hand, draw.pick + draw.form) ?? approver;
  await acts[name]?.(draw);
}

/** The actions of the person, by the API call that they use. */
const acts: Readonly<Record<string, (draw: Draw) => Promise<unknown>>> = {
  "ToolsService/CallTool": callTool,
  async "JobsService/SubmitJob"(draw) {
    const { program, own } = await programOf(draw);
    const simulateFirst = draw.pick % 7 === 0;
    const { json: made } = await by("JobsService/SubmitJob", { programJson: json(program), simulateFirst });
    keep(made.job?.id, own);
  },
  "JobsService/RerunJob": (draw) => again("JobsService/RerunJob", draw),
  "JobsService/RetryJob": (draw) => again("JobsService/RetryJob", draw),
  "JobsService/PauseJob": async (draw) => by("JobsService/PauseJob", { id: await jobId(draw) }),
  "JobsService/ResumeJob": async (draw) => by("JobsService/ResumeJob", { id: await jobId(draw) }),
  "JobsService/CancelJob": async (draw) => by("JobsService/CancelJob", { id: await jobId(draw) }),
  "JobsService/BulkJobs": async (draw) =>
    by("JobsService/BulkJobs", {
      action: draw.form % 2 === 0 ? "BULK_JOBS_ACTION_RETRY" : "BULK_JOBS_ACTION_CANCEL",
      jobIds: [await jobId(draw)],
    }),
  "JobsService/PromoteJob": async (draw) =>
    by("JobsService/PromoteJob", {
      jobId: await jobId(draw),
      slug: `s${draw.form}`,
      description: "Does what the job did.",
    }),
  "JobsService/AnswerAsk": answer,
  "JobsService/CreateAnswerLink": async (draw) =>
    by("JobsService/CreateAnswerLink", { jobId: await jobId(draw), principalId: "lead" }),
  "StandingService/CreateStandingProgram": async (draw) =>
    by("StandingService/CreateStandingProgram", { slug: fresh("p"), definitionJson: await definition(draw) }),
  "StandingService/UpdateStandingProgram": async (draw) =>
    by("StandingService/UpdateStandingProgram", { id: await standingId(draw), definitionJson: await definition(draw) }),
  "StandingService/RunStandingProgram": async (draw) =>
    by("StandingService/RunStandingProgram", { id: await standingId(draw) }),
  "StandingService/BackfillStandingProgram": async (draw) =>
    by("StandingService/BackfillStandingProgram", {
      ...{ id: await standingId(draw), again: true },
      ...{ since: new Date(Date.now() - 86_400_000 * 3).toISOString(), until: new Date().toISOString() },
    }),
  "StandingService/CancelBackfill": async (draw) =>
    by("StandingService/CancelBackfill", { id: await standingId(draw) }),
  "StandingService/PauseStandingProgram": async (draw) =>
    by("StandingService/PauseStandingProgram", { id: await standingId(draw) }),
  "StandingService/ResumeStandingProgram": async (draw) =>
    by("StandingService/ResumeStandingProgram", { id: await standingId(draw), adopt: draw.form % 2 === 0 }),
  "StandingService/DeleteStandingProgram": async (draw) =>
    draw.form % 4 === 0 && by("StandingService/DeleteStandingProgram", { id: await standingId(draw) }),
  "GrantsService/UpdateGrant": async (draw) => {
    const id = chosen(await listed("GrantsService/ListGrants", "grants"), draw.pick)?.["id"] ?? "grt_";
    return by("GrantsService/UpdateGrant", {
      id,
      confirm: { person: chosen(["never", "writes"], draw.form), contact: "lead" },
    });
  },
  "ConnectionsService/InitiateConnection": () =>
    by("ConnectionsService/InitiateConnection", { toolkitSlug: "desk", entityId: "ada", scheme: "none" }),
  "ConsoleService/CreateSignInLink": async () => {
    const { url } = (await by("ConsoleService/CreateSignInLink", {})).json;
    session = await signInToConsole(world.svc, { link: url.split("#link=")[1] });
  },
  "TriggersService/SendTestEvent": () => by("TriggersService/SendTestEvent", {}),
  "GrantsService/CreateAgentKey": async ({ form }) => {
    const scope = form % 2 === 0 ? { entityId: "ada" } : { toolkitSlugs: ["desk", "own", "skills"] };
    const confirm = { person: "never" };
    const made = await by("GrantsService/CreateAgentKey", { name: fresh("k"), ...scope, confirm });
    if (made.status === 200) hand.push(made.json.key);
  },
  // A private toolkit whose tool claims to read or write, but deletes.
  "CatalogService/PublishToolkit": async ({ form }) => {
    const tool = { class: form % 2 === 0 ? "read" : "write" };
    await by("CatalogService/PublishToolkit", { definitionJson: ownDefinition(world.host, tool) });
    await by("ConnectionsService/InitiateConnection", { toolkitSlug: "own", entityId: "ada", scheme: "none" });
  },
  "ContactsService/PutContact": async ({ form }) => {
    const principalId = form % 3 === 0 ? "lead" : fresh("c");
    return by("ContactsService/PutContact", { contact: { principalId, name: "Put by the hand", isApprover: true } });
  },
};

/** Calls that send nothing to an app: the reasons, each with the names of calls. */
const places: Readonly<Record<string, readonly string[]>> = {
  "they read": [
    ...[
      "CatalogService/ListToolkits",
      "CatalogService/GetToolkit",
      "CatalogService/ListTools",
      "CatalogService/GetTool",
    ],
    ...[
      "CatalogService/GetToolkitConnectSpec",
      "CatalogService/GetToolkitSource",
      "ConnectionsService/GetConnection",
      "ConnectionsService/ListConnections",
      "ConnectionsService/TestConnection",
    ],
    ...["ConsoleService/ListSessions", "ContactsService/ListContacts", "GrantsService/ListGrants"],
    ...["GrantsService/ListAgentKeys", "JobsService/ListAskEndpoints"],
    ...["IdentityService/GetIdentity", "JobsService/CheckProgram", "JobsService/GetJob", "JobsService/ListJobs"],
    "JobsService/DescribeProgram",
    ...["JobsService/ListSteps", "JobsService/ListUndoEntries", "JobsService/ListJobEvents", "JobsService/WatchJob"],
    "JobsService/GetStep",
    ...["JobsService/ListSkills", "JobsService/GetSkill", "JobsService/ListAsks", "JobsService/GetAsk"],
    ...["SecretsService/ListSecrets", "StandingService/GetStandingProgram", "StandingService/ListStandingPrograms"],
    ...["StandingService/GetBackfill", "StandingService/ListStandingRuns", "StandingService/GetStandingRun"],
    ...["StandingService/PreviewStandingProgram", "StatsService/GetBacklog", "StatsService/QuerySeries"],
    ...["StatsService/GetStart", "SandboxService/CreateInbox", "SandboxService/ListInboxRequests"],
    ...["StatsService/ListFailures", "StatsService/Search", "StatsService/Trace"],
    ...["StatsService/WatchProject", "ToolsService/SearchTools", "ToolsService/DescribeTool"],
    ...[
      "ToolsService/ListToolCalls",
      "ToolsService/GetToolCall",
      "ToolsService/ListCallLimits",
      "ToolsService/ListHooks",
    ],
    ...["TriggersService/ListSubscriptions", "TriggersService/GetSubscription", "TriggersService/ListEvents"],
    ...["TriggersService/GetEvent", "TriggersService/GetDelivery", "TriggersService/ListDeliveries"],
    ...["TriggersService/ListDeliveryAttempts", "TriggersService/GetReplay", "TriggersService/ListReplays"],
    ...["TriggersService/ListIngestEndpoints", "TriggersService/PollEvents", "TriggersService/GetEventSettings"],
    ...["TriggersService/ListEventTypes", "TriggersService/GetEventType", "TriggersService/ListPortalLinks"],
    ...["TriggersService/ListQuarantinedPosts", "TriggersService/GetQuarantinedPost"],
    ...["TriggersService/GetEventDocument", "TriggersService/PreviewSubscription"],
  ],
  "they post events to endpoints, and start programs by triggers alone, as runs that ask": [
    ...[
      "TriggersService/CreateSubscription",
      "TriggersService/UpdateSubscription",
      "TriggersService/DeleteSubscription",
    ],
    ...["TriggersService/ReplayEvent", "TriggersService/ReplayEvents", "TriggersService/StartReplay"],
    ...["TriggersService/UpdateReplay", "TriggersService/CancelReplay", "TriggersService/TryNow"],
    ...["TriggersService/PublishEvent", "TriggersService/PublishEvents", "TriggersService/PutEventType"],
    ...["TriggersService/PutEventSettings", "TriggersService/RotateSubscriptionSecret"],
    ...["TriggersService/ReleaseQuarantinedPosts"],
    ...["JobsService/CreateAskEndpoint", "JobsService/DeleteAskEndpoint", "SandboxService/SendSampleEvent"],
  ],
  "they take away what the acts need": [
    ...["ConnectionsService/DeleteConnection", "ConsoleService/EndSession", "GrantsService/RevokeGrant"],
    ...["GrantsService/RevokeAgentKey", "CatalogService/DeleteToolkit", "JobsService/DeleteSkill"],
    ...["ContactsService/DeleteContact", "SecretsService/DeleteSecret", "ToolsService/DeleteCallLimit"],
    ...["ToolsService/DeleteHook", "ConnectionsService/DeleteProjectCredential"],
    "ConnectionsService/DeleteToolkitClient",
    ...["TriggersService/DeleteWebhookSecret", "TriggersService/RevokePortalLinks"],
  ],
  "they say with what, how fast and for whose events calls are made, and make none": [
    ...["ConnectionsService/SetAccountReferences", "ConnectionsService/SetProjectCredential"],
    ...["ConnectionsService/PutToolkitClient", "SandboxService/ConnectSandboxAccounts"],
    ...["SecretsService/PutSecret", "ToolsService/PutCallLimit", "TriggersService/PutWebhookSecret"],
  ],
  "a write that a hook changes after the confirmation is not sent: test/hooks.test.ts": [
    ...["ToolsService/CreateHook", "ToolsService/UpdateHook"],
  ],
  "the key of its link makes calls of the portal alone, and none of them calls a tool": [
    "TriggersService/CreatePortalLink",
  ],
  "it changes only which tools a search finds": ["CatalogService/PutToolkitPhrases"],
  "it publishes a toolkit as PublishToolkit does, with the classes that this one checks": [
    ...["CatalogService/ImportToolkit", "CatalogService/RefreshToolkit", "CatalogService/AcceptToolkitChanges"],
  ],
  "a person connects an account by it, which a call then names": ["ConnectionsService/CreateConnectLink"],
};

const names = Object.keys(acts);
const draws = fc.record({ act: fc.constantFrom(...names), pick: fc.nat(9), form: fc.nat(11) });
const passOn = fc.record({ act: fc.constant("person"), pick: fc.nat(9), form: fc.nat(11) });

beforeAll(async () => {
  world = await startDeskWorld();
  approver = await world.createKey("approver", { role: "ROLE_APPROVER" });
  hand.push(approver);
  acting = approver;
  person = await world.createKey("person");
  await acts["CatalogService/PublishToolkit"]?.({ pick: 0, form: 0 });
  for (const form of [0, 1]) await acts["GrantsService/CreateAgentKey"]?.({ pick: 0, form });
  for (const key of hand.slice(0, 2)) {
    const agent = await registerAgent(world.svc.url);
    const code = (await letIn({ url: world.svc.url, key }, agent, { access: ["read", "write", "destructive"] })).get(
      "code",
    );
    grants.push((await agent.change(code ?? "")).json.access_token);
  }
  await acts["ConsoleService/CreateSignInLink"]?.({ pick: 0, form: 0 });
}, 120_000);
afterAll(() => world?.[Symbol.asyncDispose]());

/** Waits until no job is running: each has ended, or waits for a person or a time. */
async function atRest(): Promise<void> {
  const moving = ["SIMULATING", "QUEUED", "RUNNING", "COMPENSATING"].map((status) => `JOB_STATUS_${status}`);
  await until(
    async () => !(await listed("JobsService/ListJobs", "jobs")).some(({ status = "" }) => moving.includes(status)),
  );
}

/** Confirms a job as another person, and so allows its deletions. */
async function confirm({ pick }: Draw): Promise<void> {
  const known = [...notes.keys()];
  const id = chosen(known, pick);
  if (id === undefined) return;
  const own = [...(notes.get(id) ?? [])];
  // The allowance is counted before the answer, because the call may be sent before the answer arrives.
  allow(own, 1);
  const { status } = await world.answer(id, "proceed", person);
  if (status !== 200) allow(own, -1);
}

function allow(own: readonly string[], times: number): void {
  for (const note of own) allowed.set(note, (allowed.get(note) ?? 0) + times);
}

/** Returns the notes that were deleted more often than another person allowed. */
function unconfirmed(): string[] {
  const deleted = sent.flatMap(({ method, path }) =>
    method === "DELETE" || path.startsWith("/own/") ? [path.replace(/^\/(?:notes|own)\//, "")] : [],
  );
  return [...Map.groupBy(deleted, (note) => note)]
    .filter(([note, times]) => times.length > (allowed.get(note) ?? 0))
    .map(([note]) => note);
}

test("every call that a key may make has its place in the model, and no other has", () => {
  const placed = [...names, ...Object.values(places).flat()];
  expect(placed.toSorted()).toEqual(callsOfKeys.toSorted());
});

test(
  "no sequence of calls of a hand has a deletion sent that no other hand confirmed",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(draws, { maxLength: 4 }),
        fc.array(fc.oneof({ weight: 5, arbitrary: draws }, { weight: 1, arbitrary: passOn }), {
          minLength: 6,
          maxLength: 14,
        }),
        async (before, after) => {
          await world.setPolicy({ person: "never" });
          for (const { act, ...draw } of before) await perform(act, draw);
          await world.setPolicy({ person: "destructive", contact: "lead" });
          await atRest();
          const from = world.written.length;
          for (const { act, ...draw } of after) await (act === "person" ? confirm(draw) : perform(act, draw));
          await atRest();
          for (const id of notes.keys()) for (const key of hand) await world.answer(id, "proceed", key);
          await atRest();
          sent.push(...world.written.slice(from));
          expect(unconfirmed()).toEqual([]);
        },
      ),
      { numRuns: repeats({ sample: 6, whole: 200 }) },
    );
  },
  repeats({ sample: 180_000, whole: 3_600_000 }),
);

test("the acts reach the app: without the policy they have notes deleted, and with it by a person's yes", async () => {
  const deletes = async (act: string) => {
    const before = world.deletions();
    acting = approver;
    await acts[act]?.({ pick: 1, form: 14 });
    return before;
  };
  await world.setPolicy({ person: "never" });
  for (const act of ["ToolsService/CallTool", "JobsService/SubmitJob"]) {
    const before = await deletes(act);
    await until(() => world.deletions() > before, act);
  }
  await world.setPolicy({ person: "destructive", contact: "lead" });
  const before = await deletes("JobsService/SubmitJob");
  expect(world.deletions()).toBe(before);
  expect((await world.answer([...notes.keys()].at(-1) ?? "", "proceed", person)).status).toBe(200);
  await until(() => world.deletions() > before, "a person's yes");
});
