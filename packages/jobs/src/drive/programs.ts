import { LeastRecentlyUsed, type ProjectId, type Sealer } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { type JobProgramRecord, loadJobProgram } from "@svc/db/jobs/load-program";
import { createPinReader, type Program, parseCheckedProgram, readPins } from "@svc/program";
import { flatten } from "../state/flow.ts";
import type { LoadedProgram } from "../state/job.ts";
import { hasSensitive } from "../state/shown.ts";
import { stepKinds } from "../steps/index.ts";
import { isOld, openReadable, type ProgramPlace } from "./stored-program.ts";

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
