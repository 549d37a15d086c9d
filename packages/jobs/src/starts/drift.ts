import type { CatalogView } from "@svc/catalog";
import type { ProjectId } from "@svc/core";
import { loadJobProgram } from "@svc/db";
import { pinsOf, readPins } from "@svc/program";
import type { JobsContext } from "../api/context.ts";
import { type Drift, driftOf } from "../api/drift.ts";

type DriftContext = Pick<JobsContext, "db" | "views" | "programs">;

/**
 * Makes what tells how the tools of kept programs differ today from what they are pinned to. Of the same catalog a program is looked at
 * once.
 */
export function createDriftReader(
  context: DriftContext,
): (projectId: ProjectId, digest: Buffer) => Promise<readonly Drift[]> {
  const known = new WeakMap<CatalogView, Map<string, Promise<readonly Drift[]>>>();
  return async (projectId, digest) => {
    const view = await context.views.forProject(projectId);
    const ofView = known.get(view) ?? new Map<string, Promise<readonly Drift[]>>();
    known.set(view, ofView);
    const key = `${projectId} ${digest.toString("hex")}`;
    const held = ofView.get(key);
    if (held !== undefined) return held;
    if (ofView.size >= keptMax) ofView.clear();
    const found = readDrift(context, view, projectId, digest);
    ofView.set(key, found);
    found.catch(() => ofView.delete(key));
    return found;
  };
}

/** Programs that are remembered of a catalog. */
const keptMax = 50_000;

async function readDrift(
  { db, programs }: DriftContext,
  view: CatalogView,
  projectId: ProjectId,
  digest: Buffer,
): Promise<readonly Drift[]> {
  const { tools } = await programs.get(db, projectId, digest);
  const told = driftOf(tools, view);
  if (told.length > 0) return told;
  // Of what calls are made of, more than what is told may be another: compared by its hash.
  const record = await loadJobProgram(db, projectId, digest);
  const { pins } = readPins(record?.pins ?? "{}");
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
