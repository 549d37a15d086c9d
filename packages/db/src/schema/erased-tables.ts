import { type ProjectId, uuidOfId } from "@svc/core";
import { type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { liveEpochs, pacedFront } from "../deliveries/epoch.ts";
import * as t from "./index.ts";

/** Identifies an entity (customer or user) by its project and by its id in the project. Erasures and exports look for its rows. */
export type NamedEntity = { readonly projectId: ProjectId; readonly entityId: string };

/** The rule by which svc finds the rows of an entity (a customer or user of the project) in a table, in order to export or delete them. */
export type EntityNaming =
  /** A row belongs to the entity (customer or user) if the condition `names` is true. */
  | {
      readonly names: (named: NamedEntity) => SQL;
      /**
       * SQL condition that an export of the entity's data uses. It is stricter than the condition for deletion. It is needed if some of the
       * rows that are deleted may belong to another entity (customer or user).
       */
      readonly exported?: (named: NamedEntity) => SQL;
    }
  /**
   * A function in code decides for each row if the row belongs to the entity (customer or user). `rule` names the function: it decides for
   * jobs, for schedules (`standing`) or for runs of schedules.
   */
  | { readonly rule: "jobs" | "standing" | "runs" }
  /** The table's rows are programs. A program is deleted after everything that ran it (jobs and schedules) is deleted. */
  | "as what runs them"
  /** A row belongs to the entity (customer or user) of its parent row, and is deleted together with it. */
  | "as their parents"
  /**
   * The rows contain no data of a single entity (customer or user). `none`: the reason for this. `notSearched`: the reason why texts in the
   * rows may still mention an entity, and why they are not searched.
   */
  | { readonly none: string; readonly notSearched?: string };

/** A parent of a row: a row of `table` for which the condition `on` is true. The row is deleted with its parent. */
export type RowParent = {
  readonly table: PgTable;
  readonly on: SQL;
  /**
   * SQL condition that finds the parent row of a given row. It is used in place of `on` if PostgreSQL has no index for `on` in that
   * direction, from the row to its parent.
   */
  readonly from?: SQL;
  /**
   * Columns by which svc sorts the rows of one parent. An index must have this order. Needed only if the primary key does not begin with
   * the reference to the parent.
   */
  readonly order?: readonly PgColumn[];
};

/** How an erasure handles one table. */
export type ErasedTable = {
  readonly table: PgTable;
  /**
   * Column with the id of the project to which the table's rows belong. Undefined if only parent rows in another table have it, or if the
   * rows belong to the deployment.
   */
  readonly project?: PgColumn;
  /**
   * Key column by which an erasure (the deletion of a customer's data) scans the table. It is needed if rows of other tables are deleted
   * with these rows, or if a function decides for each row to whom it belongs.
   */
  readonly key?: PgColumn;
  readonly parents?: readonly RowParent[];
  readonly entity: EntityNaming;
  /**
   * Indexes used to scan the rows of an entity (customer or user), if the scan does not use the primary key. Each index contains the rows
   * for which its `where` is true.
   */
  readonly indexes?: readonly { readonly where: SQL; readonly columns: readonly PgColumn[] }[];
};

const [hasNoFailure, hasFailure] = [sql`${t.toolCalls.failure} is null`, sql`${t.toolCalls.failure} is not null`];
const callColumns = [t.toolCalls.entityId, t.toolCalls.projectId, t.toolCalls.toolSlug];

const settings = {
  none: "what the people of the project set for all of it",
  notSearched: "settings of the project: texts that people wrote are not searched",
};
const bookkeeping = { none: "counts, versions and times alone" };
const failureCounts = {
  none: "counts of failures by cause, kept for eight days",
  notSearched:
    "the sentence of a group may quote an app's error message; it is encrypted and is deleted after eight days",
};

/**
 * How an erasure handles each table, in the order of processing: first tables that admit new work, then the work, then its results. A test
 * fails if a table is missing here. If a table has parents, its rows are deleted before their parents.
 */
export const erasedTables: readonly ErasedTable[] = [
  // Without its secrets, no private toolkit of a project takes further posts.
  ofProject(t.webhookSecrets, t.webhookSecrets.projectId, settings),
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
  // Seats refer to keys, so they go first.
  ofProject(t.personSeats, t.personSeats.projectId, { none: "people who sign in to the console, and no entity" }),
  { table: t.apiKeys, project: t.apiKeys.projectId, key: t.apiKeys.id, entity: of(t.apiKeys.entityId) },
  ofProject(t.invitations, t.invitations.projectId, { none: "links for people of the project, and no entity" }),
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
  {
    ...ofProgram(t.standingRates, t.standingRates.programId),
    ...keyOfProgram(t.standingRates.key, t.standingRates.programId),
  },
  {
    ...ofProgram(t.standingDedupe, t.standingDedupe.programId),
    ...keyOfProgram(t.standingDedupe.key, t.standingDedupe.programId),
  },
  // This table also has the tasks of replays. A replay belongs to the project, not to an entity.
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
  ofDeployment(t.exportPositions, "how far what stays was sent to a target of the operator"),
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
    // The condition of this relation compares all columns of the task's key. With fewer columns, PostgreSQL might read the whole queue of
    // the task, which may contain a million other tasks. The due time of a parked task is `infinity`, and that of a claimed task of a
    // subscription with a pace is the front of its queue.
    parents: [
      {
        table: t.deliveries,
        on: sql`${t.deliveryTasks.epoch} = any${sql.raw(liveEpochs)} and ${t.deliveryTasks.subscriptionId} = ${t.deliveries.subscriptionId}
          and ${t.deliveryTasks.dueAt} = any(array[${t.deliveries.nextAttemptAt}, 'infinity', ${sql.raw(pacedFront)}]) and ${t.deliveryTasks.deliveryId} = ${t.deliveries.id}`,
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
        // The due time of an inbox event is always the receipt time of its event, even after several attempts.
        on: sql`${t.standingArrivals.projectId} = ${t.events.projectId} and ${t.standingArrivals.dueAt} = ${t.events.receivedAt}
          and ${t.standingArrivals.eventId} = ${t.events.id}`,
      },
    ],
    ...along(),
  },
  // Account references show to which entity a new post belongs. They are deleted last, so that posts that arrive during the erasure are
  // still recognized as posts of the entity.
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
  {
    table: t.subscriptionPaces,
    parents: [{ table: t.subscriptions, on: sql`${t.subscriptionPaces.subscriptionId} = ${t.subscriptions.id}` }],
    ...along(),
  },
  // A subscription that has no entity filter belongs to the project.
  {
    ...{ table: t.subscriptions, project: t.subscriptions.projectId, key: t.subscriptions.id },
    entity: of(t.subscriptions.entityId),
  },
  ofProject(t.routingShards, t.routingShards.projectId, bookkeeping),
  ofProject(t.replays, t.replays.projectId, bookkeeping),
  ofProject(t.secrets, t.secrets.projectId, settings),
  ofProject(t.toolkitClients, t.toolkitClients.projectId, settings),
  ofProject(t.toolkitSources, t.toolkitSources.projectId, settings),
  ofProject(t.privateToolkits, t.privateToolkits.projectId, settings),
  ofProject(t.eventTypes, t.eventTypes.projectId, settings),
  ofProject(t.eventTypeVersions, t.eventTypeVersions.projectId, settings),
  ofProject(t.eventSettings, t.eventSettings.projectId, settings),
  ofProject(t.toolVectors, t.toolVectors.projectId, {
    none: "numbers made of the texts of private toolkits, which are settings",
  }),
  ofProject(t.callHooks, t.callHooks.projectId, settings),
  ofProject(t.callLimits, t.callLimits.projectId, settings),
  ofProject(t.activityMinutes, t.activityMinutes.projectId, bookkeeping),
  ofProject(t.activityHours, t.activityHours.projectId, bookkeeping),
  ofProject(t.failureGroups, t.failureGroups.projectId, failureCounts),
  ofProject(t.projectPolicies, t.projectPolicies.projectId, settings),
  // After these keys are deleted, the data sealed with them can never be opened again, even from a backup of the rows.
  ofProject(t.dataKeys, t.dataKeys.projectId, { none: "keys of all that is the project's" }),
  ofProject(t.quarantinedPosts, t.quarantinedPosts.projectId, {
    none: "a post that became no event, and that names no entity",
    notSearched:
      "posts that became no event name no entity; ListQuarantinedPosts shows them, and retention deletes them",
  }),
  // Projects are deleted last, because rows of other tables reference them.
  ofProject(t.projects, t.projects.id, settings),
  ofDeployment(t.erasures, "the erasure itself, which forgets whom it erased at its end"),
  ofDeployment(t.erasurePrograms, "digests, until an erasure has looked for what uses them"),
  ofDeployment(t.consoleSessions, "a browser, which may hold seats of several projects"),
  ofDeployment(t.people, "a person who signs in to the console, and no entity: svc people remove deletes the row"),
  ofDeployment(t.deviceCodes, "a program that waits for a person, for ten minutes"),
  ofDeployment(t.usedAssertions, "digests of used tokens, until they expire"),
  ofDeployment(t.grantClients, "a program that registered itself with the deployment"),
  ofDeployment(t.ledgerState, "how far the ledger was searched"),
  ofDeployment(t.routingState, "a version"),
  ofDeployment(t.vaultRotations, "how far the vault key's rotation is"),
  ofDeployment(t.vaultNodes, "the nodes that run"),
  ofDeployment(t.oldSubkeys, "keys of the deployment"),
  ofDeployment(t.deploymentSecrets, "what the deployment itself sends"),
  ofDeployment(t.vaultCheck, "a known text"),
  ofDeployment(t.restores, "times of backups"),
  ofDeployment(t.sweepTurns, "times of sweeps"),
  ofDeployment(t.deliveryEpoch, "a number"),
  ofDeployment(t.standingState, "the version of time zones"),
];

