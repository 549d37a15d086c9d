import type { GetStartResponse } from "@svc/gen/stats";
import type { Aim } from "../../shell/preferences.ts";

/** A first step of a project: receive a webhook, call a tool, run a program, connect an agent. */
export type FirstStep = "webhook" | "tool" | "program" | "agent";

/** Number of first steps. */
export const stepsMax = 4;

/** Returns for each of the first steps (such as receiving a webhook) if the project has done it. */
export function doneSteps(start: GetStartResponse): Readonly<Record<FirstStep, boolean>> {
  return {
    webhook: start.firstEventAt !== undefined,
    tool: start.firstCallAt !== undefined,
    program: start.firstJobAt !== undefined,
    agent: start.firstAgentCallAt !== undefined,
  };
}

/** Returns how many of the first steps the project has done. */
export function stepsDone(start: GetStartResponse): number {
  return Object.values(doneSteps(start)).filter(Boolean).length;
}

/** A page that Home suggests after the first steps of a project. `words`: text of the link. `to`: address of the page. */
export type NextPage = { readonly words: string; readonly to: string };

/**
 * Content of the first-steps page for each aim of a user. `words`: the aim's name. `order`: the order of the steps. `next`: three pages to
 * go to after them.
 */
export const aims: Readonly<
  Record<Aim, { readonly words: string; readonly order: readonly FirstStep[]; readonly next: readonly NextPage[] }>
> = {
  webhooks: {
    words: "receive webhooks",
    order: ["webhook", "tool", "program", "agent"],
    next: [
      { words: "Deliver to my server", to: "/p/$projectId/subscriptions/new" },
      { words: "Connect the real app", to: "/p/$projectId/ingest" },
      { words: "Publish my own events", to: "/p/$projectId/event-types" },
    ],
  },
  agent: {
    words: "give an agent tools",
    order: ["agent", "tool", "program", "webhook"],
    next: [
      { words: "Choose tools", to: "/p/$projectId/tools" },
      { words: "Connect an account", to: "/p/$projectId/accounts" },
      { words: "Make a key for the agent", to: "/p/$projectId/settings" },
    ],
  },
  automate: {
    words: "automate work",
    order: ["program", "tool", "webhook", "agent"],
    next: [
      { words: "Write a program", to: "/p/$projectId/programs/new" },
      { words: "Put it on a schedule", to: "/p/$projectId/schedules/new" },
      { words: "Add a person to ask", to: "/p/$projectId/contacts" },
    ],
  },
  team: {
    words: "run it for a team",
    order: ["webhook", "tool", "program", "agent"],
    next: [
      { words: "Add people", to: "/p/$projectId/contacts" },
      { words: "Limit calls", to: "/p/$projectId/settings" },
      { words: "Projects and keys", to: "/admin/projects" },
    ],
  },
};

/** Interval in milliseconds at which a card of the first steps reads the result of its button, such as the delivery of a sample event. */
export const lookMs = 300;

/**
 * Time in milliseconds after the button was pressed. After it, the card reads the result only as often as other pages do, and shows what it
 * waits for.
 */
export const closeLookMs = 10_000;

/** Text that the sample tool call sends, if the user types no other text. */
export const sampleMessage = "Hello from svc";

/**
 * Apps that the sample program calls. The sandbox can connect them at once, because their accounts need a key and no consent of a person.
 */
export const sampleApps: readonly string[] = ["sales_crm", "incident_mgmt", "search_ingestion", "messaging_bot"];

/** Id of the user whose accounts the first steps connect in the sandbox. */
export const sampleUser = "demo";

/** Returns the text of the sample program. It reads three apps at the same time and sends one message. */
export function sampleProgram(): string {
  const read = (id: string, tool: string, from: string, key: string, args: object) => ({
    ...{ id, call: tool, entity: sampleUser, args },
    rows: { from: `${from}[]`, key, keep: [key] },
  });
  return JSON.stringify({
    version: 1,
    title: "Ask three apps, and report in one message",
    limits: { toolCalls: 50, writes: 1, rows: 2000, concurrency: 3 },
    steps: [
      {
        id: "gather",
        parallel: {
          sales: [read("deals", "sales_crm.list_deals", "data", "id", { status: "open", limit: 100 })],
          operations: [read("incidents", "incident_mgmt.list_incidents", "incidents", "id", {})],
          imports: [read("tasks", "search_ingestion.list_tasks", "tasks", "taskID", {})],
        },
      },
      {
        ...{ id: "report", call: "messaging_bot.send_message", entity: sampleUser },
        args: {
          chat_id: "@team",
          text: { $text: "{rows.deals} open deals, {rows.incidents} incidents, {rows.tasks} imports" },
        },
      },
    ],
    result: {
      deals: { $ref: "rows.deals" },
      incidents: { $ref: "rows.incidents" },
      imports: { $ref: "rows.tasks" },
    },
  });
}
