import { uuidOfId } from "@svc/core";
import {
  findAuditChainFrom,
  findAuditChains,
  findBrokenAuditChains,
  findChainedProjects,
  findSentEntities,
  hasUnplacedAuditEvents,
  listPlacedAuditEvents,
  listUnplacedAuditEvents,
  lockAuditChains,
  placeAuditEvents,
  putAuditChain,
} from "../audit/chains.ts";
import { endAuditEvent, insertAuditEvent } from "../audit/events.ts";
import { type AuditFilter, listAuditEvents } from "../audit/list.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededAt, seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
const id = seededId("aud", 500_000);
const event = {
  ...{ id, projectId, at: nowMs, actor: "admin" as const, actorId: null, action: "Test.Do1", subject: "" },
  ...{ entityDigest: null },
};
const bytes = Buffer.from([1]);
const unplaced = { unknownBefore: nowMs, without: [] };
const page = { after: seededId("aud", 20_000), limit: 51 };
const ofActor = { actor: { actor: "admin" as const, id: null } };
const actorKey = "(actor || COALESCE(actor_id::text, ''::text))";
const byActor = [
  `audit_events_actor(${actorKey}, project_id, action)`,
  `audit_events_actor(${actorKey}, project_id, action, id)`,
];

function listed(name: string, variant: string, filter: AuditFilter, index: string | readonly string[]): Plan {
  const reads = [index, "audit_events_pkey(id)"].flat();
  return { name, variant, run: (db) => listAuditEvents(db, filter, page), reads: { audit_events: reads } };
}

/** The audit log. */
export const auditPlans: readonly Plan[] = [
  { name: "enter a deed", run: (db) => insertAuditEvent(db, event), reads: {} },
  {
    name: "note the outcome of a deed",
    run: (db) => endAuditEvent(db, id, { outcome: "ok" }),
    reads: { audit_events: ["audit_events_waiting(id)", "audit_events_pkey(id)"] },
  },
  {
    name: "whether entries wait for places",
    run: (db) => hasUnplacedAuditEvents(db, unplaced),
    reads: { audit_events: "audit_events_waiting()" },
  },
  {
    name: "entries that wait for places",
    isOrdered: true,
    run: (db) => listUnplacedAuditEvents(db, { ...unplaced, limit: 500 }),
    reads: { audit_events: "audit_events_waiting()" },
  },
  {
    name: "entries of a chain",
    isOrdered: true,
    run: (db) => listPlacedAuditEvents(db, projectId, { from: 5, to: 500, limit: 100 }),
    reads: { audit_events: 'audit_events_position(project_id, "position")' },
  },
  {
    name: "chains of projects",
    run: (db) => findAuditChains(db, [projectId]),
    reads: { audit_chains: "audit_chains_pkey(project_id)" },
  },
  { name: "lock the chains", run: lockAuditChains, reads: {} },
  {
    name: "entries that wait for places, but of some chains",
    isOrdered: true,
    run: (db) => listUnplacedAuditEvents(db, { unknownBefore: nowMs, without: [projectId], limit: 500 }),
    reads: { audit_events: "audit_events_waiting()" },
  },
  {
    name: "entities of calls that were sent",
    run: (db) => findSentEntities(db, [uuidOfId(seededId("call", 1)), uuidOfId(seededId("call", 2))]),
    reads: { tool_calls: "tool_calls_pkey(id)" },
  },
  {
    name: "the chain of a project or the next one",
    isOrdered: true,
    run: (db) => findAuditChainFrom(db, projectId, false),
    reads: { audit_chains: "audit_chains_pkey(project_id)" },
    rowsMax: { audit_chains: 1 },
  },
  {
    name: "the next chain",
    isOrdered: true,
    run: (db) => findAuditChainFrom(db, projectId, true),
    reads: { audit_chains: "audit_chains_pkey(project_id)" },
    rowsMax: { audit_chains: 1 },
  },
  {
    name: "store a chain",
    run: (db) => putAuditChain(db, { projectId, key: bytes, length: 1, hash: bytes, mac: bytes }),
    reads: {},
  },
  {
    name: "give entries their places",
    run: (db) =>
      placeAuditEvents(db, [
        { id: seededId("aud", 200), position: 1_000_000, mac: bytes, hash: bytes, outcome: "ok", entityDigest: null },
      ]),
    reads: { audit_events: ["audit_events_pkey(id)", "audit_events_waiting(id)"] },
  },
  {
    name: "chains that are broken",
    // Whoever verifies the log reads all of it, entry by entry; this is its end.
    run: findBrokenAuditChains,
    reads: {
      audit_events: "audit_events_position()",
      audit_chains: ["Seq Scan", "audit_chains_pkey()", "audit_chains_pkey(project_id)"],
    },
  },
  {
    name: "projects that have a chain",
    run: (db) => findChainedProjects(db, [projectId]),
    reads: { audit_chains: "audit_chains_pkey(project_id)" },
  },
  {
    name: "list_audit_events",
    run: (db) => listAuditEvents(db, { sinceMs: seededAt(5) }, page),
    reads: { audit_events: "audit_events_pkey(id)" },
    rowsMax: { audit_events: 102 },
  },
  listed("list_audit_events_of_action", "", { action: "Test.Do1" }, "audit_events_action(action, id)"),
  listed("list_audit_events_of_project", "all", { projectId }, [
    "audit_events_project(project_id, action)",
    "audit_events_project(project_id, action, id)",
  ]),
  listed("list_audit_events_of_project", "of an action", { projectId, action: "Test.Do1" }, [
    "audit_events_project(project_id, action)",
    "audit_events_project(project_id, action, id)",
  ]),
  listed("list_audit_events_of_actor", "all", ofActor, byActor),
  listed(
    "list_audit_events_of_actor",
    "of a project and an action",
    { ...ofActor, projectId, action: "Test.Do1" },
    byActor,
  ),
];
