import { type AskContext, isOwnConfirmation } from "@svc/asks";
import { type Id, isObject, type ProjectPrincipal, parseExactJson, parseId } from "@svc/core";
import { type AskRecord, findPendingAsk } from "@svc/db/asks/repo";
import { loadJob } from "@svc/db/jobs/load";
import type { JobRecord } from "@svc/db/jobs/record";
import type { AskContinuation } from "@svc/db/schema/words";
import type { Params } from "@svc/tools";
import type { JobsContext } from "../api/context.ts";

/** The functions and settings that the tools of agents for programs and tasks need. */
export type AgentJobsContext = JobsContext &
  AskContext & {
    /** Time for which svc keeps a job after its end, in milliseconds. Undefined: svc keeps ended jobs forever. */
    readonly jobRetentionMs?: number | undefined;
  };

/**
 * A question to a person that an agent's task waits for, and the job that asks the question: the task's own job, or a child job that runs
 * one of its skills.
 */
export type TaskAsk = { readonly ask: AskRecord; readonly job: JobRecord };

/**
 * Maximum number of levels of child jobs that are searched for a question. A job runs a skill as a child job, this child may run another
 * skill, and each of them may ask a question.
 */
const depthMax = 4;

/** Returns the question that a job or one of its children waits for, or undefined. */
export async function findTaskAsk({ db }: Pick<AgentJobsContext, "db">, job: JobRecord): Promise<TaskAsk | undefined> {
  if (job.finishedAt !== null) return undefined;
  let asking: JobRecord | undefined = job;
  for (let depth = 0; depth <= depthMax && asking !== undefined; depth++) {
    const ask = await findPendingAsk(db, asking.id);
    if (ask !== undefined) return { ask, job: asking };
    const childId: Id<"job"> | undefined = parseId("job", asking.park?.childJobId ?? "");
    asking = childId && (await loadJob(db, childId));
  }
  return undefined;
}

/**
 * True if the client's user may answer the question. False if the question is an approval, or if it asks a person to confirm calls of this
 * user's own key.
 */
export async function isAskedOfUser(
  { db }: Pick<AgentJobsContext, "db">,
  asked: TaskAsk,
  { keyId }: Pick<ProjectPrincipal, "keyId">,
): Promise<boolean> {
  return asked.ask.approvalId === "" && !(await isOwnConfirmation(db, asked, keyId));
}

// Text that the form shows for each continuation (an answer that the program allows). A question is shown to the user as a form of plain
// fields; the first field chooses the continuation.

const words: Readonly<Record<AskContinuation, string>> = {
  proceed: "go on",
  "retry-with": "try again with the values given here",
  skip: "skip this and continue",
  abort: "end the job",
};

const plainTypes: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean"]);

/** Returns the form with which the MCP client asks its user a job's question, in the protocol's format. */
export function askRequest(ask: AskRecord): Params {
  const { continuations, question, defaultContinuation } = ask;
  const continuation = {
    type: "string",
    title: "What to do",
    description: continuations.map((one) => `${one}: ${words[one]}`).join("; "),
    enum: [...continuations],
    ...(defaultContinuation !== "" && { default: defaultContinuation }),
  };
  const note = {
    type: "string",
    title: "Note",
    description: "A note that is stored with the answer.",
    maxLength: 2_000,
  };
  const requestedSchema = {
    type: "object",
    properties: { continuation, ...changeFields(ask), note },
    required: ["continuation"],
  };
  return { method: "elicitation/create", params: { mode: "form", message: question, requestedSchema } };
}

/** Returns form fields for the values that a person may change in an answer. Only texts, numbers and booleans have a form field. */
function changeFields({ answerSchema, continuations }: AskRecord): Params {
  if (answerSchema === "" || !continuations.includes("retry-with")) return {};
  const schema = parseExactJson(answerSchema);
  const properties = isObject(schema) && isObject(schema["properties"]) ? schema["properties"] : {};
  return Object.fromEntries(
    Object.entries(properties).filter(
      ([name, field]) => name !== "continuation" && name !== "note" && isObject(field) && plainTypes.has(field["type"]),
    ),
  );
}

/**
 * Converts the user's answer, which the MCP client sent, to the form of the API method AnswerAsk. Returns undefined if the user declined or
 * gave no valid answer.
 */
export function readAskAnswer(
  ask: AskRecord,
  response: unknown,
): { readonly continuation: string; readonly overridesJson: string; readonly note: string } | undefined {
  if (!isObject(response) || response["action"] !== "accept" || !isObject(response["content"])) return undefined;
  const { continuation, note, ...given } = response["content"];
  if (typeof continuation !== "string") return undefined;
  const names = new Set(Object.keys(changeFields(ask)));
  const changes = Object.fromEntries(Object.entries(given).filter(([name]) => names.has(name)));
  const isChanged = continuation === "retry-with" && Object.keys(changes).length > 0;
  return {
    continuation,
    overridesJson: isChanged ? JSON.stringify(changes) : "",
    note: typeof note === "string" ? note : "",
  };
}
