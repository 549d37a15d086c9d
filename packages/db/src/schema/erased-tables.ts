import { type ProjectId, uuidOfId } from "@svc/core";
import { type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { liveEpochs } from "../deliveries/epoch.ts";
import * as t from "./index.ts";

/** An entity of a project. */
export type NamedEntity = { readonly projectId: ProjectId; readonly entityId: string };

/** How rows name an entity. */
export type EntityNaming =
  /** They are the entity's where this holds. */
  | {
      readonly names: (named: NamedEntity) => SQL;
      /** Fewer of them that an export may show to the entity, where some may be another's. */
      readonly exported?: (named: NamedEntity) => SQL;
    }
  /** Each is looked at, by the rule of that name. */
  | { readonly rule: "jobs" | "standing" | "runs" }
  /** Programs, which go once nothing is left that runs them. */
  | "as what runs them"
  /** They go with the row that they belong to. */
  | "as their parents"
  /** They hold nothing of one entity, and why. `notSearched`: they may have texts about it all the same, which nothing looks through. */
  | { readonly none: string; readonly notSearched?: string };

/** A row goes with that row of another table for which this holds. */
export type RowParent = {
  readonly table: PgTable;
  readonly on: SQL;
  /** What holds as well, where the other row is looked for from this one, and no index of its table serves `on`. */
  readonly from?: SQL;
  /** In which order they are gone through where the primary key does not begin with what `on` gives: an index has them so. */
  readonly order?: readonly PgColumn[];
};

/** What an erasure does with a table. */
export type ErasedTable = {
  readonly table: PgTable;
  /** Whose project a row is; undefined where its parents say so, or it is the deployment's. */
  readonly project?: PgColumn;
  /** By which rows are gone through where others go with them, or a rule looks at each. */
  readonly key?: PgColumn;
  readonly parents?: readonly RowParent[];
  readonly entity: EntityNaming;
  /** By which indexes an entity's rows are gone through where that is not the primary key: each has those for which `where` holds. */
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
 * What an erasure does with each table, in the order in which they are gone through: first what lets new work in, then work, then what it left.
 * A test fails for a table that is not here. Rows of a table with parents go before those.
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
  // Of a replay as well, which is a project's alone.
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
    // By the whole of its key, as it was queued and put off: a lane may have a million of others.
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
        // It is due from when its event was received, whatever its attempts.
        on: sql`${t.standingArrivals.projectId} = ${t.events.projectId} and ${t.standingArrivals.dueAt} = ${t.events.receivedAt}
          and ${t.standingArrivals.eventId} = ${t.events.id}`,
      },
    ],
    ...along(),
  },
  // They go last: what is posted meanwhile is stored as the entity's by them.
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
  // One that is narrowed to no entity is the project's.
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
  // What they sealed opens nowhere any more, also where a backup has rows of it.
  ofProject(t.dataKeys, t.dataKeys.projectId, { none: "keys of all that is the project's" }),
  // Last: everything refers to it.
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
 * An event is an entity's if it has the entity, or if it has none and names an account of the entity: it came before the account was connected.
 * An event of a version before 0.2 names an account if the payload has the reference as a text.
 */
export function isEventOf({ projectId, entityId }: NamedEntity): SQL {
  return sql`(${t.events.entityId} = ${entityId} or ${t.events.entityId} = '' and ${t.events.kind} = 'event' and exists (
    select from ${t.connectedAccounts} a cross join lateral unnest(a.references) r
    where a.project_id = ${uuidOfId(projectId)}::uuid and a.entity_id = ${entityId} and a.toolkit_slug is not distinct from ${t.events.toolkitSlug}
      and (r = ${t.events.account} or ${t.events.account} is null and position(to_json(r)::text in ${t.events.payload}) > 0)))`;
}

/** Each of its two indexes has the calls that failed, or the others, and serves a condition that says so. */
function isCallOf({ projectId, entityId }: NamedEntity): SQL {
  return sql`(${t.toolCalls.entityId} = ${entityId} and ${t.toolCalls.projectId} = ${uuidOfId(projectId)}::uuid)`;
}

/** To connect an account of it, or to answer as a contact that is reached by it. */
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
 * What an expression of the project made of an event or a call, which may be the entity's id alone or have it within: between what is no
 * letter and no digit, since an id that is part of a longer one is another's.
 */
function isWithin(entityId: string, key: PgColumn): SQL {
  const id = entityId.replace(/[\\^$.|?*+(){}[\]]/g, "\\$&");
  const isBounded = sql`${key} ~ ${`(^|[^[:alnum:]])${id}($|[^[:alnum:]])`}::text`;
  // The cheap question first: most keys do not have it at all.
  return sql`position(${entityId}::text in ${key}) > 0 and ${isBounded}`;
}

/** Whose key is the entity's id alone: where others have it within, they may be of an entity whose id is longer. */
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
  // As an array, each of which is looked up: joined, all that programs of others have may be read beside them.
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
