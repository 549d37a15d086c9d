import { LeastRecentlyUsed, type ProjectId, type Sealer } from "@svc/core";
import { type CallRecord, putToolCalls } from "@svc/db/calls/repo";
import type { Database, Executor } from "@svc/db/connect";
import { type JobProgramRecord, loadJobProgram } from "@svc/db/jobs/load";
import { createPinReader, type Program, parseCheckedProgram, readPins, withOldForms } from "@svc/program";
import { flatten } from "../../state/flow.ts";
import type { LoadedProgram } from "../../state/job.ts";
import { hasSensitive } from "../../state/shown.ts";
import { stepKinds } from "../../steps/index.ts";

/**
 * Project and digest that identify a stored program. Jobs of a project with the same program text and the same pinned definitions share one
 * stored program.
 */
type ProgramPlace = { readonly projectId: ProjectId; readonly programDigest: Uint8Array };

/** Encrypts the text of a program for its row in the database, and returns the encrypted text. */
export function sealProgram(sealer: Sealer, place: ProgramPlace, programJson: string): Buffer {
  return sealer.seal(Buffer.from(programJson, "utf8"), contextOf(place));
}

/**
 * Returns the program text as submitted. It is decrypted, except for programs of versions before 0.2. Throws SealError if the text cannot
 * be decrypted.
 */
export function openProgram(
  sealer: Sealer,
  place: ProgramPlace,
  { program, sealedProgram }: Pick<JobProgramRecord, "program" | "sealedProgram">,
): string {
  if (sealedProgram !== null) return sealer.open(sealedProgram, contextOf(place)).toString("utf8");
  if (program === null) throw new Error(`a program of ${place.projectId} is in the database without its text`);
  return program;
}

/** True if a version before 0.2 stored the program. */
function isOld({ sealedProgram }: Pick<JobProgramRecord, "sealedProgram">): boolean {
  return sealedProgram === null;
}

/**
 * Returns the text of a program in the present form of the language, with an unchanged meaning if a version before 0.2 stored it. Throws
 * SealError if the text cannot be decrypted.
 */
export function openReadable(
  sealer: Sealer,
  place: ProgramPlace,
  record: Pick<JobProgramRecord, "program" | "sealedProgram">,
): string {
  const programJson = openProgram(sealer, place, record);
  return isOld(record) ? withOldForms(programJson) : programJson;
}

function contextOf({ projectId, programDigest }: ProgramPlace): string {
  return `${projectId}/job_programs/${hexOf(programDigest)}`;
}

/** A program that was just checked, with its hash and its pins (the tool definitions that are stored with it). */
export type CheckedRecord = Pick<JobProgramRecord, "programHash" | "pins"> & { readonly program: Program };

/** A program from the database. `isOld`: true if a version before 0.2 stored it. */
type StoredRecord = CheckedRecord & Partial<Pick<LoadedProgram, "isOld">>;

/** The programs that a node keeps in memory, ready to run, so that it need not read them for each job. */
export type ProgramCache = {
  /** Returns a program that is ready to run. Reads it from the database if it is not cached. */
  get(db: Executor, projectId: ProjectId, digest: Uint8Array): Promise<LoadedProgram>;
  /** Caches a program that was just checked, so that it need not be read from the database. */
  put(projectId: ProjectId, digest: Uint8Array, checked: CheckedRecord): void;
};

/** Maximum number of programs that a node caches. The least recently used program is removed first. */
const programsMax = 500;

/** Creates an empty cache of programs. `sealer`: decrypts the program texts that are read from the database. */
export function createProgramCache(sealer: Sealer): ProgramCache {
  const known = new LeastRecentlyUsed<string, CheckedRecord | LoadedProgram>(programsMax);
  const pinned = createPinReader();
  const ready = ({ program, programHash, pins, isOld = false }: StoredRecord): LoadedProgram => {
    const flow = flatten(program.steps, stepKinds);
    const { pins: toolkits, skills } = readPins(pins);
    const read = { program, programHash, flow, tools: pinned.tools(toolkits), skills, isOld };
    return { ...read, hasSensitive: hasSensitive(read) };
  };
  return {
    async get(db, projectId, digest) {
      const key = keyOf(projectId, digest);
      const found = known.get(key) ?? (await load(db, sealer, { projectId, programDigest: digest }));
      if ("flow" in found) return found;
      const loaded = ready(found);
      known.set(key, loaded);
      return loaded;
    },
    put(projectId, digest, checked) {
      const key = keyOf(projectId, digest);
      if (known.get(key) === undefined) known.set(key, checked);
    },
  };
}

function keyOf(projectId: ProjectId, digest: Uint8Array): string {
  return `${projectId}/${hexOf(digest)}`;
}

/** Returns bytes in hexadecimal, without a copy of them. */
function hexOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("hex");
}

async function load(db: Executor, sealer: Sealer, place: ProgramPlace): Promise<StoredRecord> {
  const record = await loadJobProgram(db, place.projectId, place.programDigest);
  if (record === undefined) throw new Error(`the program of a job of ${place.projectId} is missing in the database`);
  return { ...record, program: parseCheckedProgram(openReadable(sealer, place, record)), isOld: isOld(record) };
}

/**
 * Stores ledger rows (records of tool calls) of calls whose results could not be committed with the job. If this fails, reads are not
 * recorded. Writes are already in the ledger as begun. After a time they count as in doubt (executed or not), and svc never repeats them by
 * itself.
 */
export async function saveRecords(db: Database, records: readonly CallRecord[]): Promise<void> {
  if (records.length === 0) return;
  try {
    await putToolCalls(db, records);
  } catch {
    // The error is ignored here, because the caller reports the error of the failed commit.
  }
}
