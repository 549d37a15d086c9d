import { type DocumentType, documentType } from "./document.ts";

/** An entry of a job's log before it has its place there. */
export type LogEntry = {
  readonly type: string;
  /** Empty where it is about no step. */
  readonly stepId: string;
  /** JSON text of at most 4 KB, never row data. */
  readonly payload: string;
  /** Absent or null where it is the job's own. */
  readonly principalChain?: readonly string[] | null | undefined;
};

/** How `job_events.following` is stored: as one text of values without their names. */
export const logEntriesDocument: DocumentType<readonly LogEntry[]> = documentType(
  "job_events.following",
  [({ p: packed }) => (JSON.parse(String(packed)) as Packed[]).map(unpack)],
  (entries: readonly LogEntry[]) => ({ p: JSON.stringify(entries.map(pack)) }),
);

type Packed = readonly [type: string, stepId: string, payload: string, principalChain?: readonly string[]];

function pack({ type, stepId, payload, principalChain }: LogEntry): Packed {
  return principalChain ? [type, stepId, payload, principalChain] : [type, stepId, payload];
}

function unpack([type, stepId, payload, principalChain]: Packed): LogEntry {
  return { type, stepId, payload, principalChain: principalChain ?? null };
}
