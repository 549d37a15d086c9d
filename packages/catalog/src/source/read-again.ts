import { type Clock, Fault, type ProjectId, quotaFaults } from "@svc/core";
import { type ToolkitSource, toolkitSourcesForProject } from "@svc/db/catalog/sources";
import type { Database } from "@svc/db/connect";
import { catalogFaults } from "../errors.ts";
import type { ReadImport, ToolkitImporter } from "../import/import-toolkit.ts";
import { buildCheckedToolkit } from "../private/parse-definition.ts";
import type { CatalogViews, PublishedToolkit } from "../private/private-toolkits.ts";
import { createPublisher } from "../private/publish.ts";
import type { TrustedChanges } from "./compare-texts.ts";
import { importOf, optionsText, type ReadingAgain, waitingOf } from "./source-options.ts";

/** Dependencies of a reader of sources. */
export type SourceReaderOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly views: CatalogViews;
  readonly importer: ToolkitImporter;
};

/**
 * Content of a source that was read again, with the accepted definition with which it was compared. `trusted`: the changes that `store`
 * accepts by itself, with the toolkit that they make; undefined if it accepts none.
 */
type ReadSourceAgain = Omit<ReadImport, "trusted"> & {
  readonly definition: string;
  readonly given: ReadingAgain;
  readonly trusted: (TrustedChanges & PublishedToolkit) | undefined;
};

/** Reads sources of private toolkits (such as the document from which an app was imported) again. */
export type SourceReader = {
  /**
   * Reads a source and compares it with the accepted definition. Stores nothing, except the reason if the source cannot be read; rejects
   * then with the error.
   */
  read(projectId: ProjectId, source: ToolkitSource, given: ReadingAgain): Promise<ReadSourceAgain>;
  /**
   * Stores the differences that `read` has found. They wait until an approver accepts them, except those of a trusted source that svc
   * accepts by itself. Rejects with CHANGES_OUTDATED if the toolkit was changed in the meantime, and with the error of a quota.
   */
  store(projectId: ProjectId, source: ToolkitSource, read: ReadSourceAgain): Promise<void>;
};

/** Creates the reader of sources, which RefreshToolkit and the watcher of sources use. */
export function createSourceReader({ db, clock, views, importer }: SourceReaderOptions): SourceReader {
  const sourcesOf = (projectId: ProjectId) => toolkitSourcesForProject(db, projectId);
  const publish = createPublisher(views);
  /** Adds the toolkit that trusted changes make. Undefined if the catalog refuses it: all changes then wait for an approver. */
  const publishable = async (projectId: ProjectId, { definitionJson, ...trusted }: TrustedChanges) => {
    const toolkit = await buildCheckedToolkit(definitionJson, { ownerProjectId: projectId, isImported: true });
    const made = { ...trusted, toolkit, definitionJson };
    try {
      await publish(projectId, made, { dryRun: true, mustBeNew: false, source: undefined });
      return made;
    } catch (error) {
      if (error instanceof Fault) return undefined;
      throw error;
    }
  };
  return {
    async read(projectId, source, given) {
      const { slug } = source;
      const { definition } = (await sourcesOf(projectId).findDefinitions(slug)) ?? {};
      if (definition === undefined) throw catalogFaults.CHANGES_OUTDATED(slug, "slug");
      try {
        const made = await importer.refresh(importOf(source, given), definition, projectId);
        const trusted = made.trusted && (await publishable(projectId, made.trusted));
        return { ...made, definition, given, trusted };
      } catch (error) {
        if (isAsBefore(given) && isAboutSource(error))
          await sourcesOf(projectId).reportFailure(source, storable(error));
        throw error;
      }
    },
    async store(projectId, source, { comparison, digest, definition, given, trusted, ...made }) {
      const refreshed = {
        digest: Buffer.from(digest, "hex"),
        options: optionsText(importOf(source, given), made),
        refreshedAt: clock.now(),
        listingAccountId: made.listingAccountId ?? null,
      };
      try {
        if (trusted === undefined) {
          const refusal = await sourcesOf(projectId).refresh(source, {
            ...{ ...refreshed, definition, waiting: waitingOf(comparison) },
          });
          if (refusal === "outdated") throw catalogFaults.CHANGES_OUTDATED(source.slug, "slug");
          if (refusal !== undefined) throw quotaFaults[refusal.quota](refusal.quotaReached);
          views.forget(projectId);
        } else {
          const { accepted, rest } = trusted;
          const trust = { before: source, read: refreshed, acceptedDigest: accepted.digest, rest: waitingOf(rest) };
          const change = { kind: "trust", ...trust } as const;
          await publish(projectId, trusted, { dryRun: false, mustBeNew: false, source: change });
        }
      } catch (error) {
        if (isAsBefore(given) && isAboutSource(error))
          await sourcesOf(projectId).reportFailure(source, storable(error));
        throw error;
      }
    },
  };
}

/** True if the source is read as svc reads it by itself. A read with another document or account says nothing about the next one. */
function isAsBefore({ document, listingAccountId }: ReadingAgain): boolean {
  return document === "" && listingAccountId === "";
}

/**
 * True for an error that keeps a source from being read, such as a document that is too large. False for errors of svc, if the toolkit was
 * changed during the read, and if other imports were still running.
 */
function isAboutSource(error: unknown): error is Fault {
  if (!(error instanceof Fault)) return false;
  return error.details.every(({ reason, field }) => {
    const isBusy = reason === "IMPORT_TOO_COSTLY" && field === "";
    return reason !== "CHANGES_OUTDATED" && !isBusy;
  });
}

/** Returns the text of an error in a form that the database can store. */
function storable({ message }: Fault): string {
  return message.toWellFormed().replaceAll("\0", "").slice(0, 1_000);
}
