import type { Id, ProjectId, Sealer } from "@svc/core";
import type { JsonValue } from "../program/program.ts";

/** Seals what a job keeps of its data, each value for its own place: no other job, row or column opens it. */
export type JobSeals = {
  seal(place: string, value: unknown): Buffer;
  open(place: string, sealed: Uint8Array): JsonValue;
};

/** The seals of one job. `place` names column and row, such as `rows/17`. Opening throws SealError. */
export function jobSeals(sealer: Sealer, projectId: ProjectId, jobId: Id<"job">): JobSeals {
  const contextOf = (place: string) => `${projectId}/jobs/${jobId}/${place}`;
  return {
    seal: (place, value) => sealer.seal(Buffer.from(JSON.stringify(value), "utf8"), contextOf(place)),
    open: (place, sealed) => parseExact(sealer.open(sealed, contextOf(place)).toString("utf8")),
  };
}

// The runtime has raw JSON (ECMAScript's JSON.parse source text access); the compiler's library does not know it yet.
const json = JSON as JSON & { rawJSON(text: string): object };

/** Parses without losing digits: an integer beyond 2^53 - 1 becomes raw JSON, as a call's answer holds it. */
function parseExact(text: string): JsonValue {
  // Nothing below 16 digits is unsafe, and a reviver costs several times the parsing.
  if (!/\d{16}/.test(text)) return JSON.parse(text) as JsonValue;
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    const isUnsafe = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
    return isUnsafe && context?.source !== undefined ? json.rawJSON(context.source) : value;
  }) as JsonValue;
}
