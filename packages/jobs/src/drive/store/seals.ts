import {
  type Id,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ProjectId,
  parseExactJson,
  type Sealer,
} from "@svc/core";

/** Encrypts and decrypts a job's data. Each value is bound to its place, so it cannot be decrypted for another job, row or column. */
export type JobSeals = {
  seal(this: void, place: string, value: unknown): Buffer;
  /**
   * Returns a JSON text, encrypted for a place (the name of a column and a row, for example `rows/17`). It cannot be decrypted for another
   * place.
   */
  sealText(this: void, place: string, json: string): Buffer;
  open(this: void, place: string, sealed: Uint8Array): JsonValue;
  /** Decrypts a value that must be an object: a row's fields, an input, or arguments. Throws an Error if the value is not an object. */
  openObject(this: void, place: string, sealed: Uint8Array): JsonObject;
};

const unbounded = { depthMax: Number.POSITIVE_INFINITY };

/**
 * Returns the functions that encrypt and decrypt one job's data. `place` names the column and the row, for example `rows/17`. Decryption
 * throws SealError if the value was encrypted for another place.
 */
export function jobSeals(sealer: Sealer, projectId: ProjectId, jobId: Id<"job">): JobSeals {
  const contextOf = (place: string) => `${projectId}/jobs/${jobId}/${place}`;
  // The depth of the JSON needs no check, because svc itself wrote the encrypted text with JSON.stringify.
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