function of(column: PgColumn): EntityNaming {
  return { names: ({ entityId }) => sql`${column} = ${entityId}` };
}

/**
 * Returns the SQL condition that an event belongs to an entity (the customer or user). This is true if the event names the entity. It is
 * also true if the event names no entity but an account of the entity, because the event arrived before the account was connected. Events
 * stored by svc before version 0.2 have no account column. They name an account if their payload contains the account's reference. Test
 * events (of SendTestEvent) that do not name an entity belong to the entity of the subscription to which they were sent.
 */
export function isEventOf({ projectId, entityId }: NamedEntity): SQL {
  return sql`(${t.events.entityId} = ${entityId} or ${t.events.entityId} = '' and ${t.events.kind} = 'event' and exists (
    select from ${t.connectedAccounts} a cross join lateral unnest(a.references) r
    where a.project_id = ${uuidOfId(projectId)}::uuid and a.entity_id = ${entityId} and a.toolkit_slug is not distinct from ${t.events.toolkitSlug}
      and (r = ${t.events.account} or ${t.events.account} is null and position(to_json(r)::text in ${t.events.payload}) > 0))
    or ${t.events.entityId} = '' and ${t.events.kind} = 'test' and exists (
    select from ${t.deliveries} d cross join lateral (select entity_id from ${t.subscriptions} where id = d.subscription_id offset 0) s
    where d.project_id = ${t.events.projectId} and d.event_id = ${t.events.id} and s.entity_id = ${entityId} offset 0))`;
}

