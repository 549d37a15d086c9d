import { LeastRecentlyUsed, type ProjectId, type Sealer } from "@svc/core";
import { type CallRecord, putToolCalls } from "@svc/db/calls/repo";
import type { Database, Executor } from "@svc/db/connect";
import { type JobProgramRecord, loadJobProgram } from "@svc/db/jobs/load";
import { createPinReader, type Program, parseCheckedProgram, readPins, withOldForms } from "@svc/program";
import { flatten } from "../../state/flow.ts";
import type { LoadedProgram } from "../../state/job.ts";
import { hasSensitive } from "../../state/shown.ts";
import { stepKinds } from "../../steps/index.ts";

/** Identity of a program: jobs of a project with the same text and definitions share one. */
type ProgramPlace = { readonly projectId: ProjectId; readonly programDigest: Uint8Array };

/** Seals the text of a program for its row. */
export function sealProgram(sealer: Sealer, place: ProgramPlace, programJson: string): Buffer {
  return sealer.seal(Buffer.from(programJson, "utf8"), contextOf(place));
}

/** Returns the text of a program as submitted. Versions before 0.2 stored it unsealed. Throws SealError. */
export function openProgram(
  sealer: Sealer,
  place: ProgramPlace,
  { program, sealedProgram }: Pick<JobProgramRecord, "program" | "sealedProgram">,
): string {
  if (sealedProgram !== null) return sealer.open(sealedProgram, contextOf(place)).toString("utf8");
  if (program === null) throw new Error(`a program of ${place.projectId} is in the store without its text`);
  return program;
}

/** True if a version before 0.2 stored the program. */
function isOld({ sealedProgram }: Pick<JobProgramRecord, "sealedProgram">): boolean {
  return sealedProgram === null;
}

/** Returns the text of a program in today's form. A program stored before version 0.2 keeps its meaning of that time. Throws SealError. */
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

/** A program that was just checked, with the values it is stored with. */
export type CheckedRecord = Pick<JobProgramRecord, "programHash" | "pins"> & { readonly program: Program };

/** A program from the store, possibly stored by version 0.1. */
type StoredRecord = CheckedRecord & Partial<Pick<LoadedProgram, "isOld">>;

/** Programs cached on this node, by project and content. */
export type ProgramCache = {
  /** Returns a program ready to run, read from the store if it is not cached. */
  get(db: Executor, projectId: ProjectId, digest: Uint8Array): Promise<LoadedProgram>;
  /** Caches a program that was just checked, so that it is not read again. */
  put(projectId: ProjectId, digest: Uint8Array, checked: CheckedRecord): void;
};

/** Programs that a node caches. The least recently used one is removed first. */
const programsMax = 500;

/** Creates a cache. The sealer opens what it reads from the store. */
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
 * Writes ledger rows whose commit failed. If that fails too, reads leave no trace, and writes that the ledger has as begun become in doubt
 * after a time. They are never repeated silently.
 */
export async function saveRecords(db: Database, records: readonly CallRecord[]): Promise<void> {
  if (records.length === 0) return;
  try {
    await putToolCalls(db, records);
  } catch {
    // The holder of the commit's own error reports it.
  }
}
