import { create } from "@bufbuild/protobuf";
import type { Id } from "@svc/core";
import { type ProgramNote as NoteMessage, ProgramNoteSchema } from "@svc/gen/jobs";
import type { ProgramNote } from "@svc/program";
import { spoken, type ToolAnswer } from "@svc/tools";

/** Notes of a document as callers read them. `field` names the document in a request, such as `programJson`. */
export function toNotes(notes: readonly ProgramNote[], field: string): NoteMessage[] {
  return notes.map(({ code, pointer, message, hint }) => {
    return create(ProgramNoteSchema, { reason: code, field: `${field}${pointer}`, message, help: String(hint) });
  });
}

/** An answer to an agent with what is noted about its program; the answer itself if nothing is. */
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

/** Tells the watchers of one node that a job's log grew. A hint only: another node's work is found by polling. */
export type JobHints = {
  notify(jobId: Id<"job">): void;
  /** Calls `listener` at every hint about the job until the returned function is called. */
  subscribe(jobId: Id<"job">, listener: () => void): () => void;
};

/** Makes the hints of one node. They hold nothing of jobs that nobody watches. */
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
