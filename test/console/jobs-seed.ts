import type { TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";

/**
 * Creates accounts of entity `ops`, and the contacts `lead` and `head`, of whom `head` is an approver. The contact `owner` exists in every
 * project.
 */
export async function seedPeople(svc: TestServer): Promise<void> {
  for (const toolkitSlug of ["sales_crm", "messaging_bot"]) {
    await svc.call("svc.v1.ConnectionsService/InitiateConnection", { toolkitSlug, entityId: "ops", apiKey: "any-key" });
  }
  for (const contact of [
    { principalId: "lead", name: "Team lead" },
    { principalId: "head", name: "Head of sales", approver: true },
  ]) {
    await svc.call("svc.v1.ContactsService/PutContact", { contact });
  }
}

/**
 * Returns a daily time as a cron expression in UTC, about half a day away. So nothing starts during the tests at any time of day, and the
 * page always shows the next start as some hours away.
 */
export function cronHalfADayAway(): string {
  return `0 ${(new Date().getUTCHours() + 12) % 24} * * *`;
}

/** Submits a program and returns its job's id. Throws an Error if the service refuses it. */
export async function submitProgram(
  svc: TestServer,
  program: object,
  options: { mode?: string; simulateFirst?: boolean } = {},
): Promise<string> {
  const { json, status } = await svc.call("svc.v1.JobsService/SubmitJob", {
    programJson: JSON.stringify(program),
    ...options,
  });
  if (status !== 200) throw new Error(`the program was refused: ${json.message}`);
  return json.job.id;
}

/** Resolves with a job once it has this status. */
export async function jobWithStatus(svc: TestServer, id: string, status: string) {
  const read = async () => (await svc.call("svc.v1.JobsService/GetJob", { id })).json.job;
  await until(async () => (await read()).status === `JOB_STATUS_${status}`, `${id} is ${status}`);
  return await read();
}

const fetchDeals = {
  id: "fetch",
  call: "sales_crm.list_deals",
  entity: "ops",
  rows: { from: "data[]", keep: ["id", "title", "value"] },
};

/** Asks `lead`, then `head`, before it sends. Every answer that a question can have is allowed. */
export const askingProgram = {
  version: 1,
  title: "Remind the team, asking first",
  // The undo of this step deletes the sent message. Without this line, the plan would need an approval for that.
  approval: { plan: "never" },
  params: { minValue: 0.5 },
  steps: [
    fetchDeals,
    { id: "large", filter: "fetch", where: "row.value >= params.minValue" },
    { id: "gate", judge: "tooMany" },
    {
      id: "remind",
      map: "large",
      do: [
        {
          id: "send",
          call: "messaging_bot.send_message",
          entity: "ops",
          args: { chat_id: "@sales", text: { $ref: "row.title" } },
          undo: {
            call: "messaging_bot.delete_message",
            args: { chat_id: "@sales", message_id: { $ref: "output.message_id" }, confirm: true },
          },
        },
      ],
    },
    { id: "rest", wait: "1h" },
  ],
  points: {
    tooMany: {
      question: "{rows.large} reminders would go out. Send them?",
      continuations: ["proceed", "retry-with", "skip", "abort"],
      overrides: { target: "params", rerunFrom: "large" },
      answerSchema: {
        type: "object",
        additionalProperties: false,
        properties: { minValue: { type: "number", description: "Deals of less worth are left out." } },
      },
      escalation: [
        { principal: "lead", timeout: "4h" },
        { principal: "head", timeout: "20h" },
      ],
      default: { continuation: "abort" },
    },
  },
  saga: { on: ["failed", "aborted", "cancelled"] },
};

/** A program that deletes and therefore needs approval. */
export const deletingProgram = {
  version: 1,
  title: "Delete the lost deals",
  approval: { plan: "destructive", escalation: [{ principal: "owner" }, { principal: "lead" }] },
  steps: [
    { ...fetchDeals, args: { status: "lost", limit: 100 } },
    {
      id: "drop",
      map: "fetch",
      do: [
        {
          id: "gone",
          call: "sales_crm.delete_deal",
          entity: "ops",
          args: { deal_id: { $ref: "row.id" }, confirm: true },
        },
      ],
    },
  ],
};

/** A program with branches, a repeated round, and a wait that is longer than the test. */
export const branchingProgram = {
  version: 1,
  title: "Gather from two places",
  steps: [
    {
      id: "gather",
      parallel: {
        deals: [{ id: "deals", call: "sales_crm.list_deals", entity: "ops", args: { status: "open" } }],
        team: [{ id: "who", call: "messaging_bot.get_me", entity: "ops", args: {} }],
      },
    },
    {
      id: "any",
      if: "true",
      // biome-ignore lint/suspicious/noThenProperty: a word of the language
      then: [{ id: "ready", until: "true", do: [{ id: "me", call: "messaging_bot.get_me", entity: "ops" }], max: 3 }],
      else: [{ id: "other", wait: "1h" }],
    },
    { id: "later", wait: "1h" },
  ],
};

/** A program that succeeds and can be turned into a skill. */
export const announcingProgram = {
  version: 1,
  title: "Announce a text",
  inputSchema: {
    type: "object",
    additionalProperties: false,
    required: ["text"],
    properties: { text: { type: "string" } },
  },
  input: { text: "Lunch is ready" },
  steps: [
    {
      id: "tell",
      call: "messaging_bot.send_message",
      entity: "ops",
      args: { chat_id: "@team", text: { $ref: "input.text" } },
    },
  ],
};