/**
 * Returns the SQL condition that a tool call belongs to an entity (a customer or user). There is one index for failed calls and a second
 * one for all others. PostgreSQL uses such an index only if the statement adds a condition on the column `failure`: that it is null, or
 * that it is not null.
 */
function isCallOf({ projectId, entityId }: NamedEntity): SQL {
  return sql`(${t.toolCalls.entityId} = ${entityId} and ${t.toolCalls.projectId} = ${uuidOfId(projectId)}::uuid)`;
}

/**
 * Returns the SQL condition that a link to a console page belongs to an entity (customer or user). The link connects an account of the
 * entity, or goes to a contact whom svc reaches through an account of the entity.
 */
function linkOf({ projectId, entityId }: NamedEntity): SQL {
  return sql`(${t.consoleLinks.target} -> 'connect' ->> 'entityId' = ${entityId}
    or ${t.consoleLinks.target} -> 'answer' ->> 'principalId' in (select ${t.contacts.principalId} from ${t.contacts}
      where ${t.contacts.projectId} = ${uuidOfId(projectId)}::uuid and ${t.contacts.reach} ->> 'entityId' = ${entityId}))`;
}

function grantOf({ entityId }: NamedEntity): SQL {
  return sql`exists (select from ${t.apiKeys} where ${t.apiKeys.id} in (${t.grants.keyId}, ${t.grants.voucherKeyId})
    and ${t.apiKeys.entityId} = ${entityId})`;
}

/** Returns the SQL condition that `key` contains the id of an entity, not next to a letter or digit. */
function isWithin(entityId: string, key: PgColumn): SQL {
  const id = entityId.replace(/[\\^$.|?*+(){}[\]]/g, "\\$&");
  // Otherwise, the id could be a part of another entity's longer id.
  const isBounded = sql`${key} ~ ${`(^|[^[:alnum:]])${id}($|[^[:alnum:]])`}::text`;
  // The cheap condition comes first, because most keys do not contain the id.
  return sql`position(${entityId}::text in ${key}) > 0 and ${isBounded}`;
}

/**
 * Returns the condition that `key` is exactly the id of an entity (customer or user). Other keys that merely include this text are not
 * matched, because they may belong to an entity with a longer id.
 */
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
  // The programs are in an array, so that PostgreSQL looks each program up. With a join, it may read the rows of all other programs.
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
