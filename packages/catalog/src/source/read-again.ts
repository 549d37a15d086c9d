import { type Clock, Fault, type ProjectId, quotaFaults } from "@svc/core";
import { type ToolkitSource, toolkitSourcesForProject } from "@svc/db/catalog/sources";
import type { Database } from "@svc/db/connect";
import { catalogFaults } from "../errors.ts";
import type { ImportedAndCompared } from "../import/import-checked.ts";
import type { ToolkitImporter } from "../import/import-toolkit.ts";
import type { CatalogViews } from "../private/private-toolkits.ts";
import { importOf, optionsText, waitingOf } from "./source-options.ts";

/** Dependencies of a reader of sources. */
export type SourceReaderOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly views: Pick<CatalogViews, "forget">;
  readonly importer: ToolkitImporter;
};

/** Content of a source that was read again, with the accepted definition with which it was compared. */
type ReadSourceAgain = ImportedAndCompared & { readonly definition: string; readonly document: string };

/** Reads sources of private toolkits (such as the document from which an app was imported) again. */
export type SourceReader = {
  /**
   * Reads a source and compares it with the accepted definition. Stores nothing, except the reason if the source cannot be read; rejects
   * then with the error. `document`: text of the newer document; empty to read the source at its address.
   */
  read(projectId: ProjectId, source: ToolkitSource, document: string): Promise<ReadSourceAgain>;
  /**
   * Stores the differences that `read` has found. They wait until an approver accepts them. Rejects with CHANGES_OUTDATED if the toolkit was
   * changed in the meantime, and with the error of a quota.
   */
  store(projectId: ProjectId, source: ToolkitSource, read: ReadSourceAgain): Promise<void>;
};

/** Creates the reader of sources, which RefreshToolkit and the watcher of sources use. */
export function createSourceReader({ db, clock, views, importer }: SourceReaderOptions): SourceReader {
  const sourcesOf = (projectId: ProjectId) => toolkitSourcesForProject(db, projectId);
  return {
    async read(projectId, source, document) {
      const { slug } = source;
      const { definition } = (await sourcesOf(projectId).findDefinitions(slug)) ?? {};
      if (definition === undefined) throw catalogFaults.CHANGES_OUTDATED(slug, "slug");
      try {
        const made = await importer.refresh(importOf(source, document), definition, projectId);
        return { ...made, definition, document };
      } catch (error) {
        if (document === "" && isAboutSource(error)) await sourcesOf(projectId).reportFailure(source, storable(error));
        throw error;
      }
    },
    async store(projectId, source, { comparison, digest, definition, document, ...made }) {
      const refreshed = {
        definition,
        digest: Buffer.from(digest, "hex"),
        options: optionsText(importOf(source, document), made),
        waiting: waitingOf(comparison),
        refreshedAt: clock.now(),
      };
      const refusal = await sourcesOf(projectId).refresh(source, refreshed);
      if (refusal === "outdated") throw catalogFaults.CHANGES_OUTDATED(source.slug, "slug");
      if (refusal !== undefined) {
        const error = quotaFaults[refusal.quota](refusal.quotaReached);
        if (document === "") await sourcesOf(projectId).reportFailure(source, storable(error));
        throw error;
      }
      views.forget(projectId);
    },
  };
}

/**
 * True for an error that keeps a source from being read, such as a document that is too large. False for errors of svc, and if the toolkit
 * was changed during the read.
 */
function isAboutSource(error: unknown): error is Fault {
  return error instanceof Fault && error.details.every(({ reason }) => reason !== "CHANGES_OUTDATED");
}

/** Returns the text of an error in a form that the database can store. */
function storable({ message }: Fault): string {
  return message.toWellFormed().replaceAll("\0", "").slice(0, 1_000);
}
