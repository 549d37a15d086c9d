import type { ServiceImpl } from "@connectrpc/connect";
import { type Clock, Fault, type ProjectId, quotaFaults, requireProject } from "@svc/core";
import { type SourceChange, type ToolkitSource, toolkitSourcesForProject } from "@svc/db/catalog/sources";
import type { Database } from "@svc/db/connect";
import type { CatalogService, Toolkit as ToolkitMessage } from "@svc/gen/catalog";
import { catalogFaults } from "../errors.ts";
import { reportMessage } from "../import/convert-import.ts";
import type { ImportedAndCompared } from "../import/import-checked.ts";
import type { ToolkitImporter } from "../import/import-toolkit.ts";
import type { Toolkit } from "../model.ts";
import { parseKeptToolkit } from "../private/parse-definition.ts";
import type { CatalogViews, PublishedToolkit } from "../private/private-toolkits.ts";
import type { ToolkitSourceState } from "../view/view.ts";
import type { DefinitionDifferences } from "./compare-definitions.ts";
import { readDifferences } from "./compare-texts.ts";
import { changesMessage, sourceMessage } from "./convert-source.ts";
import { importOf, optionsText, waitingOf } from "./source-options.ts";

/** Dependencies of the calls about the sources of private toolkits (apps that a project imported). */
export type SourceCallsOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly views: Pick<CatalogViews, "forget">;
  readonly importer: ToolkitImporter;
  /** Checks a toolkit against the catalog of its project, and stores it. With `dryRun`, only checks it. */
  readonly publish: (
    projectId: ProjectId,
    made: PublishedToolkit,
    options: { readonly dryRun: boolean; readonly mustBeNew: boolean; readonly source: SourceChange },
  ) => Promise<void>;
  readonly toolkitMessage: (toolkit: Toolkit, source: ToolkitSourceState) => ToolkitMessage;
};

/** A source that was read again, with the accepted definition with which it was compared. */
type ReadAgain = ImportedAndCompared & { readonly definition: string };

/** The methods of CatalogService that concern the sources of private toolkits. */
type SourceCalls = Pick<
  ServiceImpl<typeof CatalogService>,
  "getToolkitSource" | "refreshToolkit" | "acceptToolkitChanges"
>;

