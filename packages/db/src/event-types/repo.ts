import type { ProjectId } from "@svc/core";
import { and, asc, count, desc, eq, gt, inArray, lte, sql } from "drizzle-orm";
import { touchCatalog } from "../catalog/touch.ts";
import { type Executor, withTransaction } from "../connect.ts";
import type { EventSettings, PortalLook } from "../documents/document.ts";
import { eventSettings, eventTypes, eventTypeVersions } from "../schema/event-types.ts";
import type { Row } from "../sql/codec.ts";

/** A type of the events that a project publishes itself. `schema` and `sample` are JSON texts; they may be empty. */
export type EventTypeRow = Omit<Row<typeof eventTypes>, "projectId">;

/** A version of an event type's schema: its number and the time when it was created. */
type EventTypeVersionRow = Pick<Row<typeof eventTypeVersions>, "version" | "createdAt">;

/** The properties of an event type that a caller sets; svc sets the version and the times. */
export type NewEventType = Omit<EventTypeRow, "version" | "createdAt" | "updatedAt">;

/**
 * Result of storing an event type. Only `put` means that the type was stored. `other_case`: a type exists whose name differs only in upper
 * and lower case. `too_many`: the project already has the maximum number of types. `changed`: the stored type is not the one that the
 * caller read.
 */
export type PutEventTypeResult =
  | { readonly outcome: "put"; readonly type: EventTypeRow }
  | { readonly outcome: "other_case"; readonly name: string }
  | { readonly outcome: "too_many" }
  | { readonly outcome: "changed" };

/**
 * Options for storing an event type. `most`: maximum number of event types in the project. `isNew`: true if the caller only wants to create
 * a type. An existing type with the same name then does not change. `isTrial`: true to check everything and store nothing. `isFrom`: true
 * if the new type may replace the stored one, undefined if there is none. Default: it may replace every type.
 */
type PutEventType = {
  readonly most: number;
  readonly isNew?: boolean;
  readonly isTrial?: boolean;
  readonly isFrom?: (stored: EventTypeRow | undefined) => boolean;
};

/** A project's settings for the events that it publishes itself and for its portal, with the portal's logo. */
export type StoredEventSettings = EventSettings & { readonly logo: Buffer | null };

/** Settings to store. `portal`: look of the portal with its logo, an image or null. */
type NewEventSettings = Pick<EventSettings, "unknownTypes"> & {
  readonly portal?: (PortalLook & { readonly logo: Buffer | null }) | undefined;
};

/**
 * A page of a project's event types, sorted by name: at most `limit` types whose names come after `after`. `isOffered`: true for only the
 * types that the project offers to its customers.
 */
type EventTypePage = { readonly after: string; readonly limit: number; readonly isOffered?: boolean };

/**
 * The types of the events that one project publishes itself. Every change increments the project's catalog version in the same transaction,
 * so that nodes notice the change.
 */
type EventTypeRepository = {
  /**
   * Returns a page of the project's event types, sorted by name. `isOffered`: true for only the types that the project offers to its
   * customers.
   */
  list(page: EventTypePage): Promise<EventTypeRow[]>;
  /**
   * Returns the sizes of the event types that `list` returns for the same page: the bytes of schema and sample together. Does not read
   * these texts.
   */
  sizes(page: EventTypePage): Promise<{ readonly name: string; readonly bytes: number }[]>;
  /** Returns the project's event types whose names are in the list. Other names are ignored. */
  find(names: readonly string[]): Promise<EventTypeRow[]>;
  /** Returns the newest versions of an event type, newest first. */
  versions(name: string, limit: number): Promise<EventTypeVersionRow[]>;
  /** Returns the schema of a version of a type, or undefined. */
  schemaOf(name: string, version: number): Promise<{ readonly schema: string; readonly createdAt: number } | undefined>;
  /** Creates an event type, or replaces the event type with the same name. The type gets its next version number if its schema changes. */
  put(type: NewEventType, nowMs: number, how: PutEventType): Promise<PutEventTypeResult>;
  /** Returns the project's settings for its events and its portal. Undefined if the project never set them. */
  settings(): Promise<StoredEventSettings | undefined>;
  /**
   * Stores the project's settings for its events and its portal, and returns the stored settings. If `portal` is undefined, the look of the
   * portal does not change.
   */
  putSettings(settings: NewEventSettings): Promise<StoredEventSettings>;
};

/** Maximum number of versions of an event type's schema that svc stores. When a newer version is added, the oldest is deleted. */
export const versionsMax = 100;

const columns = {
  name: eventTypes.name,
  version: eventTypes.version,
  schema: eventTypes.schema,
  description: eventTypes.description,
  sample: eventTypes.sample,
  archivedAt: eventTypes.archivedAt,
  offered: eventTypes.offered,
  createdAt: eventTypes.createdAt,
  updatedAt: eventTypes.updatedAt,
};

/**
 * SQL for the size of an event type's schema and sample in bytes. PostgreSQL stores the length of a large text separately, so the texts
 * themselves are not read.
 */
