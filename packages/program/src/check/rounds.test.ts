import { ifStep, testContext } from "@svc/testing/programs";
import { expect, test } from "vitest";
import { checkProgram } from "./program.ts";

// Programs by people who have read no documentation. The faults contain everything that is needed to correct the whole program in one
// round.

const context = await testContext();

async function told(program: object): Promise<string> {
  const checked = await checkProgram(JSON.stringify(program), context);
  if (!("faults" in checked)) return "";
  return checked.faults.map(({ code, pointer, message, hint }) => `${code} ${pointer} ${message}: ${hint}`).join("\n");
}

const say = { id: "say", call: "messaging_bot.send_message", entity: "ops" };
const program = (steps: readonly object[], rest: object = {}) => ({ version: 1, title: "T", ...rest, steps });
const deals = {
  id: "deals",
  call: "sales_crm.list_deals",
  entity: "ops",
  args: {},
  rows: { from: "data[]", keep: ["id", "title", "value"] },
};

test.each<[string, object, string[]]>([
  [
    "fields of another language, and what is wrong in them",
    {
      name: "Triage",
      steps: [
        { name: "get", tool: "incident_mgmt.list_incidents", params: { statuses: ["triggered"] } },
        {
          name: "page",
          foreach: "get",
          steps: [{ tool: "messaging_bot.send_message", params: { chat_id: "@x", text: "Now {{item.title}}" } }],
        },
      ],
    },
    [
      "lacks version: add version",
      '/name "name" is not a known field: did you mean title? ',
      '/steps/0/tool "tool" is not a known field: did you mean call? it has id, call and entity and may have',
      'did you mean "status"?: incident_mgmt.list_incidents takes',
      'status (one of "triggered" | "acknowledged" | "resolved")',
      "/steps/1/foreach",
      '/steps/1/steps/0/params/text looks like a template, but would be sent unchanged: write {"$text": "Now {row.title}"}',
      "/schemas/program.v1.json",
    ],
  ],
  [
    "rows that are a path",
    program([{ ...deals, rows: "data" }]),
    ["write an object: it has from and keep", "data[] (of id, stage_id, status, title, value)"],
  ],
  [
    "sums as calls, and a list where one step stands",
    program([
      deals,
      { id: "sum", reduce: "deals", aggregates: { n: "count()", total: "sum(row.value)" } },
      { id: "each", map: "deals", do: { ...say, args: { chat_id: "@x", text: "\u0024{row.name}" } } },
    ]),
    ['write "count"', 'write "sum value"', "put it into a list: [{…}]", 'write {"$ref": "row.name"}'],
  ],
  [
    "the name of a set in an expression",
    program([deals, ifStep("any", "len(deals) > 0", [{ id: "w", wait: "10 minutes" }], [])]),
    ["write rows.deals > 0", '"10m"', "leave it out if it is optional"],
  ],
  [
    "a question in the place of its point",
    program([{ id: "gate", ask: "Go on?" }]),
    ["did you mean judge?", '"points": {"many": {"question"'],
  ],
  [
    "a step that may be skipped in a text",
    program([
      { id: "me", call: "messaging_bot.get_me", entity: "ops", args: {}, when: "1 == 1" },
      { ...say, args: { chat_id: "@x", text: { $text: "I am {steps.me.id}" } } },
    ]),
    ['{"$text": "… {steps.me.id} …", "else": "…"}', `{"$cel": "has(steps.me) ? '…' + string(steps.me.id) : '…'"}`],
  ],
  [
    "a step of no kind",
    program([{ id: "x", something: 1 }]),
    ['no step has "something"', "give it exactly one of call, ", "see /schemas/program.v1.json for all fields"],
  ],
  [
    "steps of kinds that do not exist",
    program([
      { id: "both", union: ["a", "b"] },
      { id: "stop", throw: "no deals" },
    ]),
    [
      'no step has "union"',
      "no step joins two sets into one: make a text of each",
      'no step has "throw"',
      'end the job as failed with {"id":"stop","fail":"no deals","when":"rows.deals < 10"}',
    ],
  ],
  [
    "a line break in a text of an expression",
    program([{ ...say, args: { chat_id: "@x", text: { $cel: "'one\ntwo'" } } }]),
    ["write a line break in a text as \\n (in JSON: \\\\n)"],
  ],
  [
    "a time that is joined with a text, a computation in braces, and a result that is no object",
    program(
      [
        { ...say, args: { chat_id: "@x", text: { $cel: "'At ' + now" } } },
        { ...say, id: "hash", args: { chat_id: "@x", text: "{{md5(lower(input.email))}}" } },
      ],
      { input: { email: "a@x.com" }, result: "{{steps.say.message_id}}" },
    ),
    [
      "convert the timestamp to a text: string(…)",
      'write {"$cel": "md5(input.email.lowerAscii())"}',
      'such as {"sent":{"$ref":"steps.sum.sent"}}',
    ],
  ],
  [
    "a tool that is not there, and a path with a dollar",
    program([
      deals,
      {
        id: "m",
        map: "deals",
        do: [{ ...say, call: "messaging_bot.post_message", args: { text: { $ref: "$row.id" } } }],
      },
    ]),
    ["its toolkit has ", "messaging_bot.send_message", '"$row.id" is not a path; write "row.id"'],
  ],
])("%s: the refusal has what mends it", async (_name, given, words) => {
  const text = await told(given);
  for (const word of words) expect(text).toContain(word);
});

test("a text with an else may name what is skipped, and the else is held to what the argument takes", async () => {
  const me = { id: "me", call: "messaging_bot.get_me", entity: "ops", args: {}, when: "1 == 1" };
  const tell = (otherwise: unknown) =>
    told(program([me, { ...say, args: { chat_id: "@x", text: { $text: "I am {steps.me.id}", else: otherwise } } }]));
  expect(await tell("nobody")).toBe("");
  expect(await tell(5)).toMatch(/^PROGRAM_ARGUMENT_INVALID \/steps\/1\/args\/text\/else /);
  expect(await tell("{steps.me.id}")).toMatch(/^PROGRAM_TEMPLATE_LITERAL \/steps\/1\/args\/text\/else /);
});

test("a step of no kind is answered in short", async () => {
  expect((await told(program([{ id: "both", union: ["a", "b"] }]))).length).toBeLessThan(600);
});

test("a shape is told whole once, and by its names after that", async () => {
  const text = await told(
    program([
      { ...deals, extra: 1 },
      { ...deals, id: "more", extra: 1 },
    ]),
  );
  expect(text.split("such as {").length - 1).toBe(1);
  expect(text).toContain("use id, call, entity");
});
