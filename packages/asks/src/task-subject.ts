import { type Id, type KeyId, keysOfChain, parseId } from "@svc/core";
import { isOneHand } from "@svc/db/asks/read";
import { type AskRecord, listJobAsks } from "@svc/db/asks/repo";
import type { Executor } from "@svc/db/connect";
import type { ClaimedJobTask } from "@svc/db/job-tasks/queue";
import type { JobRecord } from "@svc/db/jobs/record";

/** The content of the `subject` field of a task about an ask (a question of a job to a person): the ask, and what the task does for it. */
export type TaskSubject = HopSubject | PublishSubject | WatchSubject | ReachSubject;

/** Subject of the task that ends a hop (stage of the escalation) when its time expires. */
export type HopSubject = { readonly kind: "hop"; readonly askId: Id<"ask">; readonly hopIndex: number };

/**
 * Subject of the task that publishes a question to endpoints when the question reaches a stage of its escalation. `hopIndex`: index of the
 * stage; the first stage is 0.
 */
export type PublishSubject = { readonly kind: "publish"; readonly askId: Id<"ask">; readonly hopIndex: number };

/**
 * Subject of the task that checks if an ask (a question of a job to a person) was delivered to the project's endpoints. The database stores
 * this task with the kind `publish`. The text of its subject distinguishes it from a task that publishes.
 */
export type WatchSubject = { readonly kind: "watch"; readonly askId: Id<"ask"> };

/** Subject of the task that sends an ask to a contact. `tries`: number of attempts before this one. */
export type ReachSubject = {
  readonly kind: "reach";
  readonly askId: Id<"ask">;
  readonly hopIndex: number;
  readonly tries: number;
  readonly principalId: string;
};

const watch = "watch";

/**
 * Returns the text that is stored in a task to say which ask (a question to a person) and which stage it is for. The text starts with the
 * ask's id and a slash, so that one search finds all tasks of an ask.
 */
export function subjectText(subject: TaskSubject): string {
  if (subject.kind === "watch") return `${subject.askId}/${watch}`;
  if (subject.kind !== "reach") return `${subject.askId}/${subject.hopIndex}`;
  return `${subject.askId}/${subject.hopIndex}/${subject.tries}/${subject.principalId}`;
}

/**
 * Returns the subject (the ask and the stage) that the text of a task contains. Throws an Error if no version of svc can have written this
 * text.
 */
export function readSubject({ kind, subject: text }: Pick<ClaimedJobTask, "kind" | "subject">): TaskSubject {
  const [id = "", hop = "", tries = "", ...principal] = text.split("/");
  const askId = parseId("ask", id);
  if (askId === undefined || hop === "") throw new Error(`a ${kind} task has the subject ${text.slice(0, 80)}`);
  if (kind === "publish" && hop === watch) return { kind: "watch", askId };
  const hopIndex = Number(hop);
  if (kind === "hop" || kind === "publish") return { kind, askId, hopIndex };
  return { kind: "reach", askId, hopIndex, tries: Number(tries), principalId: principal.join("/") };
}

/** An ask (a question of a job to a person), together with the job that asks it. */
type AskOfJob = {
  readonly ask: Pick<AskRecord, "kind" | "keyId" | "jobId">;
  readonly job: Pick<JobRecord, "principalChain">;
};

/** True if the key belongs to a person who caused the job's tool calls. That person may not confirm these calls. */
export async function isOfCauser(db: Executor, { ask, job }: AskOfJob, keyId: KeyId): Promise<boolean> {
  // Answers can change the arguments of calls. The keys of such answers count too.
  const asks = await listJobAsks(db, ask.jobId);
  const changed = asks.flatMap(({ decision }) =>
    decision?.overridesJson ? (parseId("key", decision.keyId) ?? []) : [],
  );
  const keyIds = [ask.keyId, ...keysOfChain(job.principalChain), ...changed];
  return isOneHand(db, { jobId: ask.jobId, keyIds }, keyId);
}

/**
 * True if the ask (a question to a person) is a confirmation of tool calls, and the key belongs to the person who caused these calls. Such
 * a key may neither answer the ask nor create answer links for it.
 */
export async function isOwnConfirmation(db: Executor, asked: AskOfJob, keyId: KeyId): Promise<boolean> {
  return asked.ask.kind === "confirm" && (await isOfCauser(db, asked, keyId));
}
