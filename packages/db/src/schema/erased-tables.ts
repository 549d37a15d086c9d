import { type ProjectId, uuidOfId } from "@svc/core";
import { type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { liveEpochs } from "../deliveries/epoch.ts";
import * as t from "./index.ts";

/** An entity of a project. */
export type NamedEntity = { readonly projectId: ProjectId; readonly entityId: string };

/** How rows belong to an entity. */
export type EntityNaming =
  /** They are the entity's if this condition is true. */
  | {
      readonly names: (named: NamedEntity) => SQL;
      /** A stricter condition for exports, if some of the rows may be another entity's. */
      readonly exported?: (named: NamedEntity) => SQL;
    }
  /** A rule of that name checks each row. */
  | { readonly rule: "jobs" | "standing" | "runs" }
  /** Programs, deleted once nothing that runs them is left. */
  | "as what runs them"
  /** They are deleted with the row they belong to. */
  | "as their parents"
  /** They hold nothing of one entity; `none` is the reason. `notSearched`: their texts may still mention it, and are not searched. */
  | { readonly none: string; readonly notSearched?: string };

/** A row is deleted with the row of another table for which this condition is true. */
export type RowParent = {
  readonly table: PgTable;
  readonly on: SQL;
  /** An additional condition to find the parent from this row, if no index of its table serves `on`. */
  readonly from?: SQL;
  /** Scan order, if the primary key does not begin with the column that `on` gives; an index has this order. */
  readonly order?: readonly PgColumn[];
};

/** The handling of one table in an erasure. */
export type ErasedTable = {
  readonly table: PgTable;
  /** Column of the row's project; undefined if its parents have the project, or the row is the deployment's. */
  readonly project?: PgColumn;
  /** Key of the scan, if other rows are deleted with these, or a rule checks each. */
  readonly key?: PgColumn;
  readonly parents?: readonly RowParent[];
  readonly entity: EntityNaming;
  /** Indexes for the scan of an entity's rows, if it does not use the primary key. Each contains the rows for which its `where` is true. */
  readonly indexes?: readonly { readonly where: SQL; readonly columns: readonly PgColumn[] }[];
};

const [hasNoFailure, hasFailure] = [sql`${t.toolCalls.failure} is null`, sql`${t.toolCalls.failure} is not null`];
const callColumns = [t.toolCalls.entityId, t.toolCalls.projectId, t.toolCalls.toolSlug];

const settings = {
  none: "what the people of the project set for all of it",
  notSearched: "settings of the project: texts that people wrote are not searched",
};
const bookkeeping = { none: "counts, versions and times alone" };

/**
 * The handling of every table in an erasure, in the order of processing: first tables that admit new work, then work, then its results. A
 * test fails for a table that is missing here. Rows of a table with parents are deleted before their parents.
 */
export const erasedTables: readonly ErasedTable[] = [
  { table: t.grantCodes, project: t.grantCodes.projectId, entity: of(t.grantCodes.entityId) },
  { table: t.grants, project: t.grants.projectId, key: t.grants.id, entity: { names: grantOf } },
  {
    table: t.grantTokens,
    parents: [
      {
        ...{ table: t.grants, on: sql`${t.grantTokens.grantId} = ${t.grants.id}` },
        order: [t.grantTokens.grantId, t.grantTokens.digest],
      },
    ],
    ...along(),
  },
  { table: t.apiKeys, project: t.apiKeys.projectId, key: t.apiKeys.id, entity: of(t.apiKeys.entityId) },
  {
    table: t.consoleSeats,
    parents: [{ table: t.apiKeys, on: sql`${t.consoleSeats.keyId} = ${t.apiKeys.id}` }],
    ...along(),
  },
  {
    ...{ table: t.consoleLinks, project: t.consoleLinks.projectId },
    parents: [{ table: t.apiKeys, on: sql`${t.consoleLinks.keyId} = ${t.apiKeys.id}` }],
    entity: { names: linkOf },
  },
  {
    ...{ table: t.standingPrograms, project: t.standingPrograms.projectId, key: t.standingPrograms.id },
    entity: { rule: "standing" },
  },
  ofProgram(t.standingVersions, t.standingVersions.programId),
  ofProgram(t.standingBackfills, t.standingBackfills.programId),
  ofProgram(t.standingUsage, t.standingUsage.programId),
  ofProgram(t.standingListeners, t.standingListeners.programId),
  ofProgram(t.standingPolls, t.standingPolls.programId),
  ofProgram(t.standingSeen, t.standingSeen.programId),
  ofProgram(t.standingNotices, t.standingNotices.programId),
  {
    ...ofProgram(t.standingRates, t.standingRates.programId),
    ...keyOfProgram(t.standingRates.key, t.standingRates.programId),
  },
  {
    ...ofProgram(t.standingDedupe, t.standingDedupe.programId),
    ...keyOfProgram(t.standingDedupe.key, t.standingDedupe.programId),
  },
  // Also the task of a replay, which belongs to the project alone.
  { ...ofProgram(t.dueTasks, t.dueTasks.ownerId), project: t.dueTasks.projectId },
  { table: t.jobs, project: t.jobs.projectId, key: t.jobs.id, entity: { rule: "jobs" } },
  ofJob(t.jobAttempts, t.jobAttempts.jobId),
  ofJob(t.jobSteps, t.jobSteps.jobId),
  ofJob(t.jobRows, t.jobRows.jobId),
  ofJob(t.jobSetRows, t.jobSetRows.jobId),
  ofJob(t.jobUndoEntries, t.jobUndoEntries.jobId),
  ofJob(t.jobTasks, t.jobTasks.jobId),
  ofJob(t.jobEvents, t.jobEvents.jobId),
  ofJob(t.jobAsks, t.jobAsks.jobId),
  {
    table: t.skills,
    parents: [
      {
        table: t.jobs,
        on: sql`${t.skills.projectId} = ${t.jobs.projectId} and ${t.skills.jobId} = ${t.jobs.id}`,
      },
    ],
    ...along(),
  },
  {
    ...{ table: t.standingRuns, project: t.standingRuns.projectId, key: t.standingRuns.id },
    parents: [
      {
        ...{ table: t.standingPrograms, on: sql`${t.standingRuns.programId} = ${t.standingPrograms.id}` },
        order: [t.standingRuns.programId, t.standingRuns.id],
      },
      {
        ...{ table: t.jobs, on: sql`${t.standingRuns.id} = ${t.jobs.standingRunId}` },
        from: sql`${t.standingRuns.jobId} = ${t.jobs.id}`,
      },
    ],
    entity: { rule: "runs" },
  },
  {
    table: t.standingRunEvents,
    parents: [
      { table: t.standingRuns, on: sql`${t.standingRunEvents.runId} = ${t.standingRuns.id}` },
      { table: t.events, on: sql`${t.standingRunEvents.eventId} = ${t.events.id}` },
    ],
    ...along(),
  },
  ofDeployment(
    t.auditEvents,
    "names an entity by its digest alone, and stays",
    "the audit log is kept; it has the entity as a keyed digest alone",
  ),
  ofDeployment(t.auditChains, "hashes of what stays"),
  { table: t.hookAnswers, project: t.hookAnswers.projectId, entity: of(t.hookAnswers.entityId) },
  {
    ...{ table: t.toolCalls, project: t.toolCalls.projectId },
    entity: { names: (named) => sql`(${isCallOf(named)} and ${hasNoFailure} or ${isCallOf(named)} and ${hasFailure})` },
    indexes: [
      { where: hasNoFailure, columns: [...callColumns, t.toolCalls.id] },
      { where: hasFailure, columns: [...callColumns, t.toolCalls.failure, t.toolCalls.id] },
    ],
  },
  { table: t.events, project: t.events.projectId, key: t.events.id, entity: { names: isEventOf } },
  {
    table: t.deliveryTasks,
    // By the whole key of the task, because a queue may have a million other tasks.
    parents: [
      {
        table: t.deliveries,
        on: sql`${t.deliveryTasks.epoch} = any${sql.raw(liveEpochs)} and ${t.deliveryTasks.subscriptionId} = ${t.deliveries.subscriptionId}
          and ${t.deliveryTasks.dueAt} = ${t.deliveries.nextAttemptAt} and ${t.deliveryTasks.deliveryId} = ${t.deliveries.id}`,
      },
    ],
    ...along(),
  },
  {
    ...{ table: t.deliveries, key: t.deliveries.id },
    parents: [
      {
        table: t.events,
        on: sql`${t.deliveries.projectId} = ${t.events.projectId} and ${t.deliveries.eventId} = ${t.events.id}`,
      },
    ],
    ...along(),
  },
  {
    table: t.standingArrivals,
    parents: [
      {
        table: t.events,
        // An inbox event is due from the receipt of its event, however many attempts it had.
        on: sql`${t.standingArrivals.projectId} = ${t.events.projectId} and ${t.standingArrivals.dueAt} = ${t.events.receivedAt}
          and ${t.standingArrivals.eventId} = ${t.events.id}`,
      },
    ],
    ...along(),
  },
  // Deleted last: posts that arrive meanwhile are still stored as the entity's.
  { table: t.accountReferences, project: t.accountReferences.projectId, entity: of(t.accountReferences.entityId) },
  { table: t.connectedAccounts, project: t.connectedAccounts.projectId, entity: of(t.connectedAccounts.entityId) },
  {
    ...{ table: t.contacts, project: t.contacts.projectId },
    entity: { names: ({ entityId }) => sql`${t.contacts.reach} ->> 'entityId' = ${entityId}` },
  },
  {
    ...{ table: t.callPaces, project: t.callPaces.projectId },
    entity: {
      names: ({ entityId }) => isWithin(entityId, t.callPaces.key),
      exported: (named) => isKey(named, t.callPaces.key),
    },
  },
  ofProject(t.jobPrograms, t.jobPrograms.projectId, "as what runs them"),
  // A subscription without an entity filter belongs to the project.
  {
    ...{ table: t.subscriptions, project: t.subscriptions.projectId, key: t.subscriptions.id },
    entity: of(t.subscriptions.entityId),
  },
  ofProject(t.replays, t.replays.projectId, bookkeeping),
  ofProject(t.secrets, t.secrets.projectId, settings),
  ofProject(t.privateToolkits, t.privateToolkits.projectId, settings),
  ofProject(t.toolVectors, t.toolVectors.projectId, {
    none: "numbers made of the texts of private toolkits, which are settings",
  }),
  ofProject(t.callHooks, t.callHooks.projectId, settings),
  ofProject(t.callLimits, t.callLimits.projectId, settings),
  ofProject(t.activityMinutes, t.activityMinutes.projectId, bookkeeping),
  ofProject(t.activityHours, t.activityHours.projectId, bookkeeping),
  ofProject(t.projectPolicies, t.projectPolicies.projectId, settings),
  // Data sealed with these keys can never be opened again, even from a backup of the rows.
  ofProject(t.dataKeys, t.dataKeys.projectId, { none: "keys of all that is the project's" }),
  // Last, because everything references it.
  ofProject(t.projects, t.projects.id, settings),
  ofDeployment(
    t.quarantinedPosts,
    "a post that no project received, and that names none",
    "posts that became no event name no entity; read them with ListQuarantinedPosts, they end with their retention",
  ),
  ofDeployment(t.erasures, "the erasure itself, which forgets whom it erased at its end"),
  ofDeployment(t.erasurePrograms, "digests, until an erasure has looked for what uses them"),
  ofDeployment(t.consoleSessions, "a browser, which may hold seats of several projects"),
  ofDeployment(t.grantClients, "a program that registered itself with the deployment"),
  ofDeployment(t.ledgerState, "how far the ledger was searched"),
  ofDeployment(t.routingState, "a version"),
  ofDeployment(t.vaultRotations, "how far the vault key's rotation is"),
  ofDeployment(t.vaultNodes, "the nodes that run"),
  ofDeployment(t.oldSubkeys, "keys of the deployment"),
  ofDeployment(t.deploymentSecrets, "what the deployment itself sends"),
  ofDeployment(t.vaultCheck, "a known text"),
  ofDeployment(t.restores, "times of backups"),
  ofDeployment(t.deliveryEpoch, "a number"),
  ofDeployment(t.standingState, "the version of time zones"),
];

function of(column: PgColumn): EntityNaming {
  return { names: ({ entityId }) => sql`${column} = ${entityId}` };
}

/**
 * Condition that an event is an entity's: it has the entity, or it has none and names an account of the entity (it came before the account
 * was connected). An event of a version before 0.2 names an account if its payload contains the reference.
 */
export function isEventOf({ projectId, entityId }: NamedEntity): SQL {
  return sql`(${t.events.entityId} = ${entityId} or ${t.events.entityId} = '' and ${t.events.kind} = 'event' and exists (
    select from ${t.connectedAccounts} a cross join lateral unnest(a.references) r
    where a.project_id = ${uuidOfId(projectId)}::uuid and a.entity_id = ${entityId} and a.toolkit_slug is not distinct from ${t.events.toolkitSlug}
      and (r = ${t.events.account} or ${t.events.account} is null and position(to_json(r)::text in ${t.events.payload}) > 0)))`;
}

/** One index has the failed calls, the other the rest; each serves the condition that says so. */
function isCallOf({ projectId, entityId }: NamedEntity): SQL {
  return sql`(${t.toolCalls.entityId} = ${entityId} and ${t.toolCalls.projectId} = ${uuidOfId(projectId)}::uuid)`;
}

/** Links to connect an account of the entity, or to answer as a contact that is reached through it. */
function linkOf({ projectId, entityId }: NamedEntity): SQL {
  return sql`(${t.consoleLinks.target} -> 'connect' ->> 'entityId' = ${entityId}
    or ${t.consoleLinks.target} -> 'answer' ->> 'principalId' in (select ${t.contacts.principalId} from ${t.contacts}
      where ${t.contacts.projectId} = ${uuidOfId(projectId)}::uuid and ${t.contacts.reach} ->> 'entityId' = ${entityId}))`;
}

function grantOf({ entityId }: NamedEntity): SQL {
  return sql`exists (select from ${t.apiKeys} where ${t.apiKeys.id} in (${t.grants.keyId}, ${t.grants.voucherKeyId})
    and ${t.apiKeys.entityId} = ${entityId})`;
}

/**
 * Condition that a key, computed by an expression of the project from an event or a call, contains the entity's id. The id must be
 * delimited by characters other than letters and digits, because a part of a longer id belongs to another entity.
 */
function isWithin(entityId: string, key: PgColumn): SQL {
  const id = entityId.replace(/[\\^$.|?*+(){}[\]]/g, "\\$&");
  const isBounded = sql`${key} ~ ${`(^|[^[:alnum:]])${id}($|[^[:alnum:]])`}::text`;
  // The cheap condition first: most keys do not contain the id.
  return sql`position(${entityId}::text in ${key}) > 0 and ${isBounded}`;
}

/** Condition that the key is exactly the entity's id. Keys that only contain it may belong to an entity with a longer id. */
function isKey({ entityId }: NamedEntity, key: PgColumn): SQL {
  return sql`${key} = ${entityId}`;
}

function keyOfProgram(key: PgColumn, programId: PgColumn): Pick<ErasedTable, "entity"> {
  return {
    entity: {
      names: (named) => sql`${isWithin(named.entityId, key)} and ${isOfProject(named, programId)}`,
      exported: (named) => sql`${isKey(named, key)} and ${isOfProject(named, programId)}`,
    },
  };
}

function isOfProject({ projectId }: NamedEntity, programId: PgColumn): SQL {
  // As an array, so that each program is looked up. With a join, the rows of all other programs may be read.
  return sql`${programId} = any(array(
    select ${t.standingPrograms.id} from ${t.standingPrograms} where ${t.standingPrograms.projectId} = ${uuidOfId(projectId)}::uuid))`;
}

function along(): Pick<ErasedTable, "entity"> {
  return { entity: "as their parents" };
}

function ofJob(table: PgTable, jobId: PgColumn): ErasedTable {
  return { table, parents: [{ table: t.jobs, on: sql`${jobId} = ${t.jobs.id}` }], ...along() };
}

function ofProgram(table: PgTable, programId: PgColumn): ErasedTable {
  return {
    table,
    parents: [{ table: t.standingPrograms, on: sql`${programId} = ${t.standingPrograms.id}` }],
    ...along(),
  };
}

function ofProject(table: PgTable, project: PgColumn, entity: EntityNaming): ErasedTable {
  return { table, project, entity };
}

function ofDeployment(table: PgTable, none: string, notSearched?: string): ErasedTable {
  return { table, entity: { none, ...(notSearched !== undefined && { notSearched }) } };
}
