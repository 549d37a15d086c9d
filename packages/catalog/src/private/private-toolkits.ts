import { type Clock, LeastRecentlyUsed, type ProjectId } from "@svc/core";
import type { FoundToolkitClient } from "@svc/db/catalog/clients";
import { privateToolkitsForProject } from "@svc/db/catalog/repo";
import type { SourceChange } from "@svc/db/catalog/sources";
import type { ToolkitQuotaReached } from "@svc/db/catalog/touch";
import type { Database } from "@svc/db/connect";
import { bindToolkit } from "../bound/bound-toolkit.ts";
import { indexMessages, toolMessage } from "../convert-catalog.ts";
import type { Catalog, Tool, Toolkit } from "../model.ts";
import { DefinitionError } from "../read/definition-file.ts";
import type { CatalogView } from "../view/view.ts";
import { createDefinitionSlices, parseKeptToolkit } from "./parse-definition.ts";
import { type TitledProgram, titlesByTool, withPhrases } from "./phrases.ts";

/**
 * Maximum age of a project's cached view, in milliseconds, before the node reads the database again. This is half of the second within
 * which svc promises to show changes.
 */
const freshMs = 500;
/** Maximum number of projects with a cached view. Above it, the least recently used view is removed. */
const projectsMax = 1000;

/** A checked toolkit (an app's tools and webhooks) and its definition as JSON text. */
export type PublishedToolkit = { readonly toolkit: Toolkit; readonly definitionJson: string };

/** Each project's view of the catalog, including the private toolkits (apps that the project defined for itself). */
export type CatalogViews = {
  readonly shared: CatalogView;
  /** View of a project without toolkits (app definitions) of its own: the shared catalog and the toolkits that every project has. */
  readonly base: CatalogView;
  /**
   * Returns the view of the shared catalog, with the project's own toolkits (app definitions) added. Changes made on other nodes appear
   * within 500 ms.
   */
  forProject(projectId: ProjectId): Promise<CatalogView>;
  /**
   * Stores a checked toolkit and returns undefined. This node shows the toolkit at once. Otherwise stores nothing and returns the reason:
   * - a reached limit: the project has too many toolkits, or too large ones.
   * - `taken`: `mustBeNew` is true and the project has a toolkit with this slug.
   * - `outdated`: the changes that `source` accepts are not the changes that wait now.
   *
   * `source`: the new record of where the toolkit was imported from. Undefined for a toolkit that is published from files. `client`: the
   * project's OAuth client that an import found. Undefined keeps the stored client.
   */
  publish(
    projectId: ProjectId,
    toolkit: PublishedToolkit,
    options: {
      readonly mustBeNew: boolean;
      readonly source?: SourceChange | undefined;
      readonly client?: FoundToolkitClient | undefined;
    },
  ): Promise<ToolkitQuotaReached | "taken" | "outdated" | undefined>;
  /**
   * Removes the cached catalog of a project. Call this function after a change to a private toolkit (published by the project) that was not
   * made by `publish`. The change is then visible at this node at once.
   */
  forget(projectId: ProjectId): void;
  /**
   * Removes a toolkit (at once on this node) and revokes the accounts connected to it. Returns false if the project has no toolkit with
   * this slug.
   */
  remove(projectId: ProjectId, slug: string): Promise<boolean>;
};

type KnownView = { readonly version: number; readonly view: CatalogView; checkedAt: number };

/**
 * The compiled private toolkits (app definitions that a project published), by slug. Each has the text of its definition, so that a change
 * is noticed.
 */
type CompiledToolkits = ReadonlyMap<string, CompiledToolkit>;

/**
 * `plain`: the toolkit without the search phrases that the project added. `toolkit`: the toolkit with them. `phrases`: these phrases, as
 * JSON text; undefined if the toolkit was just published and does not have them yet.
 */
type CompiledToolkit = {
  readonly definition: string;
  readonly isImported: boolean;
  readonly plain: Toolkit;
  readonly phrases: string | undefined;
  readonly toolkit: Toolkit;
};

/**
 * A stored private toolkit. `phrases`: the search phrases that the project added, as JSON text. `source`: where it was imported from; null
 * if it was published from files.
 */
type KeptToolkit = {
  readonly slug: string;
  readonly definition: string;
  readonly phrases: string;
  readonly source: { readonly kind: string } | null;
};

/**
 * Creates the views (the tools that a caller may see) of projects. `onBroken`: called with a stored definition that this version does not
 * accept. The view omits this definition, and the shared toolkit with the same slug. The
 * project's other toolkits stay available.
 */
