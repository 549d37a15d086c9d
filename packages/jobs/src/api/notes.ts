import { create } from "@bufbuild/protobuf";
import type { Id } from "@svc/core";
import { type ProgramNote as NoteMessage, ProgramNoteSchema } from "@svc/gen/jobs";
import type { ProgramNote } from "@svc/program";
import { spoken, type ToolAnswer } from "@svc/tools";
import type { JobEnd } from "../drive/context.ts";

/**
 * Returns the notes (remarks of the check) on a program in the form of the API. `field`: the request field that contains the program, for
 * example `programJson`.
 */
export function toNotes(notes: readonly ProgramNote[], field: string): NoteMessage[] {
  return notes.map(({ code, pointer, message, hint }) => {
    return create(ProgramNoteSchema, { reason: code, field: `${field}${pointer}`, message, help: String(hint) });
  });
}

/** Returns a tool's answer with the notes on its program added, or the unchanged answer if there are no notes. */
export function withNotes(answer: ToolAnswer, notes: readonly NoteMessage[]): ToolAnswer {
  if (notes.length === 0) return answer;
  const noted = notes.map(({ reason, field, message, help }) => ({
    ...{ reason, field: field.replace(/^programJson/, "program") },
    ...{ message: spoken(message), help: spoken(help) },
  }));
  const lines = noted.map(({ reason, field, message, help }) => {
    return `Note: ${field} ${reason}: ${message}. If you do not mean that: ${help}.`;
  });
  return { ...answer, texts: [...answer.texts, lines.join("\n")], structured: { ...answer.structured, notes: noted } };
}

/**
 * Notifies watchers on the same node when the log of a job has new entries. It only saves time, because watchers also read the log regularly
 * to find entries of other nodes.
 */
export type JobHints = {
  /** Notifies the watchers on this node that the log of a job grew. `end`: the end of the job, if this node has just committed it. */
  notify(jobId: Id<"job">, end?: JobEnd): void;
  /**
   * Calls `listener` at every hint (notice on this node that the job's log grew). `end`: the end of the job, if this node has just
   * committed it. Returns a function that ends the subscription.
   */
  subscribe(jobId: Id<"job">, listener: (end?: JobEnd) => void): () => void;
};

/** Creates the notifier of one node, which informs watchers that the log of a job grew. It uses memory only for jobs that have watchers. */
export function createJobHints(): JobHints {
  const listeners = new Map<Id<"job">, Set<(end?: JobEnd) => void>>();
  return {
    notify(jobId, end) {
      for (const listener of [...(listeners.get(jobId) ?? [])]) listener(end);
    },
    subscribe(jobId, listener) {
      const known = listeners.get(jobId) ?? new Set();
      listeners.set(jobId, known.add(listener));
      return () => {
        known.delete(listener);
        if (known.size === 0 && listeners.get(jobId) === known) listeners.delete(jobId);
      };
    },
  };
}