/** Creates the calls that read a source again, and that accept what it has changed. */
export function createSourceCalls(options: SourceCallsOptions): SourceCalls {
  const { db, clock, views, importer, publish, toolkitMessage } = options;
  const sourcesOf = (projectId: ProjectId) => toolkitSourcesForProject(db, projectId);
  const requireSource = async (projectId: ProjectId, slug: string): Promise<ToolkitSource> => {
    const source = await sourcesOf(projectId).find(slug);
    if (source !== undefined) return source;
    if ((await sourcesOf(projectId).findDefinitions(slug)) === undefined)
      throw catalogFaults.PRIVATE_TOOLKIT_NOT_FOUND(slug);
    throw catalogFaults.TOOLKIT_HAS_NO_SOURCE(slug);
  };
  /** Reads a source again. If it cannot be read, stores the reason, which GetToolkitSource then returns. */
  const read = async (projectId: ProjectId, source: ToolkitSource, document: string): Promise<ReadAgain> => {
    const { slug } = source;
    const { definition } = (await sourcesOf(projectId).findDefinitions(slug)) ?? {};
    if (definition === undefined) throw catalogFaults.CHANGES_OUTDATED(slug, "slug");
    try {
      return { ...(await importer.refresh(importOf(source, document), definition, projectId)), definition };
    } catch (error) {
      if (document === "" && isAboutSource(error)) await sourcesOf(projectId).reportFailure(source, storable(error));
      throw error;
    }
  };
  return {
    async getToolkitSource({ slug }, ctx) {
      const source = await requireSource(requireProject(ctx).projectId, slug);
      return { source: sourceMessage(source), ...waitingMessage(source) };
    },
    async refreshToolkit({ slug, document, dryRun }, ctx) {
      const { projectId } = requireProject(ctx);
      const source = await requireSource(projectId, slug);
      if (document !== "" && source.kind !== "openapi") {
        const problem = `${slug} was not imported from a document`;
        throw catalogFaults.SOURCE_INVALID(problem, "Leave document empty: svc asks the server again.", "document");
      }
      if (document === "" && source.origin === "") {
        const advice = "Send the text of the newer document.";
        throw catalogFaults.SOURCE_INVALID(`${slug} was imported from a text without an address`, advice, "document");
      }
      const { report, comparison, names, digest, definition } = await read(projectId, source, document);
      const refreshed = {
        definition,
        digest: Buffer.from(digest, "hex"),
        options: optionsText(importOf(source, document), names),
        waiting: waitingOf(comparison),
        refreshedAt: clock.now(),
      };
      const refusal = dryRun ? undefined : await sourcesOf(projectId).refresh(source, refreshed);
      if (refusal === "outdated") throw catalogFaults.CHANGES_OUTDATED(slug, "slug");
      if (refusal !== undefined) throw quotaFaults[refusal.quota](refusal.quotaReached);
      if (!dryRun) views.forget(projectId);
      return {
        report: reportMessage(report),
        ...(comparison !== undefined && { changes: changesMessage(comparison.changes, comparison.digest) }),
      };
    },
    async acceptToolkitChanges({ slug, digest, toolNames, origin, dryRun }, ctx) {
      const { projectId } = requireProject(ctx);
      const source = await requireSource(projectId, slug);
      const { definition, nextDefinition } = (await sourcesOf(projectId).findDefinitions(slug)) ?? {};
      if (source.changes === null || source.changesDigest === null || !definition || !nextDefinition)
        throw catalogFaults.CHANGES_NOT_FOUND(slug);
      if (digest !== source.changesDigest.toString("hex")) throw catalogFaults.CHANGES_OUTDATED(slug, "digest");
      const differences = readDifferences(source.changes);
      checkChosen(slug, differences, { toolNames, origin });
      const { flagged } = differences;
      const task = { current: definition, next: nextDefinition, digest, tools: toolNames, flagged, origin };
      const merged = await importer.merge(task, projectId);
      if (merged === "outdated") throw catalogFaults.CHANGES_OUTDATED(slug, "digest");
      const { definitionJson, rest } = merged;
      const toolkit = await parseKeptToolkit(definitionJson, { ownerProjectId: projectId, isImported: true });
      await publish(
        projectId,
        { toolkit, definitionJson },
        {
          dryRun,
          mustBeNew: false,
          source: {
            kind: "accept",
            changesDigest: source.changesDigest,
            options: source.options,
            rest: waitingOf(rest),
          },
        },
      );
      return {
        toolkit: toolkitMessage(toolkit, { kind: source.kind, changesWaiting: rest?.count ?? 0 }),
        ...(rest !== undefined && { changes: changesMessage(rest.changes, rest.digest) }),
      };
    },
  };
}

function waitingMessage({ changes, changesDigest }: ToolkitSource) {
  if (changes === null || changesDigest === null) return {};
  return { changes: changesMessage(changes, changesDigest.toString("hex")) };
}

type Chosen = { readonly toolNames: readonly string[]; readonly origin: boolean };

/**
 * Throws CHANGES_NOT_FOUND or CHANGES_FLAGGED if the request accepts no change, or names a tool without listed changes. Throws
 * CHANGES_LEFT_OFF if it accepts all changes, and the list does not have all.
 */
function checkChosen(slug: string, differences: DefinitionDifferences, { toolNames, origin }: Chosen): void {
  const { added, gone, altered, leftOff, flagged, originAfter } = differences;
  const changed = new Set([...added.map(({ name }) => name), ...gone, ...altered.map(({ tool }) => tool)]);
  // The texts of the toolkit itself have an empty name. A tool that is not listed may have changes that the approver could not see.
  const unlisted = toolNames.find((name) => name === "" || !changed.has(name));
  if (unlisted !== undefined) throw catalogFaults.CHANGES_NOT_FOUND(slug, unlisted);
  if (toolNames.length > 0) return;
  if (leftOff > 0) throw catalogFaults.CHANGES_LEFT_OFF(slug, leftOff);
  if (origin && originAfter !== "") return;
  if ([...changed].some((name) => !flagged.includes(name))) return;
  if (flagged.length > 0) throw catalogFaults.CHANGES_FLAGGED(slug, flagged);
  throw catalogFaults.CHANGES_NOT_FOUND(slug);
}

/** True for an error that says what is wrong with a source. Other errors, such as a reached limit, can pass by themselves. */
function isAboutSource(error: unknown): error is Fault {
  return error instanceof Fault && error.details.some(({ reason }) => /^(?:SOURCE|UPSTREAM|OPENAPI)_/.test(reason));
}

/** Returns the text of an error in a form that the database can store. */
function storable({ message }: Fault): string {
  return message.toWellFormed().replaceAll("\0", "").slice(0, 1_000);
}
