import { type AccountId, createId, type ProjectId } from "@svc/core";
import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import { insertAuditEvent } from "../audit/list.ts";
import { type Executor, withTransaction } from "../connect.ts";
import { connectedAccounts, privateToolkits, toolkitSources } from "../schema/index.ts";
import type { ToolkitSourceKind } from "../schema/words.ts";
import { findBytesReached, type ToolkitQuotaReached, touchCatalog } from "./touch.ts";

/**
 * Changes of a source (such as an OpenAPI document) that wait until an approver accepts them. `changes`: the differences as JSON text.
 * `nextDefinition`: the definition of the toolkit with all differences. `changesDigest`: identifies the accepted and the next definition.
 */
export type WaitingChanges = {
  readonly changes: string;
  readonly changesDigest: Buffer;
  readonly changesCount: number;
  readonly nextDefinition: string;
};

/**
 * The source of a private toolkit (an app that the project defined), as an import stores it. `options`: JSON text. `nextAt`: time at which
 * svc reads the source again by itself; null if it does not. `listingAccountId`: the account with which svc lists the tools of an MCP
 * server; null for none. An account that was deleted meanwhile is stored as null.
 */
export type NewToolkitSource = {
  readonly kind: ToolkitSourceKind;
  readonly origin: string;
  readonly options: string;
  readonly digest: Buffer;
  readonly refreshedAt: number;
  readonly nextAt: number | null;
  readonly listingAccountId: AccountId | null;
};

/** Columns that svc updates in the row of a toolkit's source after it has read the source, apart from the found changes. */
export type SourceRead = Pick<NewToolkitSource, "digest" | "options" | "refreshedAt" | "listingAccountId">;

/**
 * A change of a toolkit's source, stored together with the toolkit. `put`: an import with a new source. `accept`: an approver accepts the
 * changes with `changesDigest`; those in `rest` still wait. `trust`: svc itself accepts changes of a trusted source that it has just read.
 */
export type SourceChange =
  | { readonly kind: "put"; readonly source: NewToolkitSource }
  | {
      readonly kind: "accept";
      readonly changesDigest: Buffer;
      readonly options: string;
      readonly rest: WaitingChanges | undefined;
    }
  | {
      readonly kind: "trust";
      readonly before: ToolkitSource;
      readonly read: SourceRead;
      readonly acceptedDigest: string;
      readonly rest: WaitingChanges | undefined;
    };

/**
 * The source of a private toolkit. `version`: version of the project's catalog at the last change of the options or the waiting changes. It
 * never returns to an earlier value, even if the source is deleted and made again. The waiting changes are null if there are none.
 */
export type ToolkitSource = NewToolkitSource & {
  readonly slug: string;
  readonly version: number;
  readonly changes: string | null;
  readonly changesDigest: Buffer | null;
  readonly changesCount: number;
  readonly lastError: string;
};

/** Functions that read and change the sources of one project's private toolkits (apps that the project defined). */
export type ToolkitSourceRepository = {
  /** Returns the source of a toolkit without the next definition; undefined if the toolkit has no source. */
  find(slug: string): Promise<ToolkitSource | undefined>;
  /** Returns the accepted definition of a toolkit and the next definition of its source; undefined if there is no such toolkit. */
  findDefinitions(slug: string): Promise<{ definition: string; nextDefinition: string | null } | undefined>;
  /**
   * Stores what a source says now, and returns undefined. Otherwise stores nothing and returns the reason: a reached quota, or `outdated` if
   * the source has changed since it was read as `before`. `read.definition`: the accepted definition.
   */
  refresh(before: ToolkitSource, read: ReadAgain): Promise<ToolkitQuotaReached | "outdated" | undefined>;
  /** Stores the reason that a source could not be read, unless the source has changed since it was read as `before`. */
  reportFailure(before: ToolkitSource, lastError: string): Promise<void>;
};

