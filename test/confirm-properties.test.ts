import { repeats } from "@svc/testing/sample";
import { until } from "@svc/testing/until";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConfirmWorld, callMcp, deleteDeal, startConfirmWorld } from "./confirm-world.ts";

// Under `confirm: person`, no text of a model may cause a destructive call, wherever it is written: any JSON in any place, with names of
// any case, repeated or nested.

let world: ConfirmWorld;
let agentKey: string;
let ownerKey: string;
/** Objects made with the owner's key: a job that deleted a deal, the skill of its program, and a standing program. */
let owned: { readonly jobId: string; readonly skill: string; readonly standingId: string };

const json = JSON.stringify;
const direct = "?tools=sales_crm.delete_deal&entity_id=ada";
const ends = ["SUCCEEDED", "FAILED", "REJECTED", "CANCELLED", "PENDING_PLAN_APPROVAL"];

beforeAll(async () => {
  world = await startConfirmWorld();
  agentKey = await world.createKey("agent", { confirm: { person: "destructive", contact: "lead" } });
  ownerKey = await world.createKey("owner");
  owned = await ownWorks();
  await world.deleted();
}, 120_000);
afterAll(() => world?.svc.stop());

async function ownWorks() {
  const failing = { toolkitSlug: "sales_crm", entityId: "sandbox:error" };
  await world.made("ConnectionsService/InitiateConnection", failing);
  const inputSchema = { type: "object", properties: { deal: { type: "integer" } } };
  const args = { deal_id: { $ref: "input.deal" }, confirm: true };
  const steps = [{ id: "s", call: deleteDeal, entity: "ada", args }];
  const program = { version: 1, title: "Drop", approval: { plan: "never" }, inputSchema, input: { deal: 1 }, steps };
  const { job } = await world.made("JobsService/SubmitJob", { programJson: json(program) }, ownerKey);
  await world.ended(job.id, "JOB_STATUS_SUCCEEDED");
  const promotion = { jobId: job.id, slug: "drop_deal", description: "Deletes one deal for good." };
  await world.made("JobsService/PromoteJob", promotion, ownerKey);
  return { jobId: job.id, skill: "skills.drop_deal", standingId: await ownStands("drops", program) };
}

/** Creates a standing program with the owner's key, and returns its id. */
async function ownStands(slug: string, program: object): Promise<string> {
  const definitionJson = json({
    ...{ version: 1, source: { schedule: { every: "1d" } } },
    overlap: { policy: "allow" },
    program,
  });
  const create = { slug, definitionJson };
  const { standingProgram } = await world.made("StandingService/CreateStandingProgram", create, ownerKey);
  return standingProgram.id;
}

/** Fields of a JSON object in the order in which they are written. A name may occur several times. */
type Fields = readonly (readonly [name: string, value: unknown])[];
const raw = (fields: Fields) => `{${fields.map(([name, value]) => `${json(name)}:${json(value)}`).join(",")}}`;

const words = fc.constantFrom<unknown>(true, "true", "TRUE", 1, [true], { confirm: true }, "proceed", null, false);
const value = fc.oneof(words, fc.jsonValue({ maxDepth: 2 }));
const names = fc.oneof(
  fc.constantFrom("confirm", "Confirm", "CONFIRM", "confirm ", "conﬁrm", "confirmed", "person", "__proto__"),
  fc.constantFrom("approval", "continuation", "requestState", "inputResponses", "_meta", "dry_run", "force", "$ref"),
  fc.string({ maxLength: 12 }),
);
const noise: fc.Arbitrary<Fields> = fc.array(fc.tuple(names, value), { maxLength: 4 });
const slugs = fc.constantFrom(deleteDeal, "SALES_CRM.DELETE_DEAL", `${deleteDeal} `, "sales_crm__delete_deal");

/** What a model writes: the arguments of a call, other fields next to them, and the call. */
type Written = {
  readonly args: Fields;
  readonly beside: Fields;
  readonly slug: string;
  readonly way: keyof typeof ways;
};

const ways = {
  rpc: ({ args, beside, slug }: Written) =>
    post("ToolsService/CallTool", [["toolSlug", slug], ["entityId", "ada"], ["argumentsJson", raw(args)], ...beside]),
  skill: ({ args }: Written) =>
    post("ToolsService/CallTool", [
      ["toolSlug", owned.skill],
      ["argumentsJson", raw([...args, ["deal", 5]])],
    ]),
  call_tool: (written: Written) => agents("call_tool", written, ""),
  read_tool: (written: Written) => agents("read_tool", written, ""),
  direct: ({ args, beside }: Written) =>
    callMcp(
      world.svc.url,
      agentKey,
      { ...objectOf(beside), name: slugOf(), arguments: objectOf(args) },
      { query: direct },
    ),
  job: ({ args, beside }: Written) =>
    post("JobsService/SubmitJob", [["programJson", raw([...program(args), ...beside])]]),
  undo: ({ args, beside }: Written) =>
    post("JobsService/SubmitJob", [
      ["programJson", raw([...undoing(args), ...beside])],
      ["mode", "live"],
    ]),
  rerun: ({ args, beside }: Written) =>
    post("JobsService/RerunJob", [
      ["id", owned.jobId],
      ["paramsJson", raw(args)],
      ["inputJson", raw([["deal", 7]])],
      ...beside,
    ]),
  rerunPlain: () =>
    post("JobsService/RerunJob", [
      ["id", owned.jobId],
      ["inputJson", raw([["deal", 8]])],
    ]),
  standing: ({ args, beside }: Written) =>
    post("StandingService/RunStandingProgram", [["id", owned.standingId], ["inputJson", raw(args)], ...beside]),
  standingPlain: () => post("StandingService/RunStandingProgram", [["id", owned.standingId]]),
  define: ({ args, beside, slug }: Written) =>
    post("StandingService/CreateStandingProgram", [
      [
        "slug",
        `of_${Buffer.from(slug + raw(args))
          .toString("hex")
          .slice(0, 40)}`,
      ],
      [
        "definitionJson",
        raw([
          ["version", 1],
          ["source", { schedule: { every: "1d" } }],
          ["program", objectOf(program(args))],
          ...beside,
        ]),
      ],
    ]),
};

