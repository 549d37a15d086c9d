import { jobEvents } from "../schema/jobs.ts";
import { fieldsBut, type NewRow } from "../sql/codec.ts";
import { rows } from "../sql/parts.ts";
import type { JobEventRecord, NewJobEvent } from "./record.ts";

const fields = fieldsBut(jobEvents, "seq", "at", "jobId");

/** Rows of a job's log, as parameters of a statement that gives them job, time and place: `seq` counts from 1 within what is written. */
export const logRowFields = { ...fieldsBut(jobEvents, "at", "jobId") };

/** The columns that `logRowFields` gives as they are, and their values. */
export const logRowColumns = rows(fields).names(1);

/** A row of a job's log; `seq` counts from 1 within what is written. */
export type NewLogRow = NewRow<typeof jobEvents, keyof typeof logRowFields>;

// Below the 2 KB from which the store would compress a row and keep it elsewhere.
const charactersMax = 1_500;

/** Of these the last one of an ask is searched in the store: each begins a row. */
const searchedType = "ask-delivery-changed";

/**
 * The rows that entries are kept in, in order: what is written together and is short shares one, since a row and its index entry cost
 * more than most entries.
 */
export function logRowsOf(entries: readonly NewJobEvent[]): NewLogRow[] {
  const all: { first: NewJobEvent; seq: number; following: NewJobEvent[]; characters: number }[] = [];
  for (const [index, entry] of entries.entries()) {
    const row = all.at(-1);
    const characters = entry.payload.length + entry.type.length + JSON.stringify(entry.principalChain ?? "").length;
    if (row === undefined || entry.type === searchedType || row.characters + characters > charactersMax) {
      all.push({ first: entry, seq: index + 1, following: [], characters });
    } else {
      row.following.push(entry);
      row.characters += characters;
    }
  }
  return all.map(({ first, seq, following }) => ({
    ...first,
    seq,
    following: following.length === 0 ? null : following,
  }));
}

/** The entry that tells of a job's program. The hash of that stands with the program, and is told with the entry when it is read. */
export const submittedType = "job-submitted";

/** A row of a log as it is read. */
type ReadRow = typeof jobEvents.$inferSelect & {
  /** The principal chain of entries that have none of their own. */
  readonly jobChain: string[];
  /** The job's, where the row begins with the entry that tells of it. */
  readonly programHash: string | null;
};

/** The entries of rows of a log, in order. */
export function entriesOf(log: readonly ReadRow[]): JobEventRecord[] {
  return log.flatMap(({ jobChain, programHash, following, ...stored }) => {
    const row = { ...stored, payload: programHash === null ? stored.payload : withHash(stored.payload, programHash) };
    const { jobId, seq, at } = row;
    const rest = (following ?? []).map((entry, index) => ({ ...entry, jobId, seq: seq + 1 + index, at }));
    return [row, ...rest].map(({ principalChain, ...entry }) => ({
      ...entry,
      principalChain: [...(principalChain ?? jobChain)],
    }));
  });
}

/** A payload with the hash behind what it says of the job; as it is, where a version before 0.2 stored it with the hash. */
function withHash(payload: string, programHash: string): string {
  const { mode, status, ...rest } = JSON.parse(payload) as Readonly<Record<string, unknown>>;
  return JSON.stringify({ mode, status, programHash, ...rest });
}
