import { LeastRecentlyUsed, type ProjectId, type Sealer } from "@svc/core";
import { type CallRecord, putToolCalls } from "@svc/db/calls/repo";
import type { Database, Executor } from "@svc/db/connect";
import { type JobProgramRecord, loadJobProgram } from "@svc/db/jobs/load";
import { createPinReader, type Program, parseCheckedProgram, readPins, withOldForms } from "@svc/program";
import { flatten } from "../../state/flow.ts";
import type { LoadedProgram } from "../../state/job.ts";
import { hasSensitive } from "../../state/shown.ts";
import { stepKinds } from "../../steps/index.ts";

/** Which program: jobs of a project that were submitted with the same text and definitions share one. */
type ProgramPlace = { readonly projectId: ProjectId; readonly programDigest: Uint8Array };

/** Seals the text of a program for its row. */
export function sealProgram(sealer: Sealer, place: ProgramPlace, programJson: string): Buffer {
  return sealer.seal(Buffer.from(programJson, "utf8"), contextOf(place));
}

/** The text of a program as it was submitted; of versions before 0.2 it stands unsealed. Throws SealError. */
export function openProgram(
  sealer: Sealer,
  place: ProgramPlace,
  { program, sealedProgram }: Pick<JobProgramRecord, "program" | "sealedProgram">,
): string {
  if (sealedProgram !== null) return sealer.open(sealedProgram, contextOf(place)).toString("utf8");
  if (program === null) throw new Error(`a program of ${place.projectId} is in the store without its text`);
  return program;
}

/** Whether a version before 0.2 stored a program. */
function isOld({ sealedProgram }: Pick<JobProgramRecord, "sealedProgram">): boolean {
  return sealedProgram === null;
}

/** The text of a program as it is read today: what a version before 0.2 stored says what it said then. Throws SealError. */
export function openReadable(
  sealer: Sealer,
  place: ProgramPlace,
  record: Pick<JobProgramRecord, "program" | "sealedProgram">,
): string {
  const programJson = openProgram(sealer, place, record);
  return isOld(record) ? withOldForms(programJson) : programJson;
}

function contextOf({ projectId, programDigest }: ProgramPlace): string {
  return `${projectId}/job_programs/${Buffer.from(programDigest).toString("hex")}`;
}

/** A program that was just checked, with what it is stored as. */
export type CheckedRecord = Pick<JobProgramRecord, "programHash" | "pins"> & { readonly program: Program };

/** One from the store, which version 0.1 may have put there. */
type StoredRecord = CheckedRecord & Partial<Pick<LoadedProgram, "isOld">>;

/** Programs of this node by project and content. */
export type ProgramCache = {
  /** A program ready to run, read from the store where this node does not have it. */
  get(db: Executor, projectId: ProjectId, digest: Uint8Array): Promise<LoadedProgram>;
  /** Keeps one that was just checked, so that it is not read a second time. */
  put(projectId: ProjectId, digest: Uint8Array, checked: CheckedRecord): void;
};

/** Programs a node keeps; the one unused for longest goes first. */
const programsMax = 500;

/** Makes a cache. The sealer opens what it reads from the store. */
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
  return `${projectId}/${Buffer.from(digest).toString("hex")}`;
}

async function load(db: Executor, sealer: Sealer, place: ProgramPlace): Promise<StoredRecord> {
  const record = await loadJobProgram(db, place.projectId, place.programDigest);
  if (record === undefined) throw new Error(`the program of a job of ${place.projectId} is gone from the store`);
  return { ...record, program: parseCheckedProgram(openReadable(sealer, place, record)), isOld: isOld(record) };
}

/**
 * Writes rows of the ledger whose commit was not made. Where that fails as well, reads leave no trace, and writes that are in the ledger as
 * begun read as doubtful in time: they are never sent again in silence.
 */
export async function saveRecords(db: Database, records: readonly CallRecord[]): Promise<void> {
  if (records.length === 0) return;
  try {
    await putToolCalls(db, records);
  } catch {
    // Whoever holds the commit's own failure tells of it.
  }
}
