import { sql } from "drizzle-orm";
import { bigint, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { bytes, idColumn, oneOf, time } from "./columns.ts";
import { projects } from "./projects.ts";
import { dataKeyUses, vaultRotationStates } from "./words.ts";

/**
 * The keys that values are sealed with: of each project its own, and one of the deployment. Each is wrapped by a vault key. To remove a
 * project's is to close for good whatever it sealed.
 */
export const dataKeys = pgTable(
  "data_keys",
  {
    /** Stands in the first bytes of what the key sealed. A key of a rotation has a higher one than those it takes the place of. */
    number: integer("number").primaryKey().generatedAlwaysAsIdentity(),
    /** Null: the deployment's own. */
    projectId: idColumn("prj")("project_id").references(() => projects.id),
    use: oneOf(dataKeyUses)("use").notNull(),
    /** The rotation that made it; 0: made when its project first needed one. */
    rotation: integer("rotation").notNull(),
    /** The key, sealed directly under a vault key for the context `<project, or deployment>/data_keys/<use>`. */
    wrapped: bytes("wrapped").notNull(),
    createdAt: time("created_at").notNull(),
  },
  (table) => [
    uniqueIndex("data_keys_project").on(table.projectId, table.use, table.rotation).where(sql`project_id is not null`),
    uniqueIndex("data_keys_deployment").on(table.use, table.rotation).where(sql`project_id is null`),
  ],
);

/**
 * Rotations of the vault key, the last of which may be under way: see `vaultRotationStates`. Who moves it holds its lease; position and
 * counts are written with each batch, so another goes on where it stood.
 */
export const vaultRotations = pgTable("vault_rotations", {
  number: integer("number").primaryKey().generatedAlwaysAsIdentity(),
  state: oneOf(vaultRotationStates)("state").notNull(),
  /** The vault key that wraps all data keys from now on. */
  toKeyId: text("to_key_id").notNull(),
  /** Vault keys that are refused once it is done. */
  fromKeyIds: text("from_key_ids").array().notNull(),
  /** Data keys up to this number are replaced. */
  lastOldNumber: integer("last_old_number").notNull(),
  /** From 1: how often the tables are gone through. The last pass finds nothing. */
  pass: integer("pass").notNull().default(1),
  /** The table that is gone through, and the key of the last row that was, as JSON text; empty at a beginning. */
  atTable: text("at_table").notNull().default(""),
  atKey: text("at_key").notNull().default(""),
  /** Values that were sealed anew, in all and in this pass. */
  resealed: bigint("resealed", { mode: "number" }).notNull().default(0),
  resealedInPass: bigint("resealed_in_pass", { mode: "number" }).notNull().default(0),
  /** Rows that were looked at in this pass, and how many there are, about. */
  seen: bigint("seen", { mode: "number" }).notNull().default(0),
  total: bigint("total", { mode: "number" }).notNull().default(0),
  /** What keeps it from going on, for people; empty while nothing does. */
  problem: text("problem").notNull().default(""),
  /** The next pass begins then at the earliest. */
  notBefore: time("not_before"),
  leaseOwner: idColumn("node")("lease_owner"),
  leaseUntil: time("lease_until"),
  startedAt: time("started_at").notNull(),
  finishedAt: time("finished_at"),
});

/** Which vault keys the nodes have, as far as they run: a rotation waits until all of them read what it writes. */
export const vaultNodes = pgTable("vault_nodes", {
  nodeId: idColumn("node")("node_id").primaryKey(),
  keyIds: text("key_ids").array().notNull(),
  /** The last rotation whose data keys it has. */
  rotation: integer("rotation").notNull(),
  /** A node that was not seen for a minute does not run; one that comes back reads everything anew before it goes on. */
  seenAt: time("seen_at").notNull(),
});

/** What was derived from vault keys that are gone, where it must be recognized for longer. Sealed for `deployment/old_subkeys/<key>/<purpose>`. */
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

/** What a project keeps by name for the requests of its programs. The value is sealed for its project and name, and no call returns it. */
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

/** What the deployment itself sends, by name. The value is sealed for `deployment/deployment_secrets/<name>`, and no call returns it. */
export const deploymentSecrets = pgTable("deployment_secrets", {
  name: text("name").primaryKey(),
  value: bytes("value").notNull(),
  createdAt: time("created_at").notNull(),
  updatedAt: time("updated_at").notNull(),
});