export function createCatalogViews(options: {
  catalog: Catalog;
  db: Database;
  clock: Clock;
  onBroken: (projectId: ProjectId, slug: string, error: DefinitionError) => void;
  /**
   * Returns additional toolkits (apps with their tools) of a project. Called when the project's catalog is built. An additional toolkit
   * hides a shared toolkit with the same slug. Code that changes additional toolkits must increase the project's catalog version in the
   * same transaction, and then call `forget`.
   */
  extraToolkits?: (projectId: ProjectId) => Promise<readonly Toolkit[]>;
  /**
   * Returns the saved programs of a project that call tools, newest first. Searches of the project find these tools also by the titles of
   * the programs. Called when the project's catalog is built, as `extraToolkits` is.
   */
  titledPrograms?: (projectId: ProjectId) => Promise<readonly TitledProgram[]>;
  /**
   * Toolkits (apps with their tools) that every project has in addition to the shared catalog. If a project has published a toolkit with
   * the same slug, the project's toolkit is not visible.
   */
  commonToolkits?: readonly Toolkit[];
}): CatalogViews {
  const {
    catalog,
    db,
    clock,
    extraToolkits = async () => [],
    titledPrograms = async () => [],
    commonToolkits = [],
  } = options;
  const shared = viewOf(catalog);
  const common = new Set(commonToolkits.map(({ slug }) => slug));
  const base = common.size === 0 ? shared : viewOf(overlayCatalog(catalog, catalogOf(commonToolkits)), shared.triggers);
  const known = new LeastRecentlyUsed<ProjectId, KnownView>(projectsMax);
  const compiled = new LeastRecentlyUsed<ProjectId, CompiledToolkits>(projectsMax);
  const reading = new Map<ProjectId, Promise<KnownView>>();
  /**
   * Number of changes to private toolkits on this node since its start. If this number changes while the node reads a project's catalog,
   * the node does not cache what it has read, because it may be from before the change.
   */
  let changes = 0;

  const read = async (projectId: ProjectId): Promise<KnownView> => {
    const checkedAt = clock.now();
    const changesBefore = changes;
    const repository = privateToolkitsForProject(db, projectId);
    const before = known.get(projectId);
    const version = await repository.version();
    const current = before?.version === version ? before : await build(projectId, version);
    current.checkedAt = checkedAt;
    if (changes === changesBefore) known.set(projectId, current);
    return current;
  };
  const build = async (projectId: ProjectId, seen: number): Promise<KnownView> => {
    // Version 0 means that the project never changed a toolkit, so it has none to list.
    if (seen === 0) return { version: 0, view: base, checkedAt: 0 };
    const { version, toolkits } = await privateToolkitsForProject(db, projectId).list();
    const all = [...(await compile(projectId, toolkits)), ...(await extraToolkits(projectId))];
    const own = all.filter(({ slug }) => !common.has(slug));
    const sources = new Map(toolkits.map(({ slug, source }) => [slug, source ?? { kind: "file", changesWaiting: 0 }]));
    // A toolkit that cannot be compiled hides its slug too. Otherwise calls would reach the shared toolkit that the project replaced.
    const hidden = new Set([...toolkits, ...own].map(({ slug }) => slug).filter((slug) => !common.has(slug)));
    const overlaid = () => viewOf(overlayCatalog(base, catalogOf(own), hidden), base.triggers);
    if (hidden.size === 0) return { version, view: base, checkedAt: 0 };
    const titles = titlesByTool(await titledPrograms(projectId));
    const view = { ...overlaid(), sources, ...(titles.size > 0 && { titles }) };
    return { version, view, checkedAt: 0 };
  };
  /**
   * Compiles only toolkits (app definitions) that changed. Compiling one takes up to a tenth of a second, and a project may have a hundred.
   */
  const compile = async (projectId: ProjectId, kept: readonly KeptToolkit[]) => {
    const before = compiled.get(projectId);
    const current: [string, CompiledToolkit][] = [];
    for (const { slug, definition, phrases, source } of kept) {
      const same = before?.get(slug);
      const isImported = source !== null;
      try {
        const plain = () =>
          source?.kind === "shared"
            ? bindToolkit(definition, projectId, (name) => catalog.definitions?.get(name))
            : parseKeptToolkit(definition, { ownerProjectId: projectId, isImported });
        const isSame = same?.definition === definition && same.isImported === isImported;
        const compiledOne =
          isSame && same.phrases === phrases
            ? same
            : await compileOne(isSame ? async () => same.plain : plain, { definition, isImported, phrases });
        current.push([slug, compiledOne]);
      } catch (error) {
        if (!(error instanceof DefinitionError)) throw error;
        options.onBroken(projectId, slug, error);
      }
    }
    compiled.set(projectId, new Map(current));
    return current.map(([, { toolkit }]) => toolkit);
  };
  /**
   * Removes the project's cached catalog after a change that this node has made. If the node is reading the catalog at this moment, the
   * result of that read is not used either, because it may be from before the change.
   */
  const forget = (projectId: ProjectId) => {
    changes++;
    known.delete(projectId);
    reading.delete(projectId);
  };
  return {
    shared,
    base,
    forget,
    async forProject(projectId) {
      const current = known.get(projectId);
      if (current !== undefined && clock.now() - current.checkedAt < freshMs) return current.view;
      let pending = reading.get(projectId);
      if (pending === undefined) {
        const started = read(projectId).finally(() => {
          if (reading.get(projectId) === started) reading.delete(projectId);
        });
        pending = started;
        reading.set(projectId, pending);
      }
      return (await pending).view;
    },
    async publish(projectId, { toolkit, definitionJson }, change) {
      const stored = {
        slug: toolkit.slug,
        definition: definitionJson,
        toolCount: toolkit.actions.length,
        originDigest: Buffer.from(toolkit.originDigest, "hex"),
        updatedAt: clock.now(),
      };
      const refusal = await privateToolkitsForProject(db, projectId).put(stored, change);
      if (refusal === undefined && toolkit.ownerProjectId === projectId) {
        const one = { definition: definitionJson, isImported: change.source !== undefined, plain: toolkit, toolkit };
        compiled.set(
          projectId,
          new Map([...(compiled.get(projectId) ?? []), [toolkit.slug, { ...one, phrases: undefined }]]),
        );
      }
      forget(projectId);
      return refusal;
    },
    async remove(projectId, slug) {
      const removed = await privateToolkitsForProject(db, projectId).delete(slug, clock.now());
      forget(projectId);
      return removed;
    },
  };
}