const slugOf = () => "sales_crm__delete_deal";
const objectOf = (fields: Fields): Record<string, unknown> => JSON.parse(raw(fields));
const program = (args: Fields): Fields => [
  ...([
    ["version", 1],
    ["title", "T"],
    ["approval", { plan: "never" }],
  ] as const),
  ["steps", [{ id: "s", call: deleteDeal, entity: "ada", args: objectOf(args) }]],
];
/** Returns the steps of a program that fails after a write and undoes the write by deleting something. */
const undoing = (args: Fields): Fields => [
  ...([
    ["version", 1],
    ["title", "U"],
    ["approval", { plan: "never" }],
    ["saga", { on: ["failed", "aborted", "cancelled"] }],
  ] as const),
  [
    "steps",
    [
      {
        ...{ id: "w", call: "sales_crm.create_deal", entity: "ada", args: { title: "t" } },
        undo: { call: deleteDeal, args: objectOf(args) },
      },
      {
        id: "f",
        call: "sales_crm.create_activity",
        entity: "sandbox:error",
        args: { subject: "t", due_date: "2026-12-01" },
      },
    ],
  ],
];

async function post(method: string, fields: Fields): Promise<unknown> {
  const response = await fetch(`${world.svc.url}/svc.v1.${method}`, {
    method: "POST",
    headers: { authorization: `Bearer ${agentKey}`, "content-type": "application/json" },
    body: raw(fields),
  });
  return response.json();
}

async function agents(name: string, { args, beside, slug }: Written, query: string): Promise<unknown> {
  const params = { ...objectOf(beside), name, arguments: { slug, entity_id: "ada", arguments: objectOf(args) } };
  const more = { ...params, arguments: { ...params.arguments, ...objectOf(beside) } };
  await callMcp(world.svc.url, agentKey, params, { query });
  return callMcp(world.svc.url, agentKey, more, { query, version: "2025-11-25", capabilities: {} });
}

const written: fc.Arbitrary<Written> = fc
  .record({
    ...{ deal: fc.integer({ min: 10_000, max: 99_999 }), word: words, extra: noise, besides: noise },
    ...{ slug: slugs, way: fc.constantFrom(...(Object.keys(ways) as (keyof typeof ways)[])) },
    ...{ isPlain: fc.boolean(), isReversed: fc.boolean() },
  })
  .map(({ deal, word, extra, besides, slug, way, isPlain, isReversed }) => {
    const plain: Fields = [
      ["deal_id", deal],
      ["confirm", true],
    ];
    const more: Fields = isPlain ? plain : [...plain, ["confirm", word], ...extra];
    const args = isReversed ? more.toReversed() : more;
    return { args, beside: isPlain ? [] : besides, slug: isPlain ? deleteDeal : slug, way };
  });

/** Returns the number of deletions since the last check, when nothing is running any more. */
async function deletedAtRest(): Promise<number> {
  const isMoving = ({ status }: { status: string }) => !ends.includes(status.replace("JOB_STATUS_", ""));
  await until(async () => !(await world.made("JobsService/ListJobs", { pageSize: 500 })).jobs.some(isMoving));
  return world.deleted();
}

test("nothing that a model writes carries out a destructive call", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(written, async (one) => {
      seen.add(one.way);
      await ways[one.way](one);
      expect(await world.deleted()).toBe(0);
    }),
    { numRuns: repeats({ sample: 60, whole: 1_000 }) },
  );
  expect(await deletedAtRest()).toBe(0);
  expect(seen.size).toBeGreaterThan(5);
}, 120_000);

test("every one of these ways deletes, where no person confirms", async () => {
  const restricted = agentKey;
  agentKey = ownerKey;
  // Creates a new standing program without runs. The runs of the other one wait for a person, as many as are allowed.
  const { job } = await world.made("JobsService/GetJob", { id: owned.jobId });
  owned = { ...owned, standingId: await ownStands("drops_anew", JSON.parse(job.programJson)) };
  try {
    const plain = (deal: number): Fields => [
      ["deal_id", deal],
      ["confirm", true],
    ];
    const tried = ["rpc", "call_tool", "direct", "job", "undo", "rerunPlain", "standingPlain"] as const;
    for (const [index, way] of tried.entries()) {
      await ways[way]({ args: plain(100_000 + index), beside: [], slug: deleteDeal, way });
      await until(async () => (await deletedAtRest()) > 0, way);
      await deletedAtRest();
    }
  } finally {
    agentKey = restricted;
  }
}, 60_000);
