import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { type ProjectId, requireProject, shareMessage } from "@svc/core";
import { type ToolkitSource, toolkitSourcesForProject } from "@svc/db/catalog/sources";
import type { Database } from "@svc/db/connect";
import {
  type CatalogService,
  type Toolkit as ToolkitMessage,
  type Tool as ToolMessage,
  ToolSchema,
} from "@svc/gen/catalog";
import { readBoundText } from "../bound/binding.ts";
import { catalogFaults } from "../errors.ts";
import { reportMessage } from "../import/convert-import.ts";
import type { Toolkit } from "../model.ts";
import { buildCheckedToolkit } from "../private/parse-definition.ts";
import { createPublisher } from "../private/publish.ts";
import type { CatalogView, ToolkitSourceState } from "../view/view.ts";
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

/** Creates the API calls that read a toolkit's source again, and that accept the changes found in it. */
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
    async refreshToolkit({ slug, document, listingAccountId, dryRun }, ctx) {
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
      if (listingAccountId !== "" && source.kind !== "mcp") {
        const problem = `${slug} was not imported from an MCP server`;
        throw catalogFaults.SOURCE_INVALID(
          problem,
          "Only the tools of an MCP server are listed with an account.",
          "listingAccountId",
        );
      }
      const read = await reader.read(projectId, source, { document, listingAccountId });
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
      const toolkit = await buildCheckedToolkit(definitionJson, { ownerProjectId: projectId, isImported: true });
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

/**
 * State of a tool that was imported from a source: `accepted`; `changed` if the source describes it differently, and `gone` if the source
 * does not have it any more. Both wait until an approver accepts the change.
 */
type ToolState = "accepted" | "changed" | "gone";

/** The tools of a toolkit that are not in the state `accepted`, by name. */
type OtherStates = ReadonlyMap<string, ToolState>;

/** Returns the messages of tools with the states of those that were imported. Other tools stay as they are. */
type WithStates = (
  view: CatalogView,
  projectId: ProjectId,
  tools: readonly ToolMessage[],
) => Promise<readonly ToolMessage[]>;

/**
 * Creates the function that adds a state (accepted, changed or gone) to each tool of an imported toolkit. It reads the changes that wait
 * for an approver once for each version of the project's catalog, and only if there are any.
 */
export function createToolStates(db: Database): WithStates {
  const read = async (projectId: ProjectId, slug: string): Promise<OtherStates> => {
    const source = await toolkitSourcesForProject(db, projectId).find(slug);
    return source?.changes ? otherStates(source.changes) : new Map();
  };
  const known = new WeakMap<CatalogView, Map<string, Promise<OtherStates>>>();
  const statesOf = (view: CatalogView, projectId: ProjectId, slug: string): Promise<OtherStates> => {
    const ofView = known.get(view) ?? new Map<string, Promise<OtherStates>>();
    known.set(view, ofView);
    const found = ofView.get(slug) ?? read(projectId, slug);
    ofView.set(slug, found);
    // A failed read is not kept, so that the next request reads again.
    found.catch(() => ofView.delete(slug));
    return found;
  };
  return async (view, projectId, tools) => {
    const imported = [...view.sources].filter(isImported);
    if (imported.length === 0) return tools;
    const asked = new Set(tools.map(({ toolkitSlug }) => toolkitSlug));
    const states = new Map<string, OtherStates>();
    for (const [slug, { changesWaiting }] of imported)
      if (asked.has(slug)) states.set(slug, changesWaiting > 0 ? await statesOf(view, projectId, slug) : new Map());
    return tools.map((tool) => {
      const others = states.get(tool.toolkitSlug);
      return others === undefined ? tool : inState(tool, others.get(nameOf(tool)) ?? "accepted");
    });
  };
}

/**
 * True if a project has imported toolkits. Only the tools of imported toolkits have a state: accepted, changed or gone. `sources`: the
 * sources of the project's toolkits.
 */
export function hasStates({ sources }: Pick<CatalogView, "sources">): boolean {
  return [...sources].some(isImported);
}

function isImported([, { kind }]: readonly [slug: string, source: ToolkitSourceState]): boolean {
  return kind === "openapi" || kind === "mcp";
}

function nameOf({ slug, toolkitSlug }: ToolMessage): string {
  return slug.slice(toolkitSlug.length + 1);
}

function otherStates(changes: string): OtherStates {
  const { altered, leftOffTools = [], gone } = readDifferences(changes);
  const changed = [...altered.map(({ tool }) => tool), ...leftOffTools];
  return new Map([
    ...changed.map((name) => [name, "changed"] as const),
    ...gone.map((name) => [name, "gone"] as const),
  ]);
}

const copies = new WeakMap<ToolMessage, Map<ToolState, ToolMessage>>();

/** Returns a copy of a tool's shared message with a state. It is made once for each state. */
function inState(tool: ToolMessage, state: ToolState): ToolMessage {
  const ofTool = copies.get(tool) ?? new Map<ToolState, ToolMessage>();
  copies.set(tool, ofTool);
  const copy = ofTool.get(state) ?? shareMessage(create(ToolSchema, { ...tool, state }));
  ofTool.set(state, copy);
  return copy;
}
