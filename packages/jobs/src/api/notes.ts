import { create } from "@bufbuild/protobuf";
import type { Id } from "@svc/core";
import { type ProgramNote as NoteMessage, ProgramNoteSchema } from "@svc/gen/jobs";
import type { ProgramNote } from "@svc/program";
import { spoken, type ToolAnswer } from "@svc/tools";

/** Returns the notes of a document for callers. `field` names the document in a request, for example `programJson`. */
export function toNotes(notes: readonly ProgramNote[], field: string): NoteMessage[] {
  return notes.map(({ code, pointer, message, hint }) => {
    return create(ProgramNoteSchema, { reason: code, field: `${field}${pointer}`, message, help: String(hint) });
  });
}

/** Returns an answer to an agent with the notes on its program, or the answer itself if there are none. */
export function withNotes(answer: ToolAnswer, notes: readonly NoteMessage[]): ToolAnswer {
  if (notes.length === 0) return answer;
  const noted = notes.map(({ reason, field, message, help }) => ({
    ...{ reason, field: field.replace(/^programJson/, "program") },
    ...{ message: spoken(message), help: spoken(help) },
  }));
  const lines = noted.map(({ reason, field, message, help }) => {
    return `Note: ${field} ${reason}: ${message}. If that is not meant: ${help}.`;
  });
  return { ...answer, texts: [...answer.texts, lines.join("\n")], structured: { ...answer.structured, notes: noted } };
}

/** Informs the watchers of one node that a job's log grew. It is only a hint: the work of other nodes is found by polling. */
export type JobHints = {
  notify(jobId: Id<"job">): void;
  /** Calls `listener` at every hint about the job until the returned function is called. */
  subscribe(jobId: Id<"job">, listener: () => void): () => void;
};

/** Creates the hints of one node. They hold nothing of jobs without watchers. */
export function createJobHints(): JobHints {
  const listeners = new Map<Id<"job">, Set<() => void>>();
  return {
    notify(jobId) {
      for (const listener of [...(listeners.get(jobId) ?? [])]) listener();
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
