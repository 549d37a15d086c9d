import type { ServiceImpl } from "@connectrpc/connect";
import { type ProjectId, requireProject } from "@svc/core";
import { type ToolkitSource, toolkitSourcesForProject } from "@svc/db/catalog/sources";
import type { CatalogService, Toolkit as ToolkitMessage } from "@svc/gen/catalog";
import { readBoundText } from "../bound/binding.ts";
import { catalogFaults } from "../errors.ts";
import { reportMessage } from "../import/convert-import.ts";
import type { Toolkit } from "../model.ts";
import { parseKeptToolkit } from "../private/parse-definition.ts";
import { createPublisher } from "../private/publish.ts";
import type { ToolkitSourceState } from "../view/view.ts";
import type { DefinitionDifferences } from "./compare-definitions.ts";
import { readDifferences } from "./compare-texts.ts";
import { changesMessage, sourceMessage } from "./convert-source.ts";
import { createSourceReader, type SourceReaderOptions } from "./read-again.ts";
import { waitingOf } from "./source-options.ts";

/** Dependencies of the calls about the sources of private toolkits (apps that a project imported). */
export type SourceCallsOptions = SourceReaderOptions & {
  readonly toolkitMessage: (toolkit: Toolkit, source: ToolkitSourceState) => Promise<ToolkitMessage>;
};

/** The methods of CatalogService that concern the sources of private toolkits. */
type SourceCalls = Pick<
  ServiceImpl<typeof CatalogService>,
  "getToolkitSource" | "refreshToolkit" | "acceptToolkitChanges"
>;

/** Creates the calls that read a source again, and that accept what it has changed. */
export function createSourceCalls(options: SourceCallsOptions): SourceCalls {
  const { db, importer, views, toolkitMessage } = options;
  const publish = createPublisher(views);
  const sourcesOf = (projectId: ProjectId) => toolkitSourcesForProject(db, projectId);
  const requireSource = async (projectId: ProjectId, slug: string): Promise<ToolkitSource> => {
    const source = await sourcesOf(projectId).find(slug);
    if (source !== undefined) return source;
    if ((await sourcesOf(projectId).findDefinitions(slug)) === undefined)
      throw catalogFaults.PRIVATE_TOOLKIT_NOT_FOUND(slug);
    throw catalogFaults.TOOLKIT_HAS_NO_SOURCE(slug);
  };
  const reader = createSourceReader(options);
  return {
    async getToolkitSource({ slug }, ctx) {
      const { projectId } = requireProject(ctx);
      const source = await requireSource(projectId, slug);
      const bound = source.kind === "shared" ? await sourcesOf(projectId).findDefinitions(slug) : undefined;
      const binding = bound && readBoundText(bound.definition).binding;
      return { source: sourceMessage(source, binding), ...waitingMessage(source) };
    },
    async refreshToolkit({ slug, document, dryRun }, ctx) {
      const { projectId } = requireProject(ctx);
      const source = await requireSource(projectId, slug);
      if (source.kind === "shared") {
        const advice = "Bind it again to change its addresses.";
        throw catalogFaults.SOURCE_INVALID(`${slug} follows the shared toolkit by itself`, advice, "slug");
      }
      if (document !== "" && source.kind !== "openapi") {
        const problem = `${slug} was not imported from a document`;
        throw catalogFaults.SOURCE_INVALID(problem, "Leave document empty: svc asks the server again.", "document");
      }
      if (document === "" && source.origin === "") {
        const advice = "Send the text of the newer document.";
        throw catalogFaults.SOURCE_INVALID(`${slug} was imported from a text without an address`, advice, "document");
      }
      const read = await reader.read(projectId, source, document);
      if (!dryRun) await reader.store(projectId, source, read);
      const { report, trusted, comparison } = read;
      const waiting = trusted === undefined ? comparison : trusted.rest;
      return {
        report: reportMessage(report),
        ...(waiting !== undefined && { changes: changesMessage(waiting.changes, waiting.digest) }),
        ...(trusted !== undefined && { accepted: changesMessage(trusted.accepted.changes, trusted.accepted.digest) }),
      };
    },
    async acceptToolkitChanges({ slug, digest, toolNames, origin, dryRun, overrides: given }, ctx) {
      const { projectId } = requireProject(ctx);
      const source = await requireSource(projectId, slug);
      const { definition, nextDefinition } = (await sourcesOf(projectId).findDefinitions(slug)) ?? {};
      if (source.changes === null || source.changesDigest === null || !definition || !nextDefinition)
        throw catalogFaults.CHANGES_NOT_FOUND(slug);
      if (digest !== source.changesDigest.toString("hex")) throw catalogFaults.CHANGES_OUTDATED(slug, "digest");
      const differences = readDifferences(source.changes);
      checkChosen(slug, differences, { toolNames, origin });
      const { flagged } = differences;
      const overrides = given.map(({ match, name, class: access, description }) => ({
        ...{ match, name, class: access, description },
      }));
      const { options } = source;
      const accepted = { tools: toolNames, flagged, origin };
      const task = { current: definition, next: nextDefinition, digest, ...accepted, options, overrides };
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
            options: merged.options,
            rest: waitingOf(rest),
          },
        },
      );
      return {
        toolkit: await toolkitMessage(toolkit, { kind: source.kind, changesWaiting: rest?.count ?? 0 }),
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
 * CHANGES_LEFT_OFF if it accepts all changes, and the list does not have all, or if it names a tool that is not listed whole.
 */
function checkChosen(slug: string, differences: DefinitionDifferences, { toolNames, origin }: Chosen): void {
  const { added, gone, altered, leftOff, leftOffTools = [], flagged, originAfter } = differences;
  const changed = new Set([...added.map(({ name }) => name), ...gone, ...altered.map(({ tool }) => tool)]);
  // The texts of the toolkit itself have an empty name. A tool that is not listed may have changes that the approver could not see.
  const unlisted = toolNames.find((name) => name === "" || !changed.has(name));
  if (unlisted !== undefined) throw catalogFaults.CHANGES_NOT_FOUND(slug, unlisted);
  if (toolNames.some((name) => leftOffTools.includes(name))) throw catalogFaults.CHANGES_LEFT_OFF(slug, leftOff);
  if (toolNames.length > 0) return;
  if (leftOff > 0) throw catalogFaults.CHANGES_LEFT_OFF(slug, leftOff);
  if (origin && originAfter !== "") return;
  if ([...changed].some((name) => !flagged.includes(name))) return;
  if (flagged.length > 0) throw catalogFaults.CHANGES_FLAGGED(slug, flagged);
  throw catalogFaults.CHANGES_NOT_FOUND(slug);
}
