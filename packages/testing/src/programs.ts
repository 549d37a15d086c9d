import type { CatalogView } from "@svc/catalog";
import type { CheckContext } from "@svc/program";
import { shippedCatalog } from "./shipped-catalog.ts";

/**
 * Returns the context for checking test programs: the real catalog, an entity `ops` (a customer or user) that has every account, and the
 * contacts `lead`, `head` and `owner`.
 */
export async function testContext(): Promise<CheckContext> {
  const catalog = await shippedCatalog();
  return {
    view: catalog as CatalogView,
    hasAccounts: async (questions) => questions.map(({ entity }) => entity === "ops"),
    findSkill: async ({ slug, version }) => {
      const program = testSkills[slug];
      return program && version <= 1 ? { slug, version: 1, programJson: JSON.stringify(program) } : undefined;
    },
    hasSecrets: async (names) => names.map((name) => name !== "missing"),
    httpHosts: async () => new Set(["api.example.com", "127.0.0.1:8080"]),
    hasContacts: async (principals) => principals.map((principal) => ["lead", "head", "owner"].includes(principal)),
  };
}

const textInput = {
  inputSchema: {
    type: "object",
    additionalProperties: false,
    required: ["text"],
    properties: { text: { type: "string" } },
  },
  input: { text: "Hello" },
};

function skill(title: string, steps: readonly object[], more: object = {}): object {
  return { version: 1, title, ...textInput, steps, ...more };
}

/** Programs of the skills that test programs may run, by slug. */
export const testSkills: Readonly<Record<string, object>> = {
  look: skill("Look who it is", [{ id: "me", call: "messaging_bot.get_me", entity: "ops" }], {
    result: { name: { $ref: "steps.me.first_name" } },
  }),
  announce: skill("Announce a text", [
    {
      id: "send",
      call: "messaging_bot.send_message",
      entity: "ops",
      args: { chat_id: "@team", text: { $ref: "input.text" } },
      retry: { max: 2 },
    },
  ]),
  erase: skill("Erase a message", [
    {
      id: "erase",
      call: "messaging_bot.delete_message",
      entity: "ops",
      args: { chat_id: "@team", message_id: 1, confirm: true },
    },
  ]),
  relay: skill("Announce it through another", [
    { id: "tell", run: "skills.announce", input: { text: { $ref: "input.text" } } },
  ]),
};

/** Returns a step of kind `if`. */
export function ifStep(id: string, condition: string, yes: readonly object[], no?: readonly object[]) {
  // biome-ignore lint/suspicious/noThenProperty: programs have the field, and nobody awaits a list.
  return { id, if: condition, then: yes, ...(no && { else: no }) };
}

/** Returns a program without faults that uses every construct of the program language (for example every kind of step). */
export function everyConstruct() {
  return {
    version: 1,
    title: "Every construct",
    inputSchema: {
      type: "object",
      additionalProperties: false,
      required: ["chat"],
      properties: {
        chat: { type: "string" },
        start: { type: "string", format: "date-time" },
        tags: { type: "array", items: { type: "string" } },
      },
    },
    input: { chat: "@team", start: "2026-05-01T09:00:00Z" },
    params: { least: 2, calendar: "primary", note: "Hello" },
    steps: [
      {
        id: "plan",
        call: "calendar.list_events",
        entity: "ops",
        args: { calendar_id: { $ref: "params.calendar" }, order_by: "startTime", single_events: true },
        rows: { from: "items[]", keep: ["id", "summary", "start"] },
      },
      { id: "named", filter: "plan", where: "has(row.summary) && row.summary.startsWith('A')" },
      {
        // biome-ignore lint/suspicious/noThenProperty: as below.
        onError: { codes: ["timeout", "UNTIL_EXHAUSTED"], do: [{ id: "sorry", wait: "1m" }], then: "fail" },
        ...ifStep(
          "choice",
          "rows.named > params.least && input.chat != ''",
          [
            { id: "me", call: "messaging_bot.get_me", entity: "ops", retry: { max: 2 } },
            { id: "pause", wait: "10m" },
            {
              id: "aside",
              parallel: {
                one: [{ id: "twice", call: "messaging_bot.get_me", entity: "ops" }],
                two: [{ id: "rest", wait: "1m" }],
              },
            },
          ],
          [
            { id: "until", wait: { until: { $ref: "input.start" } } },
            {
              id: "poll",
              until: "steps.look.id > 0.0",
              do: [{ id: "look", call: "messaging_bot.get_me", entity: "ops" }],
              every: "1m",
              factor: 1.5,
              cap: "10m",
              max: 4,
            },
          ],
        ),
      },
      { id: "approve", judge: "gate", when: "has(steps.me) && steps.me.id > 0.0" },
      { id: "check", judge: "sure" },
      {
        id: "tell",
        map: "named",
        onRows: { failed: "rows" },
        do: [
          {
            id: "write",
            call: "messaging_bot.send_message",
            entity: "ops",
            args: {
              chat_id: { $ref: "input.chat" },
              text: { $text: "{{{row.summary} at {row.start.dateTime}} {params.note}" },
            },
            undo: {
              call: "messaging_bot.delete_message",
              args: { chat_id: { $ref: "input.chat" }, message_id: { $ref: "output.message_id" }, confirm: true },
            },
          },
          {
            id: "mend",
            call: "messaging_bot.edit_message_text",
            entity: "ops",
            args: {
              chat_id: { $ref: "input.chat" },
              message_id: { $ref: "calls.write.message_id" },
              text: { $text: "{rows.named} in all" },
            },
          },
        ],
      },
      { id: "sum", reduce: "tell", as: { all: "count", lost: "count unknown" } },
    ],
    points: {
      gate: { question: "Go on, {params.note}?", approval: true },
      sure: {
        question: "{rows.named} of {rows.plan}?",
        continuations: ["proceed", "retry-with", "skip"],
        overrides: { target: "steps.plan.args", rerunFrom: "plan" },
        answerSchema: {
          type: "object",
          additionalProperties: false,
          properties: { max_results: { type: "integer", minimum: 1 } },
        },
        escalation: [{ principal: "lead", timeout: "1m" }, { principal: "head" }],
      },
      rows: {
        question: "{rows.tell} rows.",
        continuations: ["proceed", "retry-with"],
        overrides: { target: "steps.write.args" },
        answerSchema: { type: "object", additionalProperties: false, properties: { text: { type: "string" } } },
        escalation: [{ principal: "owner", timeout: "30d" }],
        default: { continuation: "retry-with" },
      },
    },
    saga: { on: ["failed"] },
    result: { all: { $ref: "steps.sum.all" }, who: { $ref: "steps.me.username", else: "nobody" }, note: "done" },
  };
}
