import type { ProjectId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { ensureVaultCheck } from "../projects/vault-check.ts";
import { secretsOfDeployment } from "../secrets/deployment.ts";
import { secretsForProject } from "../secrets/repo.ts";
import { nowMs } from "../test-rows.ts";
import {
  destroyDataKeys,
  findDataKeys,
  listDataKeyNumbers,
  listDataKeys,
  lockDataKeys,
  putDataKeys,
  removeReplacedDataKeys,
  rewrapDataKey,
} from "../vault/data-keys.ts";
import {
  beginVaultRotation,
  findVaultCheck,
  findVaultRotation,
  forgetVaultNodes,
  leaseVaultRotation,
  listOldSubkeys,
  listRetiredVaultKeys,
  listVaultNodes,
  moveVaultRotation,
  noteVaultNode,
  putOldSubkeys,
  readVaultVersion,
  replaceVaultCheck,
} from "../vault/rotations.ts";
import type { Plan } from "./plan.ts";
import { seededAt, seededId } from "./seed.ts";

const projectId = seededId("prj", 9);
const nodeId = seededId("node", 7);
const sealed = Buffer.from("sealed");
const secret = { name: "s-7", value: sealed, createdAt: nowMs, updatedAt: nowMs };

/** A rotation every few months, of which the old ones stay. */
const rotations = ["Seq Scan", "vault_rotations_pkey()"];
/** A row a node that runs, and of one that stood still until a node ends. */
const nodes = ["Seq Scan", "vault_nodes_pkey(node_id)"];
/** One row. */
const check = ["Seq Scan", "vault_check_pkey(id)"];

const rotationOf = { toKeyId: "new", fromKeyIds: ["old"], total: 1, nowMs };
const dataKeyOf = (scope: ProjectId | "deployment") => ({ scope, use: "seal" as const, rotation: 1, wrapped: sealed });
const putKeys = (db: Executor) => putDataKeys(db, [dataKeyOf(projectId), dataKeyOf("deployment")], nowMs);
const beginRotation = (db: Executor) => beginVaultRotation(db, rotationOf);
const putSecret = (db: Executor) => secretsForProject(db, projectId).put(secret, 10_000);

const dataKeyPlans: readonly Plan[] = [
  {
    name: "data keys by their number",
    run: (db) => listDataKeys(db, 500),
    reads: { data_keys: "data_keys_pkey(number)" },
    isOrdered: true,
  },
  {
    name: "the data keys of projects",
    run: (db) => findDataKeys(db, [projectId, seededId("prj", 7)]),
    reads: { data_keys: "data_keys_project(project_id)" },
  },
  {
    name: "the data keys of the deployment",
    run: (db) => findDataKeys(db, ["deployment"]),
    reads: { data_keys: "data_keys_deployment()" },
  },
  {
    // A process that holds all keys looks which are gone, after a change.
    name: "the numbers of all data keys",
    run: (db) => listDataKeyNumbers(db),
    reads: { data_keys: ["Seq Scan", "data_keys_pkey()"] },
  },
  {
    name: "whether projects that get data keys are there",
    words: "select",
    run: putKeys,
    reads: { projects: "projects_pkey(id)" },
  },
  { name: "keep data keys", words: "insert", run: putKeys, reads: {} },
  {
    name: "wrap a data key anew",
    run: (db) => rewrapDataKey(db, 7, sealed),
    reads: { data_keys: "data_keys_pkey(number)" },
  },
  {
    // A rotation goes over all keys at its end, and reads what each scope has.
    name: "remove the data keys that a rotation replaced",
    words: "delete",
    run: async (db) => {
      await lockDataKeys(db);
      await removeReplacedDataKeys(db, 20_000);
    },
    reads: {
      data_keys: [
        ...["Seq Scan", "data_keys_pkey(number)"],
        ...["data_keys_project(project_id, use)", "data_keys_deployment(use)"],
      ],
    },
    rowsMax: { data_keys: 30_000 },
  },
  {
    name: "destroy the data keys of a project",
    run: (db) => destroyDataKeys(db, projectId),
    reads: { data_keys: "data_keys_project(project_id)" },
  },
];

const rotationPlans: readonly Plan[] = [
  {
    // Every key is counted: what a node compares tells of one that is gone.
    name: "the version of the vault",
    run: (db) => readVaultVersion(db),
    reads: { data_keys: ["Seq Scan", "data_keys_pkey()"], vault_rotations: rotations },
  },
  { name: "the last rotation", run: (db) => findVaultRotation(db), reads: { vault_rotations: rotations } },
  {
    name: "the vault keys that are refused",
    run: (db) => listRetiredVaultKeys(db),
    reads: { vault_rotations: rotations },
  },
  {
    name: "the last data key before a rotation",
    words: "max(",
    run: beginRotation,
    reads: { data_keys: "data_keys_pkey()" },
  },
  { name: "begin a rotation", words: "insert", run: beginRotation, reads: {} },
  {
    name: "hold the rotation that is under way",
    run: (db) => leaseVaultRotation(db, nodeId, { nowMs, leaseMs: 1_000 }),
    reads: { vault_rotations: rotations },
  },
  {
    name: "move a rotation",
    run: (db) => moveVaultRotation(db, { number: 1, owner: nodeId, leaseUntil: nowMs }, { pass: 2 }),
    reads: { vault_rotations: ["Seq Scan", "vault_rotations_pkey(number)"] },
  },
  {
    name: "note that a node runs",
    run: (db) => noteVaultNode(db, { nodeId, keyIds: [], rotation: 0, seenAt: nowMs }),
    reads: {},
  },
  {
    name: "forget a node that ends",
    run: (db) => forgetVaultNodes(db, nodeId, seededAt(1)),
    reads: { vault_nodes: nodes },
  },
  {
    name: "forget nodes that were not seen",
    run: (db) => forgetVaultNodes(db, undefined, seededAt(1)),
    reads: { vault_nodes: nodes },
  },
  {
    name: "the nodes that were seen",
    run: (db) => listVaultNodes(db, seededAt(1)),
    reads: { vault_nodes: nodes },
  },
  { name: "which vault key wraps", run: (db) => findVaultCheck(db), reads: { vault_check: check } },
  {
    name: "keep which vault key wraps",
    words: "insert",
    run: (db) => ensureVaultCheck(db, sealed),
    reads: {},
  },
  {
    name: "change which vault key wraps",
    run: (db) => replaceVaultCheck(db, sealed),
    reads: { vault_check: check },
  },
  {
    name: "keep what vault keys derived that go",
    run: (db) => putOldSubkeys(db, [{ keyId: "gone", purpose: "p", secret: sealed }], nowMs),
    reads: {},
  },
  {
    // All of them are read, a few a rotation.
    name: "what vault keys derived that are gone",
    run: (db) => listOldSubkeys(db),
    reads: { old_subkeys: "Seq Scan" },
  },
];

const secretPlans: readonly Plan[] = [
  {
    // All of them are wanted, of a deployment that has a few.
    name: "the secrets of the deployment",
    run: (db) => secretsOfDeployment(db).list(),
    reads: { deployment_secrets: ["Seq Scan", "deployment_secrets_pkey()"] },
  },
  {
    name: "a secret of the deployment",
    run: (db) => secretsOfDeployment(db).find("s-7"),
    reads: { deployment_secrets: "deployment_secrets_pkey(name)" },
  },
  { name: "keep a secret of the deployment", run: (db) => secretsOfDeployment(db).put(secret), reads: {} },
  {
    name: "delete a secret of the deployment",
    run: (db) => secretsOfDeployment(db).delete("s-7"),
    reads: { deployment_secrets: "deployment_secrets_pkey(name)" },
  },
  {
    name: "hold a project that gets a secret",
    words: "no key update",
    run: putSecret,
    reads: { projects: "projects_pkey(id)" },
  },
  {
    name: "how many other secrets a project has",
    words: "count(",
    run: putSecret,
    reads: { secrets: "secrets_key(project_id)" },
  },
  { name: "keep a secret", words: "insert", run: putSecret, reads: {} },
  {
    name: "delete a secret",
    run: (db) => secretsForProject(db, projectId).delete("s-8"),
    reads: { secrets: "secrets_key(project_id, name)" },
  },
];

/** Keys of the vault, their rotations and secrets. */
export const vaultPlans: readonly Plan[] = [...dataKeyPlans, ...rotationPlans, ...secretPlans];
