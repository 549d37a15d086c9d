import { callLimitsForProject } from "../src/call-limits/repo.ts";
import { toolkitClientsForProject } from "../src/catalog/clients.ts";
import { privateToolkitsForProject } from "../src/catalog/repo.ts";
import { toolkitSourcesForProject } from "../src/catalog/sources.ts";
import {
  claimSource,
  countSourcesWithChanges,
  hastenSource,
  listDueSources,
  settleSource,
} from "../src/catalog/watched-sources.ts";
import type { Executor } from "../src/connect.ts";
import { eventTypesForProject } from "../src/event-types/repo.ts";
import { findEventsByKey } from "../src/events/find-by-key.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
const toolkit = { slug: "desk_new", definition: "{}", originDigest: Buffer.alloc(32), toolCount: 1, updatedAt: nowMs };
// Project 60 can get a new toolkit. Project 1 cannot, because it has the maximum.
const put = (db: Executor) => privateToolkitsForProject(db, seededId("prj", 60)).put(toolkit);
const eventTypes = (db: Executor) => eventTypesForProject(db, projectId);
const eventType = {
  ...{ name: "type-new", schema: "{}", description: "", sample: "{}", archivedAt: null, offered: false },
};
const keys = Array.from({ length: 100 }, (_, n) => ({ triggerSlug: "desk.changed", dedupeKey: `key-${n}` }));
// Project 1 has the toolkit `desk_5`.
const remove = (db: Executor) => privateToolkitsForProject(db, projectId).delete("desk_5", nowMs);
const limit = {
  ...{ name: "limit-new", toolkitSlug: "", keyExpression: "", concurrency: 1, rateMax: 0, ratePerMs: 0 },
  ...{ isPaused: false, createdAt: nowMs, updatedAt: nowMs },
};
const putLimit = (db: Executor) => callLimitsForProject(db, projectId).put(limit, 100_000);

plan("replace the search phrases of a toolkit", (db) =>
  privateToolkitsForProject(db, projectId).putPhrases("desk_5", "{}"),
);
plan("the private toolkits of a project", (db) => privateToolkitsForProject(db, projectId).list());
plan("keep a private toolkit", put);
plan("delete a private toolkit", remove);

const sources = (db: Executor) => toolkitSourcesForProject(db, projectId);
const waiting = { changes: "{}", changesDigest: Buffer.alloc(32), changesCount: 1, nextDefinition: "{}" };
const listingAccountId = seededId("acc", 1);
const read = { digest: Buffer.alloc(32), options: "{}", refreshedAt: nowMs, listingAccountId };
const source = { kind: "openapi", origin: "", nextAt: null, ...read } as const;
const nothing = { changes: null, changesDigest: null, changesCount: 0, lastError: "" };
const before = { ...source, ...nothing, slug: "desk_5", version: 1, listingAccountId: null };
const desk = { ...toolkit, slug: "desk_5" };
plan("keep an imported toolkit", (db) =>
  privateToolkitsForProject(db, seededId("prj", 60)).put(toolkit, {
    mustBeNew: false,
    source: { kind: "put", source },
  }),
);
plan("accept the changes of a toolkit's source", (db) =>
  privateToolkitsForProject(db, seededId("prj", 60)).put(desk, {
    mustBeNew: false,
    source: { kind: "accept", changesDigest: Buffer.alloc(32), options: "{}", rest: undefined },
  }),
);
plan("accept the changes of a trusted source", (db) =>
  privateToolkitsForProject(db, seededId("prj", 60)).put(desk, {
    mustBeNew: false,
    source: { kind: "trust", before, read, acceptedDigest: "", rest: undefined },
  }),
);
plan("the source of a toolkit", (db) => sources(db).find("desk_5"));
plan("the definitions of a toolkit and its source", (db) => sources(db).findDefinitions("desk_5"));
plan("keep the changes of a toolkit's source", (db) =>
  sources(db).refresh(before, { ...read, definition: "{}", waiting }),
);
plan("keep why a toolkit's source could not be read", (db) => sources(db).reportFailure(before, "away"));
const lease = { projectId, slug: "desk_5", leaseUntilMs: nowMs + 60_000 };
plan("list_due_sources", (db) => listDueSources(db, nowMs, 8));
plan("take the lease of a due source", (db) => claimSource(db, lease, nowMs));
plan("end the lease of a source", (db) => settleSource(db, lease, { nextAt: nowMs, pauseUntil: nowMs }));
plan("make a source due", (db) => hastenSource(db, lease, nowMs));
plan("count_waiting_sources", (db) => countSourcesWithChanges(db, 10_000));

const clients = (db: Executor) => toolkitClientsForProject(db, projectId);
const client = {
  ...{ issuer: "https://login.example.com", tokenUrl: "https://login.example.com/token", clientId: "c" },
  ...({ clientSecret: null, secretPlace: null, registration: "manual", expiresAt: null } as const),
  updatedAt: nowMs,
};
plan("the OAuth clients of a project's toolkits", (db) => clients(db).list());
plan("the OAuth client of a toolkit", (db) => clients(db).find("desk_5"));
plan("keep the OAuth client of a toolkit", (db) =>
  toolkitClientsForProject(db, seededId("prj", 60)).put({ ...client, slug: "desk_new" }),
);
plan("keep the OAuth client of a toolkit that exists", (db) =>
  clients(db).put({ ...client, slug: "desk_5" }, { needsToolkit: true }),
);
plan("delete the OAuth client of a toolkit", (db) => clients(db).delete("desk_5"));
plan("keep a toolkit with an OAuth client that its import found", (db) =>
  privateToolkitsForProject(db, seededId("prj", 60)).put(toolkit, { mustBeNew: false, client }),
);

plan("a page of event types", (db) => eventTypes(db).list({ after: "type-5", limit: 1_000 }));
plan("a page of offered event types", (db) => eventTypes(db).list({ after: "type-5", limit: 1_000, isOffered: true }));
plan("the sizes of a page of event types", (db) => eventTypes(db).sizes({ after: "type-5", limit: 1_000 }));
plan("event types by name", (db) => eventTypes(db).find(["type-5", "type-7", "type-10"]));
plan("the versions of an event type", (db) => eventTypes(db).versions("type-5", 100));
plan("a version of an event type", (db) => eventTypes(db).schemaOf("type-5", 2));
plan("make an event type", (db) => eventTypes(db).put(eventType, nowMs, { most: 100_000 }));
plan("try an event type", (db) => eventTypes(db).put(eventType, nowMs, { most: 100_000, isTrial: true }));
plan("the settings of a project's events", (db) => eventTypes(db).settings());
plan("keep the settings of a project's events", (db) => eventTypes(db).putSettings({ unknownTypes: "create" }));
plan("find_events_by_key", (db) => findEventsByKey(db, projectId, keys));

plan("keep a call limit", putLimit);
plan("delete a call limit", (db) => callLimitsForProject(db, projectId).delete("limit-5"));
