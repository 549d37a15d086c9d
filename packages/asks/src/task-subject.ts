import { type Id, parseId } from "@svc/core";
import type { ClaimedJobTask } from "@svc/db/job-tasks/queue";

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
