import { LeastRecentlyUsed, type ProjectId, type Sealer, type StandingProgramId } from "@svc/core";
import { type Executor, loadStandingVersions, type StandingVersionRecord } from "@svc/db";
import { type Program, parseCheckedProgram } from "@svc/program";
import type { Definition } from "./definition/definition.ts";
import { readStoredDefinition } from "./definition/read.ts";
import { nextOfSource } from "./schedule/due.ts";
import type { NextOccurrence } from "./schedule/schedule.ts";

/** A version ready to be run. */
export type LoadedVersion = {
  readonly record: Omit<StandingVersionRecord, "definition">;
  readonly definition: Definition;
  readonly program: Program;
  readonly next: NextOccurrence;
  /** Characters of its text. */
  readonly size: number;
};

/** Which version of which program. */
export type VersionName = {
  readonly projectId: ProjectId;
  readonly programId: StandingProgramId;
  readonly version: number;
};

/** Versions of this node, which never change; those it lacks are read together. */
export type VersionCache = {
  get(db: Executor, wanted: readonly VersionName[]): Promise<(name: VersionName) => LoadedVersion>;
};

const versionsMax = 20_000;
/** Characters that all of them may have together. */
const charactersMax = 33_554_432;

/** Makes a cache; the sealer opens what it reads from the store. */
export function createVersionCache(sealer: Sealer): VersionCache {
  let characters = 0;
  const known = new LeastRecentlyUsed<string, LoadedVersion>(versionsMax, ({ size }) => {
    characters -= size;
  });
  return {
    async get(db, wanted) {
      // What was found stays found, whatever is let go of meanwhile.
      const found = new Map<string, LoadedVersion>();
      const missing: VersionName[] = [];
      for (const name of new Map(wanted.map((one) => [keyOf(one), one])).values()) {
        const held = known.get(keyOf(name));
        if (held === undefined) missing.push(name);
        else found.set(keyOf(name), held);
      }
      const projects = new Map(missing.map(({ programId, projectId }) => [programId, projectId]));
      for (const record of await loadStandingVersions(db, missing)) {
        const projectId = projects.get(record.programId);
        if (projectId === undefined) continue;
        const version = await load(sealer, projectId, record);
        found.set(keyOf(record), version);
        known.set(keyOf(record), version);
        characters += version.size;
        while (characters > charactersMax && known.evict());
      }
      return (name) => {
        const version = found.get(keyOf(name));
        if (version === undefined) throw new Error(`${keyOf(name)} of a standing program is not in the store`);
        return version;
      };
    },
  };
}

function keyOf({ programId, version }: Pick<VersionName, "programId" | "version">): string {
  return `${programId}/${version}`;
}

async function load(
  sealer: Sealer,
  projectId: ProjectId,
  { definition: sealed, ...record }: StandingVersionRecord,
): Promise<LoadedVersion> {
  const text = openDefinition(sealer, { ...record, projectId }, sealed);
  const definition = await readStoredDefinition(text);
  const program = parseCheckedProgram(definition.programJson);
  return { record, definition, program, next: nextOfSource(definition.source), size: text.length };
}

/** The text of a definition as it was given. */
export function openDefinition(sealer: Sealer, name: VersionName, sealed: Uint8Array): string {
  return sealer.open(sealed, contextOf(name)).toString("utf8");
}

/** Seals the text of a definition for its row. */
export function sealDefinition(sealer: Sealer, name: VersionName, text: string): Buffer {
  return sealer.seal(Buffer.from(text, "utf8"), contextOf(name));
}

function contextOf({ projectId, programId, version }: VersionName): string {
  return `${projectId}/standing_versions/${programId}/${version}`;
}
