import { sql } from "drizzle-orm";
import { bigint, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { bytes, idColumn, oneOf, time } from "./columns.ts";
import { projects } from "./projects.ts";
import { dataKeyUses, vaultRotationStates } from "./words.ts";

/**
 * Keys that seal values: one set per project, and one for the deployment, each wrapped by a vault key. Deleting a project's keys makes all
 * its sealed values unreadable.
 */
export const dataKeys = pgTable(
  "data_keys",
  {
    /** In the first bytes of every value the key sealed. A key from a rotation has a higher number than the keys it replaces. */
    number: integer("number").primaryKey().generatedAlwaysAsIdentity(),
    /** Null: the deployment's own key. */
    projectId: idColumn("prj")("project_id").references(() => projects.id),
    use: oneOf(dataKeyUses)("use").notNull(),
    /** The rotation that created it; 0 if it was created on first use. */
    rotation: integer("rotation").notNull(),
    /** The key, sealed directly with a vault key for the context `<project, or deployment>/data_keys/<use>`. */
    wrapped: bytes("wrapped").notNull(),
    createdAt: time("created_at").notNull(),
  },
  (table) => [
    uniqueIndex("data_keys_project").on(table.projectId, table.use, table.rotation).where(sql`project_id is not null`),
    uniqueIndex("data_keys_deployment").on(table.use, table.rotation).where(sql`project_id is null`),
  ],
);

/**
 * Rotations of the vault key; the last one may be running: see `vaultRotationStates`. The node that works on it holds its lease. Position
 * and counts are written with each batch, so another node can continue.
 */
export const vaultRotations = pgTable("vault_rotations", {
  number: integer("number").primaryKey().generatedAlwaysAsIdentity(),
  state: oneOf(vaultRotationStates)("state").notNull(),
  /** The vault key that wraps all data keys from now on. */
  toKeyId: text("to_key_id").notNull(),
  /** Vault keys that are refused after its end. */
  fromKeyIds: text("from_key_ids").array().notNull(),
  /** Data keys up to this number are replaced. */
  lastOldNumber: integer("last_old_number").notNull(),
  /** Number of the current pass over the tables, from 1. The last pass finds nothing. */
  pass: integer("pass").notNull().default(1),
  /** Current table, and the key of the last processed row as JSON text; empty at the start. */
  atTable: text("at_table").notNull().default(""),
  atKey: text("at_key").notNull().default(""),
  /** Values sealed again: in total, and in this pass. */
  resealed: bigint("resealed", { mode: "number" }).notNull().default(0),
  resealedInPass: bigint("resealed_in_pass", { mode: "number" }).notNull().default(0),
  /** Rows scanned in this pass, and their approximate total. */
  seen: bigint("seen", { mode: "number" }).notNull().default(0),
  total: bigint("total", { mode: "number" }).notNull().default(0),
  /** Current obstacle, for people; empty if there is none. */
  problem: text("problem").notNull().default(""),
  /** Earliest start of the next pass. */
  notBefore: time("not_before"),
  leaseOwner: idColumn("node")("lease_owner"),
  leaseUntil: time("lease_until"),
  startedAt: time("started_at").notNull(),
  finishedAt: time("finished_at"),
});

/** Vault keys of the running nodes: a rotation waits until all of them can read what it writes. */
export const vaultNodes = pgTable("vault_nodes", {
  nodeId: idColumn("node")("node_id").primaryKey(),
  keyIds: text("key_ids").array().notNull(),
  /** The last rotation whose data keys it has loaded. */
  rotation: integer("rotation").notNull(),
  /** A node without a sign of life for a minute counts as stopped; when it returns, it reads everything again before it continues. */
  seenAt: time("seen_at").notNull(),
});

/** Subkeys derived from removed vault keys, if they must be recognized for longer. Sealed for `deployment/old_subkeys/<key>/<purpose>`. */
export const oldSubkeys = pgTable(
  "old_subkeys",
  {
    keyId: text("key_id").notNull(),
    purpose: text("purpose").notNull(),
    secret: bytes("secret").notNull(),
    createdAt: time("created_at").notNull(),
  },
  (table) => [primaryKey({ name: "old_subkeys_key", columns: [table.keyId, table.purpose] })],
);

/** Named secrets of a project, for the requests of its programs. The value is sealed for its project and name, and no call returns it. */
export const secrets = pgTable(
  "secrets",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    name: text("name").notNull(),
    value: bytes("value").notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
  },
  (table) => [primaryKey({ name: "secrets_key", columns: [table.projectId, table.name] })],
);

/** Named secrets that the deployment itself sends. The value is sealed for `deployment/deployment_secrets/<name>`, and no call returns it. */
export const deploymentSecrets = pgTable("deployment_secrets", {
  name: text("name").primaryKey(),
  value: bytes("value").notNull(),
  createdAt: time("created_at").notNull(),
  updatedAt: time("updated_at").notNull(),
});