const textBytes = sql<number>`octet_length(${eventTypes.schema}) + octet_length(${eventTypes.sample})`;

/** Returns the repository of one project's event types. */
export function eventTypesForProject(db: Executor, projectId: ProjectId): EventTypeRepository {
  const ofProject = eq(eventTypes.projectId, projectId);
  const versionsOf = (name: string) =>
    and(eq(eventTypeVersions.projectId, projectId), eq(eventTypeVersions.name, name));
  const find = (names: readonly string[]) =>
    db.orm
      .select(columns)
      .from(eventTypes)
      .where(and(ofProject, inArray(eventTypes.name, [...names])));
  const listed = ({ after, isOffered = false }: EventTypePage) =>
    and(ofProject, gt(eventTypes.name, after), isOffered ? eq(eventTypes.offered, true) : undefined);
  return {
    find,
    list: (page) =>
      db.orm.select(columns).from(eventTypes).where(listed(page)).orderBy(asc(eventTypes.name)).limit(page.limit),
    sizes: (page) =>
      db.orm
        .select({ name: eventTypes.name, bytes: textBytes })
        .from(eventTypes)
        .where(listed(page))
        .orderBy(asc(eventTypes.name))
        .limit(page.limit),
    versions: (name, limit) =>
      db.orm
        .select({ version: eventTypeVersions.version, createdAt: eventTypeVersions.createdAt })
        .from(eventTypeVersions)
        .where(versionsOf(name))
        .orderBy(desc(eventTypeVersions.version))
        .limit(limit),
    async schemaOf(name, version) {
      const [row] = await db.orm
        .select({ schema: eventTypeVersions.schema, createdAt: eventTypeVersions.createdAt })
        .from(eventTypeVersions)
        .where(and(versionsOf(name), eq(eventTypeVersions.version, version)));
      return row;
    },
    put: (type, nowMs, { most, isNew = false, isTrial = false, isFrom = () => true }) =>
      withTransaction(db, async (tx) => {
        // Locks the project's row. So if the same type is changed twice at once, each change gets its own version. If two types are added
        // at once, only one of them can use the last place below the maximum.
        if (!isTrial) await touchCatalog(tx, projectId);
        const lower = sql`lower(name) = lower(${type.name})`;
        const [known] = await tx.orm.select(columns).from(eventTypes).where(and(ofProject, lower));
        if (known !== undefined && known.name !== type.name) return { outcome: "other_case", name: known.name };
        if (known === undefined) {
          const [all] = await tx.orm.select({ count: count() }).from(eventTypes).where(ofProject);
          if ((all?.count ?? 0) >= most) return { outcome: "too_many" };
        }
        if (known !== undefined && isNew) return { outcome: "put", type: known };
        if (!isFrom(known)) return { outcome: "changed" };
        const isSame = known?.schema === type.schema;
        const version = (known?.version ?? 0) + (isSame ? 0 : 1);
        // If the type is already archived, it keeps the time at which it was first archived.
        const archivedAt = type.archivedAt === null ? null : (known?.archivedAt ?? type.archivedAt);
        const change = { ...type, archivedAt, version, updatedAt: nowMs };
        const row = { ...change, createdAt: known?.createdAt ?? nowMs };
        if (isTrial) return { outcome: "put", type: row };
        if (!isSame) {
          await tx.orm
            .insert(eventTypeVersions)
            .values({ projectId, name: type.name, version, schema: type.schema, createdAt: nowMs });
          await tx.orm
            .delete(eventTypeVersions)
            .where(and(versionsOf(type.name), lte(eventTypeVersions.version, version - versionsMax)));
        }
        await tx.orm
          .insert(eventTypes)
          .values({ projectId, ...row })
          .onConflictDoUpdate({ target: [eventTypes.projectId, eventTypes.name], set: change });
        return { outcome: "put", type: row };
      }),
    settings: () => readSettings(db, projectId),
    putSettings: ({ unknownTypes, portal }) =>
      withTransaction(db, async (tx) => {
        await touchCatalog(tx, projectId);
        const { logo: before = null, portal: look } = (await readSettings(tx, projectId)) ?? {};
        const logo = portal === undefined ? before : portal.logo;
        const settings = { unknownTypes, ...lookOf(portal ?? look) };
        await tx.orm
          .insert(eventSettings)
          .values({ projectId, settings, logo })
          .onConflictDoUpdate({ target: eventSettings.projectId, set: { settings, logo } });
        return { ...settings, logo };
      }),
  };
}

async function readSettings(db: Executor, projectId: ProjectId): Promise<StoredEventSettings | undefined> {
  const [row] = await db.orm.select().from(eventSettings).where(eq(eventSettings.projectId, projectId));
  return row && { ...row.settings, logo: row.logo };
}

/**
 * Returns the part of a project's settings that describes its portal, without the logo. Empty if the project never set the look of its
 * portal.
 */
function lookOf(look: PortalLook | undefined): Pick<EventSettings, "portal"> {
  return look === undefined ? {} : { portal: { name: look.name, color: look.color, origins: look.origins } };
}