/** Content of a source that was read again. `definition`: the accepted definition with which it was compared. */
type ReadAgain = SourceRead & {
  readonly definition: string;
  readonly waiting: WaitingChanges | undefined;
};

const nothingWaits = { changes: null, changesDigest: null, changesCount: 0, nextDefinition: null };

/** SQL condition for a join of toolkits and sources: the source belongs to the private toolkit. */
export const isSourceOfToolkit = and(
  eq(toolkitSources.projectId, privateToolkits.projectId),
  eq(toolkitSources.slug, privateToolkits.slug),
);

/** Returns the repository of the sources of one project's private toolkits. */
export function toolkitSourcesForProject(db: Executor, projectId: ProjectId): ToolkitSourceRepository {
  return {
    async find(slug) {
      const [row] = await db.orm.select(columns).from(toolkitSources).where(own(projectId, slug));
      return row;
    },
    async findDefinitions(slug) {
      const [row] = await db.orm
        .select({ definition: privateToolkits.definition, nextDefinition: toolkitSources.nextDefinition })
        .from(privateToolkits)
        .leftJoin(toolkitSources, isSourceOfToolkit)
        .where(and(eq(privateToolkits.projectId, projectId), eq(privateToolkits.slug, slug)));
      return row;
    },
    refresh: (before, { waiting, definition, ...read }) =>
      withTransaction(db, async (tx) => {
        const { slug } = before;
        const unchanged = and(own(projectId, slug), eq(toolkitSources.version, before.version));
        const isSame =
          read.options === before.options &&
          (waiting?.changesDigest.toString("hex") ?? "") === (before.changesDigest?.toString("hex") ?? "");
        // The project's row is locked first, as in every transaction that changes a toolkit. Nodes show the number of waiting changes.
        const version = isSame ? before.version : await touchCatalog(tx, projectId);
        const texts = [definition, read.options, ...waitingTexts(waiting)];
        const large = isSame ? undefined : await findBytesReached(tx, { projectId, slug, part: "definition", texts });
        if (large !== undefined) return large;
        const rows = await tx.orm
          .update(toolkitSources)
          .set({ ...readColumns(projectId, before, read), ...(waiting ?? nothingWaits), lastError: "", version })
          .where(unchanged)
          .returning({ slug: toolkitSources.slug });
        return rows.length > 0 ? undefined : "outdated";
      }),
    async reportFailure({ slug, version }, lastError) {
      const unchanged = and(own(projectId, slug), eq(toolkitSources.version, version));
      await db.orm.update(toolkitSources).set({ lastError }).where(unchanged);
    },
  };
}

/** All columns except the project and the next definition, which can have 4 MiB. */
const columns = {
  slug: toolkitSources.slug,
  kind: toolkitSources.kind,
  origin: toolkitSources.origin,
  options: toolkitSources.options,
  digest: toolkitSources.digest,
  version: toolkitSources.version,
  changes: toolkitSources.changes,
  changesDigest: toolkitSources.changesDigest,
  changesCount: toolkitSources.changesCount,
  refreshedAt: toolkitSources.refreshedAt,
  nextAt: toolkitSources.nextAt,
  lastError: toolkitSources.lastError,
  listingAccountId: toolkitSources.listingAccountId,
};

/**
 * Returns the columns that a read of a source changes. The account stays as it is stored if the read used the same one as before: another
 * account may have taken its place meanwhile.
 */
function readColumns(projectId: ProjectId, before: ToolkitSource, { listingAccountId, ...read }: SourceRead) {
  if (listingAccountId === before.listingAccountId) return read;
  return { ...read, listingAccountId: usableAccount(projectId, listingAccountId) };
}

/** Returns the SQL of an account's id, which is null if the project's account was deleted or replaced. */
function usableAccount(projectId: ProjectId, id: AccountId | null): SQL | null {
  if (id === null) return null;
  const { projectId: owner, id: own, state } = connectedAccounts;
  return sql`(select ${own} from ${connectedAccounts}
    where ${and(eq(owner, projectId), eq(own, id), inArray(state, ["active", "expired"]))})`;
}

