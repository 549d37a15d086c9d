/** The reasons why a job is parked (the values of `Park.reason`). */
export type ParkReason =
  | "judgment"
  | "approval"
  | "wait"
  | "in_doubt"
  | "undo_stuck"
  | "poisoned"
  | "administrator"
  | "paused"
  | "child";

const words: Record<ParkReason, { title: string; next: string; forPerson: boolean }> = {
  judgment: {
    title: "Waiting for an answer",
    next: "The job continues when the question is answered.",
    forPerson: true,
  },
  approval: { title: "Waiting for an approval", next: "The job continues when a person approves.", forPerson: true },
  wait: { title: "Sleeping", next: "The job continues by itself at this time.", forPerson: false },
  in_doubt: {
    title: "Outcome of a write unknown",
    next: "svc can't tell whether the app received the write. Look in the app, then answer.",
    forPerson: true,
  },
  undo_stuck: {
    title: "An undo failed",
    next: "Decide whether svc tries again or leaves the change.",
    forPerson: true,
  },
  poisoned: {
    title: "Stopped by svc",
    next: "The job crashed or blocked its nodes several times. An administrator can resume or cancel it.",
    forPerson: true,
  },
  administrator: {
    title: "Stopped by an administrator",
    next: "An administrator can resume or cancel it.",
    forPerson: true,
  },
  paused: {
    title: "Paused",
    next: "Resume continues the job where it stopped. The deadline does not run while the job is paused.",
    forPerson: false,
  },
  child: {
    title: "Waiting for another job",
    next: "A job that this job started waits for an answer.",
    forPerson: true,
  },
};

/**
 * Returns in words why a job is parked (stored, with no node working on it) and what it waits for. A reason that this console does not know
 * is returned unchanged.
 */
export function parkWords(reason: string): { title: string; next: string; forPerson: boolean } {
  return (
    (words as Record<string, (typeof words)[ParkReason]>)[reason] ?? {
      title: `Waiting: ${reason}`,
      next: "",
      forPerson: true,
    }
  );
}
