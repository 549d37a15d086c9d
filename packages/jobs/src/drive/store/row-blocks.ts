import { isJsonObject, type JsonObject, LeastRecentlyUsed, type ProjectId, type Sealer } from "@svc/core";
import { type CallRecord, putToolCalls } from "@svc/db/calls/repo";
import type { Database, Executor } from "@svc/db/connect";
import { type JobProgramRecord, loadJobProgram } from "@svc/db/jobs/load";
import type { NewJobRow } from "@svc/db/jobs/rows";
import { createPinReader, type Program, parseCheckedProgram, readPins, withOldForms } from "@svc/program";
import type { FetchedRow } from "../../state/apply.ts";
import { flatten } from "../../state/flow.ts";
import type { LoadedProgram } from "../../state/job.ts";
import { hasSensitive } from "../../state/shown.ts";
import { stepKinds } from "../../steps/index.ts";
import type { JobSeals } from "./seals.ts";

/** What a row takes in memory for each of its sealed bytes, about. */
export const openedFactor = 3;

/** Rows that are sealed together, at most. */
const blockRowsMax = 50;
/** Text of a block after which another begins. */
const blockCharsMax = 65_536;

/**
 * Seals the fields of rows, block by block: a seal costs as much for many small rows as for one. A block has the number of its first row,
 * and holds a list; a row alone is sealed as an object, as version 0.1 sealed every row.
 */
export function sealRows(rows: readonly FetchedRow[], sealText: JobSeals["sealText"]): NewJobRow[] {
  return blocksOf(rows).map(({ rowNumber, texts }) => {
    const [first = ""] = texts;
    return { rowNumber, data: sealText(placeOf(rowNumber), texts.length === 1 ? first : `[${texts.join(",")}]`) };
  });
}

/** The number of the first row, and the JSON texts of all. */
type Block = { readonly rowNumber: number; readonly texts: string[] };

/** Runs of numbers that follow each other. */
function blocksOf(rows: readonly FetchedRow[]): Block[] {
  const blocks: Block[] = [];
  let chars = 0;
  for (const { rowNumber, data } of rows) {
    const last = blocks.at(-1);
    const isNext = last !== undefined && last.rowNumber === rowNumber - last.texts.length;
    const text = JSON.stringify(data);
    if (isNext && last.texts.length < blockRowsMax && chars + text.length <= blockCharsMax) {
      last.texts.push(text);
      chars += text.length;
    } else {
      blocks.push({ rowNumber, texts: [text] });
      chars = text.length;
    }
  }
  return blocks;
}

/** Opens a block: the fields of its rows, from its number on. Throws an Error for what holds no rows. */
export function openBlock(number: number, sealed: Uint8Array, { open }: Pick<JobSeals, "open">): readonly JsonObject[] {
  const value = open(placeOf(number), sealed);
  const rows = Array.isArray(value) ? value : [value];
  return rows.map((row) => {
    if (!isJsonObject(row)) throw new Error(`row block ${number} of a job holds no object`);
    return row;
  });
}

function placeOf(number: number): string {
  return `rows/${number}`;
}

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
