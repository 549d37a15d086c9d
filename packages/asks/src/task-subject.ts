import { type Id, type KeyId, keysOfChain, parseId } from "@svc/core";
import { isOneHand } from "@svc/db/asks/read";
import { type AskRecord, listJobAsks } from "@svc/db/asks/repo";
import type { Executor } from "@svc/db/connect";
import type { ClaimedJobTask } from "@svc/db/job-tasks/queue";
import type { JobRecord } from "@svc/db/jobs/record";

/** What a task of kind hop, reach or publish is about. */
export type TaskSubject = HopSubject | PublishSubject | WatchSubject | ReachSubject;

/** The end of a hop of an ask's ladder. */
export type HopSubject = { readonly kind: "hop"; readonly askId: Id<"ask">; readonly hopIndex: number };

/** The publication of an ask at one of its hops. */
export type PublishSubject = { readonly kind: "publish"; readonly askId: Id<"ask">; readonly hopIndex: number };

/** What becomes of an ask's publications; a task of kind publish. */
export type WatchSubject = { readonly kind: "watch"; readonly askId: Id<"ask"> };

/** A call that tells a contact of an ask; `tries` were made before. */
export type ReachSubject = {
  readonly kind: "reach";
  readonly askId: Id<"ask">;
  readonly hopIndex: number;
  readonly tries: number;
  readonly principalId: string;
};

const watch = "watch";

/** The text of a subject: it starts with the ask's id and a slash, so that the tasks of an ask are found together. */
export function subjectText(subject: TaskSubject): string {
  if (subject.kind === "watch") return `${subject.askId}/${watch}`;
  if (subject.kind !== "reach") return `${subject.askId}/${subject.hopIndex}`;
  return `${subject.askId}/${subject.hopIndex}/${subject.tries}/${subject.principalId}`;
}

/** Reads the subject of a task. Throws an Error for a text that no version wrote. */
export function readSubject({ kind, subject: text }: Pick<ClaimedJobTask, "kind" | "subject">): TaskSubject {
  const [id = "", hop = "", tries = "", ...principal] = text.split("/");
  const askId = parseId("ask", id);
  if (askId === undefined || hop === "") throw new Error(`a ${kind} task has the subject ${text.slice(0, 80)}`);
  if (kind === "publish" && hop === watch) return { kind: "watch", askId };
  const hopIndex = Number(hop);
  if (kind === "hop" || kind === "publish") return { kind, askId, hopIndex };
  return { kind: "reach", askId, hopIndex, tries: Number(tries), principalId: principal.join("/") };
}

/** An ask and the job that it is about. */
type AskOfJob = {
  readonly ask: Pick<AskRecord, "kind" | "keyId" | "jobId">;
  readonly job: Pick<JobRecord, "principalChain">;
};

/**
 * True if a key is of one hand with a key that caused what a job does: the keys of the job and of its attempts, and those whose answers
 * changed what it sends.
 */
export async function isOfCauser(db: Executor, { ask, job }: AskOfJob, keyId: KeyId): Promise<boolean> {
  const asks = await listJobAsks(db, ask.jobId);
  const changed = asks.flatMap(({ decision }) =>
    decision?.overridesJson ? (parseId("key", decision.keyId) ?? []) : [],
  );
  const keyIds = [ask.keyId, ...keysOfChain(job.principalChain), ...changed];
  return isOneHand(db, { jobId: ask.jobId, keyIds }, keyId);
}

/** True if an ask confirms what the hand of a key caused: then the key may neither answer nor vouch for who does. */
export async function isOwnConfirmation(db: Executor, asked: AskOfJob, keyId: KeyId): Promise<boolean> {
  return asked.ask.kind === "confirm" && (await isOfCauser(db, asked, keyId));
}
