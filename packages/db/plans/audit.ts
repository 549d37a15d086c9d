import { uuidOfId } from "@svc/core";
import {
  chainAuditEvents,
  findAuditChainFrom,
  findAuditChains,
  findBrokenAuditChains,
  findChainedProjects,
  findSentEntities,
  hasUnchainedAuditEvents,
  listChainedAuditEvents,
  listUnchainedAuditEvents,
  lockAuditChains,
  putAuditChain,
} from "../src/audit/chains.ts";
import { endAuditEvent, insertAuditEvent, listAuditEvents } from "../src/audit/list.ts";
import { findExportPosition, findUnsentChains, putExportPosition, readHourlyUsage } from "../src/exports/positions.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
const id = seededId("aud", 500_000);
const event = {
  ...{ id, projectId, at: nowMs, actor: "admin" as const, actorId: null, action: "Test.Do1", subject: "" },
  ...{ entityDigest: null },
};
const bytes = Buffer.from([1]);
const unchained = { unknownBefore: nowMs, without: [] };
const page = { after: seededId("aud", 20_000), limit: 51 };
const ofActor = { actor: { actor: "admin" as const, id: null } };

// Recorded query plans of statements on the audit log.
plan("enter a deed", (db) => insertAuditEvent(db, event));
plan("note the outcome of a deed", (db) => endAuditEvent(db, id, { outcome: "ok" }));
plan("whether entries wait for places", (db) => hasUnchainedAuditEvents(db, unchained));
plan("entries that wait for places", (db) => listUnchainedAuditEvents(db, { ...unchained, limit: 500 }));
plan("entries of a chain", (db) => listChainedAuditEvents(db, projectId, { from: 5, to: 500, limit: 100 }));
plan("chains of projects", (db) => findAuditChains(db, [projectId]));
plan("lock the chains", lockAuditChains);
plan("entries that wait for places, but of some chains", (db) =>
  listUnchainedAuditEvents(db, { unknownBefore: nowMs, without: [projectId], limit: 500 }),
);
plan("entities of calls that were sent", (db) =>
  findSentEntities(db, [uuidOfId(seededId("call", 1)), uuidOfId(seededId("call", 2))]),
);
plan("the chain of a project or the next one", (db) => findAuditChainFrom(db, projectId, false), {
  rowsMax: { audit_chains: 1 },
});
plan("the next chain", (db) => findAuditChainFrom(db, projectId, true), { rowsMax: { audit_chains: 1 } });
plan("store a chain", (db) => putAuditChain(db, { projectId, key: bytes, length: 1, hash: bytes, mac: bytes }));
plan("give entries their places", (db) =>
  chainAuditEvents(db, [
    { id: seededId("aud", 200), position: 1_000_000, mac: bytes, hash: bytes, outcome: "ok", entityDigest: null },
  ]),
);
// A check of the audit log reads all of its entries. This query is the last part of the check.
plan("chains that are broken", findBrokenAuditChains);
plan("projects that have a chain", (db) => findChainedProjects(db, [projectId]));
plan("list_audit_events", (db) => listAuditEvents(db, { sinceMs: seededAt(5) }, page), {
  rowsMax: { audit_events: 102 },
});
for (const [name, filter] of [
  ["list_audit_events_of_action", { action: "Test.Do1" }],
  ["list_audit_events_of_project, all", { projectId }],
  ["list_audit_events_of_project, of an action", { projectId, action: "Test.Do1" }],
  ["list_audit_events_of_actor, all", ofActor],
  ["list_audit_events_of_actor, of a project and an action", { ...ofActor, projectId, action: "Test.Do1" }],
] as const)
  plan(name, (db) => listAuditEvents(db, filter, page));
plan("find_unsent_audit_chains", (db) => findUnsentChains(db, "audit x", seededId("prj", 2)), {
  wholeReads: ["audit_chains", "export_positions"],
});
plan("find_export_position", (db) => findExportPosition(db, "usage x"));
plan("put_export_position", (db) => putExportPosition(db, "usage x", { position: nowMs }));
plan("read_hourly_usage", (db) => readHourlyUsage(db, seededAt(1)));
