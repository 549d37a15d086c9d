import {
  LeastRecentlyUsed,
  type ProjectId,
  type Sealer,
  type StandingProgramId,
  type Work,
  type WorkMeter,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { loadStandingVersions, type StandingVersionRecord } from "@svc/db/standing/programs";
import { type Program, parseCheckedProgram } from "@svc/program";
import type { Definition } from "./definition/definition.ts";
import { readStoredDefinition } from "./definition/read.ts";
import { nextOfSource } from "./schedule/due.ts";
import type { NextOccurrence } from "./schedule/schedule.ts";

/**
 * A version of a standing program (a program that starts jobs on a schedule or event), read from the database and parsed, so that it can
 * run.
 */
export type LoadedVersion = {
  readonly record: Omit<StandingVersionRecord, "definition">;
  readonly definition: Definition;
  readonly program: Program;
  readonly next: NextOccurrence;
  /** Number of characters of the schedule's definition. The cache of versions limits the sum of these numbers. */
  readonly size: number;
};

/** Identifies one version of a standing program (a program that starts jobs on a schedule or event). */
export type VersionName = {
  readonly projectId: ProjectId;
  readonly programId: StandingProgramId;
  readonly version: number;
};

/**
 * Cache of the versions of standing programs (programs that start jobs on a schedule or event). All requested versions that are not cached
 * are read with one statement. Versions that wait for approval are always read.
 */
export type VersionCache = {
  get(db: Executor, wanted: readonly VersionName[]): Promise<(name: VersionName) => LoadedVersion>;
};

const versionsMax = 20_000;
/** Maximum characters of all cached definitions. */
const charactersMax = 33_554_432;

/**
 * Creates a cache of versions of schedules' programs. `sealer`: decrypts stored program definitions. `meter`: counts the time for reading a
 * definition as work of the definition's project.
 */
export function createVersionCache(sealer: Sealer, meter: Pick<WorkMeter, "begin">): VersionCache {
  let characters = 0;
  const known = new LeastRecentlyUsed<string, LoadedVersion>(versionsMax, ({ size }) => {
    characters -= size;
  });
  return {
    async get(db, wanted) {
      // Keeps the versions that this call has found, because the cache may remove them before the call ends.
      const found = new Map<string, LoadedVersion>();
      const missing: VersionName[] = [];
      for (const name of new Map(wanted.map((one) => [keyOf(one), one])).values()) {
        const held = known.get(keyOf(name));
        if (held === undefined) missing.push(name);
        else found.set(keyOf(name), held);
      }
      const projects = new Map(missing.map(({ programId, projectId }) => [programId, projectId]));
      const works = new Map<ProjectId, Work>();
      // Measures the work for all projects together. Each project needs little time, but all of them together could block the node.
      const all = meter.begin({ projectId: "" });
      for (const record of await loadStandingVersions(db, missing)) {
        const projectId = projects.get(record.programId);
        if (projectId === undefined) continue;
        const work = works.get(projectId) ?? meter.begin({ projectId });
        works.set(projectId, work);
        const version = await load(sealer, projectId, record, work);
        if (all.isSliceOver()) await all.turn();
        found.set(keyOf(record), version);
        if (record.approval === "pending") continue;
        known.set(keyOf(record), version);
        characters += version.size;
        while (characters > charactersMax && known.evict());
      }
      return (name) => {
        const version = found.get(keyOf(name));
        if (version === undefined) throw new Error(`${keyOf(name)} of a standing program is missing in the database`);
        return version;
      };
    },
  };
}

/** Returns the title of a standing program: the title in its definition, or else the title of the program of steps inside it. */
export function titleOf({ definition, program }: Pick<LoadedVersion, "definition" | "program">): string {
  return definition.title || program.title;
}

function keyOf({ programId, version }: Pick<VersionName, "programId" | "version">): string {
  return `${programId}/${version}`;
}

async function load(
  sealer: Sealer,
  projectId: ProjectId,
  { definition: sealed, ...record }: StandingVersionRecord,
  work: Work,
): Promise<LoadedVersion> {
  const text = work.run(() => openDefinition(sealer, { ...record, projectId }, sealed));
  const definition = await readStoredDefinition(text);
  const program = work.run(() => parseCheckedProgram(definition.programJson));
  return { record, definition, program, next: nextOfSource(definition.source), size: text.length };
}

/** Returns the decrypted text of a schedule's stored definition, exactly as the caller gave it. */
export function openDefinition(sealer: Sealer, name: VersionName, sealed: Uint8Array): string {
  return sealer.open(sealed, contextOf(name)).toString("utf8");
}

/** Encrypts the text of a schedule's definition. Returns it in the form in which the row of the version stores it. */
export function sealDefinition(sealer: Sealer, name: VersionName, text: string): Buffer {
  return sealer.seal(Buffer.from(text, "utf8"), contextOf(name));
}

function contextOf({ projectId, programId, version }: VersionName): string {
  return `${projectId}/standing_versions/${programId}/${version}`;
}
