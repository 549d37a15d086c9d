import { sql } from "drizzle-orm";
import { bigint, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { bytes, idColumn, oneOf, time } from "./columns.ts";
import { projects } from "./projects.ts";
import { dataKeyUses, vaultRotationStates } from "./words.ts";

/**
 * Data keys, which encrypt stored values. Each project has one set of them, and so has the deployment. Each data key is itself encrypted
 * with a vault key. If a project's data keys are deleted, its encrypted values can never be read again.
 */
export const dataKeys = pgTable(
  "data_keys",
  {
    /**
     * Number of the key. Every value that the key sealed has this number in its first bytes. A key that a rotation created has a higher
     * number than the keys it replaces.
     */
    number: integer("number").primaryKey().generatedAlwaysAsIdentity(),
    /** Project whose data the data key encrypts. Null for a data key of the whole deployment. */
    projectId: idColumn("prj")("project_id").references(() => projects.id),
    use: oneOf(dataKeyUses)("use").notNull(),
    /**
     * Number of the key rotation (replacement of all data keys) that created the key. 0 if the key was created when it was first needed.
     */
    rotation: integer("rotation").notNull(),
    /** The data key, sealed directly with a vault key for the context `<project, or deployment>/data_keys/<use>`. */
    wrapped: bytes("wrapped").notNull(),
    createdAt: time("created_at").notNull(),
  },
  (table) => [
    uniqueIndex("data_keys_project").on(table.projectId, table.use, table.rotation).where(sql`project_id is not null`),
    uniqueIndex("data_keys_deployment").on(table.use, table.rotation).where(sql`project_id is null`),
  ],
);

/**
 * Rotations of the vault key. Only the last rotation may still be running; `vaultRotationStates` lists the states. The node that works on a
 * rotation holds its lease (the exclusive right to work on it for a limited time). Each batch stores its changes together with the position
 * and the counts, so another node can continue.
 */
export const vaultRotations = pgTable("vault_rotations", {
  number: integer("number").primaryKey().generatedAlwaysAsIdentity(),
  state: oneOf(vaultRotationStates)("state").notNull(),
  /** The vault key that wraps all data keys from this rotation on. */
  toKeyId: text("to_key_id").notNull(),
  /**
   * Vault keys that this rotation (replacement of the key that encrypts secrets) removes from use. svc refuses them after the rotation has
   * ended.
   */
  fromKeyIds: text("from_key_ids").array().notNull(),
  /** The rotation replaces the data keys that have this number or a lower one. */
  lastOldNumber: integer("last_old_number").notNull(),
  /**
   * Number of the current pass over all tables, from 1. In each pass, the rotation encrypts again the values that still use an old key.
   * Passes are repeated until one finds no such value.
   */
  pass: integer("pass").notNull().default(1),
  /**
   * Table that a rotation of the vault key has reached in its current pass. (A rotation makes several passes over all tables.) `atKey`: key
   * of the last processed row as JSON text. Both are empty at the start.
   */
  atTable: text("at_table").notNull().default(""),
  atKey: text("at_key").notNull().default(""),
  /**
   * Number of values that the rotation has encrypted again so far. A rotation makes several passes over all tables. `resealedInPass`: the
   * number in the current pass.
   */
  resealed: bigint("resealed", { mode: "number" }).notNull().default(0),
  resealedInPass: bigint("resealed_in_pass", { mode: "number" }).notNull().default(0),
  /**
   * Number of rows that the rotation's present pass has scanned. A pass is one scan of all tables. `total`: approximate number of rows to
   * scan in a pass.
   */
  seen: bigint("seen", { mode: "number" }).notNull().default(0),
  total: bigint("total", { mode: "number" }).notNull().default(0),
  /**
   * Text for people about the problem that currently stops the replacement of the vault's key (the rotation). Empty if there is no problem.
   */
  problem: text("problem").notNull().default(""),
  /** Earliest start of the rotation's next pass. A pass is one scan of all encrypted values. */
  notBefore: time("not_before"),
  leaseOwner: idColumn("node")("lease_owner"),
  leaseUntil: time("lease_until"),
  startedAt: time("started_at").notNull(),
  finishedAt: time("finished_at"),
});

/** The running nodes and their vault keys. A rotation waits until every running node can read the values that the rotation writes. */
export const vaultNodes = pgTable("vault_nodes", {
  nodeId: idColumn("node")("node_id").primaryKey(),
  keyIds: text("key_ids").array().notNull(),
  /** Number of the last rotation whose data keys the node has loaded. A rotation replaces all data keys. */
  rotation: integer("rotation").notNull(),
  /**
   * When the node last reported that it runs. After a minute without a report, the node counts as stopped. When a stopped node returns, it
   * reads all keys again before it continues.
   */
  seenAt: time("seen_at").notNull(),
});

/**
 * Keys that were derived from removed vault keys. svc keeps them to recognize values that were made with them, for example digests. They
 * are encrypted, bound to the name `deployment/old_subkeys/<key>/<purpose>`.
 */
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

/** Named secrets of projects, which programs send in requests. The value is sealed for its project and name. No call returns it. */
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

/**
 * Secrets that verify the webhook posts to private toolkits (apps that a project defined for itself). The value is sealed for
 * `<project>/webhook_secrets/<id>`. No call returns it.
 */
export const webhookSecrets = pgTable(
  "webhook_secrets",
  {
    id: idColumn("wsc")("id").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    toolkitSlug: text("toolkit_slug").notNull(),
    value: bytes("value").notNull(),
    createdAt: time("created_at").notNull(),
    /** From this time on, the secret verifies no webhook post. Null if it has no end. */
    endsAt: time("ends_at"),
  },
  (table) => [index("webhook_secrets_toolkit").on(table.projectId, table.toolkitSlug, table.id)],
);

/** Named secrets that the deployment itself sends. The value is sealed for `deployment/deployment_secrets/<name>`. No call returns it. */
export const deploymentSecrets = pgTable("deployment_secrets", {
  name: text("name").primaryKey(),
  value: bytes("value").notNull(),
  createdAt: time("created_at").notNull(),
  updatedAt: time("updated_at").notNull(),
});
