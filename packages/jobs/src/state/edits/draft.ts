import type { StepReceiptDocument } from "@svc/db/documents/step-receipt";
import type { Edit, LogNote } from "../change.ts";
import type { JobState, StepEntry } from "../job.ts";
import { shownOf } from "../shown.ts";
import { followingFrom, type PendingWrites } from "../work.ts";

/** Carries out the edits of some kinds, by the kind of the edit. An editor changes the draft. */
export type Editors<Kind extends Edit["kind"]> = {
  readonly [Each in Kind]: (draft: Draft, edit: EditOf<Each>) => void;
};

/** An edit of one kind. */
export type EditOf<Kind extends Edit["kind"]> = Extract<Edit, { kind: Kind }>;

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

type PendingDraft = { [Name in keyof PendingWrites]: PendingWrites[Name][number][] };

/** A job that edits are changing: a copy of its state and of its pending writes. `nowMs`: the time of the change. */
export type Draft = {
  readonly nowMs: number;
  readonly job: Mutable<Omit<JobState, "steps">> & { steps: Map<string, StepEntry> };
  readonly pending: PendingDraft;
};

/**
 * Returns a copy of the pending writes, to which later changes of the job are added. The lists are copied one by one by name, because a
 * loop over the names would create much garbage for each change.
 */
export function draftOf(pending: PendingWrites): PendingDraft {
  return {
    events: [...pending.events],
    rows: [...pending.rows],
    placed: [...pending.placed],
    runs: [...pending.runs],
    clearedSets: [...pending.clearedSets],
    turned: [...pending.turned],
    armed: [...pending.armed],
    undone: [...pending.undone],
    tasks: [...pending.tasks],
    asks: [...pending.asks],
    records: [...pending.records],
    made: [...pending.made],
    children: [...pending.children],
    retried: [...pending.retried],
    childUndone: [...pending.childUndone],
  };
}

/** Returns a message with sensitive values masked. An app's message may quote data that svc sent to the app. */
export function toldText(job: Draft["job"], message: string): string {
  return job.loaded.hasSensitive ? shownOf({ ...job, ...followingFrom(job) }).redact(message) : message;
}

const payloadBytesMax = 4_096;

/** Adds a log entry. A payload that is too long is dropped; then the entry has only its type. */
export function note({ job, pending }: Draft, { type, stepId, payload, chain = job.principalChain }: LogNote): void {
  const text = JSON.stringify(payload);
  const isShort = Buffer.byteLength(text) <= payloadBytesMax;
  pending.events.push({
    type,
    stepId,
    payload: isShort ? text : '{"truncated":true}',
    // A log entry that the program itself causes stores no chain of causes, because the job already stores this chain.
    principalChain: chain === job.submitChain ? null : [...chain],
  });
}

/** Returns the entry of a step that has begun. Throws an Error if the step has not begun. */
export function entryOf({ steps }: Draft["job"], stepId: string): StepEntry {
  const entry = steps.get(stepId);
  if (entry === undefined) throw new Error(`step ${stepId} has not begun`);
  return entry;
}

/** Changes fields of the receipt of a step that has begun. `changed` returns them. */
export function patch(
  { job }: Draft,
  stepId: string,
  changed: (entry: StepEntry) => Partial<StepReceiptDocument>,
): void {
  const entry = entryOf(job, stepId);
  job.steps.set(stepId, { ...entry, receipt: { ...entry.receipt, ...changed(entry) } });
}
