import {
  type Id,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ProjectId,
  parseExactJson,
  type Sealer,
} from "@svc/core";

/** Seals a job's data. Each value is sealed for its own place and cannot be opened for another job, row or column. */
export type JobSeals = {
  seal(this: void, place: string, value: unknown): Buffer;
  /** Seals JSON text. */
  sealText(this: void, place: string, json: string): Buffer;
  open(this: void, place: string, sealed: Uint8Array): JsonValue;
  /** Opens a value that was sealed as an object: a row's fields, an input, or arguments. Throws an Error if the value is not an object. */
  openObject(this: void, place: string, sealed: Uint8Array): JsonObject;
};

const unbounded = { depthMax: Number.POSITIVE_INFINITY };

/**
 * Returns the seals of one job. `place`: names the column and the row, for example `rows/17`. Opening a value throws SealError if it was
 * sealed for another place.
 */
export function jobSeals(sealer: Sealer, projectId: ProjectId, jobId: Id<"job">): JobSeals {
  const contextOf = (place: string) => `${projectId}/jobs/${jobId}/${place}`;
  // Parses the text like a call's answer. Its depth needs no check, because JSON.stringify wrote the sealed text.
  const open = (place: string, sealed: Uint8Array) =>
    parseExactJson(sealer.open(sealed, contextOf(place)).toString("utf8"), unbounded) as JsonValue;
  const sealText = (place: string, json: string) => sealer.seal(Buffer.from(json, "utf8"), contextOf(place));
  return {
    seal: (place, value) => sealText(place, JSON.stringify(value)),
    sealText,
    open,
    openObject(place, sealed) {
      const value = open(place, sealed);
      if (!isJsonObject(value)) throw new Error(`${place} of a job holds no object`);
      return value;
    },
  };
}
