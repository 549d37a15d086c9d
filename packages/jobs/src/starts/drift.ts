import type { CatalogView } from "@svc/catalog";
import type { ProjectId } from "@svc/core";
import { type JobProgramName, loadJobPins } from "@svc/db/jobs/load";
import { createPinReader, type Pins, pinsOf, readPins } from "@svc/program";
import type { JobsContext } from "../api/context.ts";
import { type Drift, driftOf } from "../api/drift.ts";

type DriftContext = Pick<JobsContext, "db" | "views">;

/**
 * Finds the differences between a project's present tool definitions and the definitions that were stored with a program when it was
 * accepted.
 */
export type DriftReader = {
  /** Returns how the present tools differ from the tool definitions that are stored with the program `digest`. */
  driftOf(projectId: ProjectId, digest: Buffer): Promise<readonly Drift[]>;
  /**
   * Reads the tool definitions that several programs were stored with, in one statement. Caches how the present tools differ from them. A
   * later call of `driftOf` for one of these programs then needs no statement.
   */
  look(programs: readonly JobProgramName[]): Promise<void>;
};

/**
 * Maximum number of entries in the cache of drift (changes of tool definitions since a program was stored). Each version of a project's
 * catalog has its own cache. If a cache is full, it is emptied.
 */
const keptMax = 50_000;

/**
 * Cached differences between pinned tool definitions (stored with a program) and today's definitions, for one state of a catalog.
 * `programs`: the differences by program. `pins`: the differences by set of pinned definitions, which several programs can share.
 */
type DriftCache = { readonly programs: Map<string, readonly Drift[]>; readonly pins: Map<string, readonly Drift[]> };

/**
 * Creates a reader of tool changes. It compares a program's pins (the tool definitions stored with the program) with the tools' present
 * definitions. Several programs may have the same pins. The reader compares such pins only once for each version of the tool catalog.
 */
export function createDriftReader({ db, views }: DriftContext): DriftReader {
  const reader = createPinReader();
  const byView = new WeakMap<CatalogView, DriftCache>();
  const knownOf = (view: CatalogView): DriftCache => {
    const known = byView.get(view) ?? { programs: new Map(), pins: new Map() };
    byView.set(view, known);
    return known;
  };
  const driftOfPins = (view: CatalogView, text: string) => {
    const { pins } = readPins(text);
    const key = Object.entries(pins)
      .map(([slug, { digest }]) => `${slug} ${digest}`)
      .join();
    const known = knownOf(view).pins;
    const drift = known.get(key) ?? readDrift(reader, view, pins);
    keep(known, key, drift);
    return drift;
  };
  const look: DriftReader["look"] = async (programs) => {
    const missing: (JobProgramName & { readonly view: CatalogView })[] = [];
    for (const { projectId, digest } of programs) {
      const view = await views.forProject(projectId);
      if (!knownOf(view).programs.has(keyOf({ projectId, digest }))) missing.push({ projectId, digest, view });
    }
    const texts = new Map((await loadJobPins(db, missing)).map((one) => [keyOf(one), one.pins]));
    for (const { view, ...name } of missing) {
      const key = keyOf(name);
      keep(knownOf(view).programs, key, driftOfPins(view, texts.get(key) ?? "{}"));
    }
  };
  return {
    look,
    async driftOf(projectId, digest) {
      const view = await views.forProject(projectId);
      const find = () => knownOf(view).programs.get(keyOf({ projectId, digest }));
      if (find() === undefined) await look([{ projectId, digest }]);
      return find() ?? [];
    },
  };
}

function keep(known: Map<string, readonly Drift[]>, key: string, drift: readonly Drift[]): void {
  if (known.size >= keptMax) known.clear();
  known.set(key, drift);
}

function keyOf({ projectId, digest }: JobProgramName): string {
  return `${projectId} ${digest.toString("hex")}`;
}

function readDrift(reader: ReturnType<typeof createPinReader>, view: CatalogView, pins: Pins): readonly Drift[] {
  const tools = reader.tools(pins);
  const told = driftOf(tools, view);
  if (told.length > 0) return told;
  // The first comparison found no difference, but it does not cover all parts of a definition. So the hashes of the whole definitions are
  // compared as well.
  const actions = [...tools.keys()].flatMap((slug) => {
    const tool = view.tools.get(slug);
    return tool?.kind === "action" ? [tool] : [];
  });
  const today = pinsOf(actions, view);
  return Object.entries(pins).flatMap(([toolSlug, { digest: before }]) => {
    const after = today[toolSlug]?.digest ?? "";
    return after === before ? [] : [{ toolSlug, what: "definition", before, after }];
  });
}
