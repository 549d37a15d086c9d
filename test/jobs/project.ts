import { setTimeout as wait } from "node:timers/promises";
import { programText } from "@svc/testing/jobs-node";
import type { TestAnswer } from "@svc/testing/server";
import { pauseMs } from "@svc/testing/until";
import { type Callable, connect } from "../tools/project.ts";

/** A program, as tests write it. */
export type Program = { readonly steps: readonly object[] } & Readonly<Record<string, unknown>>;

/** A job as JSON, with the fields that tests read. */
// biome-ignore lint/suspicious/noExplicitAny: tests read whatever a job holds
export type JobJson = any;

/** Names a method of JobsService. */
export const jobs = (method: string) => `svc.v1.JobsService/${method}`;
/** Names a method of ContactsService. */
export const contacts = (method: string) => `svc.v1.ContactsService/${method}`;

type Options = { readonly bearer?: string | null };

/** Submits a program. Throws if it is refused. */
export async function submit(
  server: Callable,
  program: Program,
  { bearer, ...request }: { bearer?: string } & Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const answer = await trySubmit(server, program, request, bearer === undefined ? {} : { bearer });
  if (answer.code !== "ok")
    throw new Error(`${String(program["title"])}: ${JSON.stringify(answer.json).slice(0, 2_000)}`);
  return answer.json.job.id as string;
}

/** Submits a program and returns the answer, which may be a refusal. */
export function trySubmit(
  server: Callable,
  program: Program | string,
  request: object = {},
  options: Options = {},
): Promise<TestAnswer> {
  const programJson = typeof program === "string" ? program : programText({ title: "A job of the tests", ...program });
  return server.call(jobs("SubmitJob"), { programJson, ...request }, options);
}

/** Reads a job. */
export async function readJob(server: Callable, id: string, options: Options = {}): Promise<JobJson> {
  const { json } = await server.call(jobs("GetJob"), { id }, options);
  return json.job;
}

/** Waits until `holds` is true of the job, and returns the job. */
export async function reach(
  server: Callable,
  id: string,
  holds: (job: JobJson) => boolean,
  { bearer, timeoutMs = 15_000 }: { bearer?: string; timeoutMs?: number } = {},
): Promise<JobJson> {
  for (const startedAt = performance.now(); ; await wait(pauseMs(startedAt))) {
    const job = await readJob(server, id, bearer === undefined ? {} : { bearer });
    if (holds(job)) return job;
    if (performance.now() > startedAt + timeoutMs) {
      throw new Error(`the job did not come so far: ${job?.status} ${job?.lastError} ${JSON.stringify(job?.park)}`);
    }
  }
}

/** True if the job has ended. */
export const hasEnded = (job: JobJson) => job.finishedAt !== undefined;
/** True if the job waits for a person. */
export const isAsked = (job: JobJson) => job.pendingAsk !== undefined;

/** Reads the log of a job. */
export async function readLog(
  server: Callable,
  jobId: string,
  options: Options = {},
): Promise<{ seq: number; type: string; payloadJson: string; principalChain: string[] }[]> {
  const { json } = await server.call(jobs("ListJobEvents"), { jobId }, options);
  return json.events;
}

/** Answers the open question of a job. */
export function answer(server: Callable, jobId: string, request: object = {}, options: Options = {}) {
  const body = { jobId, principalId: "owner", continuation: "proceed", ...request };
  return server.call(jobs("AnswerAsk"), body, options);
}

/** Creates or replaces a contact. Throws if it is refused. */
export async function putContact(
  server: Callable,
  principalId: string,
  { bearer, ...changes }: { bearer?: string } & Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const contact = { principalId, name: principalId, approver: false, ...changes };
  const put = await server.call(contacts("PutContact"), { contact }, bearer === undefined ? {} : { bearer });
  if (put.code !== "ok") throw new Error(JSON.stringify(put.json));
}

/** Connects entity `ops` to the sales CRM and the messaging bot. */
export async function connectOps(server: Callable, bearer?: string): Promise<void> {
  for (const toolkitSlug of ["sales_crm", "messaging_bot"]) {
    await connect(server, toolkitSlug, {
      entityId: "ops",
      scheme: "api_key",
      apiKey: "key-of-the-tests",
      ...(bearer === undefined ? {} : { bearer }),
    });
  }
}

/** Returns a step that reads the deals as rows. */
export const listDeals = (changes: object = {}) => ({
  id: "deals",
  call: "sales_crm.list_deals",
  entity: "ops",
  args: { limit: 500 },
  rows: {
    from: "data[]",
    key: "id",
    keep: ["id", "title", "value"],
    page: { arg: "cursor", from: "additional_data.next_cursor", max: 100 },
  },
  ...changes,
});

/** Returns a step that posts a message. The app has no idempotency key for this call. */
export const sendMessage = (changes: object = {}) => ({
  id: "send",
  call: "messaging_bot.send_message",
  entity: "ops",
  args: { chat_id: "@team", text: "Hello" },
  ...changes,
});

/** A step that asks the point `ask`. */
export const judge = { id: "judge", judge: "ask" };

/** Returns a judgment point that asks `owner`. */
export const askPoint = (changes: object = {}) => ({
  question: "Go on?",
  continuations: ["proceed", "abort"],
  escalation: [{ principal: "owner" }],
  ...changes,
});