/**
 * Compiles a stored definition, adds its search phrases and creates the API messages of its tools, in slices. A toolkit with 1,500 tools
 * would otherwise hold the event loop for a tenth of a second.
 */
async function compileOne(
  compile: () => Promise<Toolkit>,
  stored: Pick<CompiledToolkit, "definition" | "isImported"> & Pick<KeptToolkit, "phrases">,
): Promise<CompiledToolkit> {
  const slices = createDefinitionSlices();
  const plain = await compile();
  const toolkit = withPhrases(plain, stored.phrases);
  for (const tool of [...toolkit.actions, ...toolkit.triggers]) {
    toolMessage(tool);
    await slices.rest();
  }
  return { ...stored, plain, toolkit };
}

function catalogOf(toolkits: readonly Toolkit[]): Catalog {
  const tools: Tool[] = toolkits.flatMap((toolkit) => [...toolkit.actions, ...toolkit.triggers, ...toolkit.codeTools]);
  return {
    toolkits: new Map(toolkits.map((toolkit) => [toolkit.slug, toolkit])),
    tools: new Map(tools.map((tool) => [tool.slug, tool])),
  };
}

/**
 * Returns the view of a catalog, with the triggers of its toolkits. `hidden`: triggers to add. Their toolkit may be missing in the catalog.
 */
function viewOf(catalog: Catalog, hidden: CatalogView["triggers"] = new Map()): CatalogView {
  const own = [...catalog.toolkits.values()].flatMap(({ triggers }) => triggers);
  const triggers = bySlug([...hidden, ...own.map((trigger) => [trigger.slug, trigger] as const)]);
  return { ...catalog, triggers, messages: indexMessages(catalog), sources: new Map() };
}

/**
 * Returns the shared catalog with a project's own toolkits (app definitions) added. An own toolkit hides the shared toolkit with the same
 * slug, and all tools of the shared toolkit. `hidden`: slugs of the shared toolkits to hide.
 */
function overlayCatalog(
  shared: Catalog,
  own: Catalog,
  hidden: ReadonlySet<string> = new Set(own.toolkits.keys()),
): Catalog {
  const toolkits = [...shared.toolkits].filter(([slug]) => !hidden.has(slug));
  const tools = [...shared.tools].filter(([, tool]) => !hidden.has(tool.toolkitSlug));
  return {
    toolkits: bySlug([...toolkits, ...own.toolkits]),
    tools: bySlug([...tools, ...own.tools]),
  };
}

/** Returns the entries as a map ordered by slug. If a slug occurs several times, the last entry is used. */
function bySlug<T>(entries: readonly (readonly [string, T])[]): ReadonlyMap<string, T> {
  return new Map([...new Map(entries)].sort(([a], [b]) => (a < b ? -1 : 1)));
}
