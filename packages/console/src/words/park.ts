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
  judgment: { title: "It asks a person", next: "It goes on with the answer.", forPerson: true },
  approval: { title: "It waits for an approval", next: "Nothing that it guards is done before.", forPerson: true },
  wait: { title: "It waits for a time", next: "It goes on by itself.", forPerson: false },
  in_doubt: {
    title: "A write is in doubt",
    next: "It was sent, and whether it was carried out is not known. A person who looks there can tell.",
    forPerson: true,
  },
  undo_stuck: {
    title: "An undo cannot finish",
    next: "A person decides whether it is tried again or left.",
    forPerson: true,
  },
  poisoned: {
    title: "The service parked it",
    next: "It took down or stalled its nodes. An administrator releases it, or it is cancelled.",
    forPerson: true,
  },
  administrator: {
    title: "An administrator parked it",
    next: "An administrator releases it, or it is cancelled.",
    forPerson: true,
  },
  paused: {
    title: "It is paused",
    next: "Resume lets it go on where it stood. Its deadline's clock stands still.",
    forPerson: false,
  },
  child: { title: "A job that it runs waits for a person", next: "The question is answered there.", forPerson: true },
};

/**
 * Returns in words why a job is parked (stored, with no node working on it) and what it waits for. Returns a reason of a newer service
 * unchanged.
 */
export function parkWords(reason: string): { title: string; next: string; forPerson: boolean } {
  return (
    (words as Record<string, (typeof words)[ParkReason]>)[reason] ?? {
      title: `It is parked: ${reason}`,
      next: "",
      forPerson: true,
    }
  );
}