function own(projectId: ProjectId, slug: string) {
  return and(eq(toolkitSources.projectId, projectId), eq(toolkitSources.slug, slug));
}

/** A toolkit that a transaction changes. `version`: version of the project's catalog that the transaction makes. */
type ChangedToolkit = { readonly projectId: ProjectId; readonly slug: string; readonly version: number };

/** Returns the texts that a change of a toolkit's source will store. The caller counts their bytes for the project's quota. */
export function textsOf(change: SourceChange | undefined): readonly string[] {
  if (change === undefined) return [];
  if (change.kind === "put") return [change.source.options];
  return [change.kind === "accept" ? change.options : change.read.options, ...waitingTexts(change.rest)];
}

function waitingTexts(waiting: WaitingChanges | undefined): readonly string[] {
  return waiting === undefined ? [] : [waiting.changes, waiting.nextDefinition];
}

/**
 * Stores the source of a toolkit, in the transaction that has just stored the toolkit. Without `change`, deletes the source, because the
 * toolkit no longer has one.
 */
export async function putSource(
  tx: Executor,
  { projectId, slug, version }: ChangedToolkit,
  change: Extract<SourceChange, { kind: "put" }> | undefined,
): Promise<void> {
  if (change === undefined) {
    await tx.orm.delete(toolkitSources).where(own(projectId, slug));
    return;
  }
  const listingAccountId = usableAccount(projectId, change.source.listingAccountId);
  const row = { ...change.source, ...nothingWaits, listingAccountId, lastError: "", leaseUntil: null, version };
  const target = [toolkitSources.projectId, toolkitSources.slug];
  const insert = tx.orm.insert(toolkitSources).values({ projectId, slug, ...row });
  await insert.onConflictDoUpdate({ target, set: row });
}

/**
 * Stores that an approver accepted changes of a toolkit's source. The changes in `rest` still wait. Returns false and stores nothing if the
 * waiting changes are not the ones that the approver saw (`changesDigest`).
 */
export async function acceptSourceChanges(
  tx: Executor,
  { projectId, slug, version }: ChangedToolkit,
  { changesDigest, options, rest }: Extract<SourceChange, { kind: "accept" }>,
): Promise<boolean> {
  const rows = await tx.orm
    .update(toolkitSources)
    .set({ ...(rest ?? nothingWaits), options, version })
    .where(and(own(projectId, slug), eq(toolkitSources.changesDigest, changesDigest)))
    .returning({ slug: toolkitSources.slug });
  return rows.length > 0;
}

/**
 * Stores the newly read content of a trusted source, with those changes in `rest` that still need an approver, and adds an audit entry.
 * Returns false and changes nothing if the source was changed since it was read. `at`: time of the acceptance, epoch milliseconds.
 */
export async function acceptTrustedChanges(
  tx: Executor,
  { projectId, slug, version }: ChangedToolkit,
  { before, read, rest, acceptedDigest, at }: Extract<SourceChange, { kind: "trust" }> & { readonly at: number },
): Promise<boolean> {
  const rows = await tx.orm
    .update(toolkitSources)
    .set({ ...readColumns(projectId, before, read), ...(rest ?? nothingWaits), lastError: "", version })
    .where(and(own(projectId, slug), eq(toolkitSources.version, before.version)))
    .returning({ slug: toolkitSources.slug });
  if (rows.length === 0) return false;
  await insertAuditEvent(tx, {
    ...{ id: createId("aud", at), at, projectId, actor: "service", actorId: null, entityDigest: null, outcome: "ok" },
    ...{ action: "CatalogService.AcceptToolkitChanges", subject: `${slug} ${acceptedDigest}` },
  });
  return true;
}
