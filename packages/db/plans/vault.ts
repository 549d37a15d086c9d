import type { ProjectId } from "@svc/core";
import { ensureVaultCheck } from "../src/projects/repo.ts";
import { secretsOfDeployment } from "../src/secrets/deployment.ts";
import { secretsForProject } from "../src/secrets/repo.ts";
import { nowMs } from "../src/test-rows.ts";
import {
  destroyDataKeys,
  findDataKeys,
  listDataKeyNumbers,
  listDataKeys,
  lockDataKeys,
  putDataKeys,
  removeReplacedDataKeys,
  rewrapDataKey,
} from "../src/vault/data-keys.ts";
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
} from "../src/vault/rotations.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 9);
const nodeId = seededId("node", 7);
const sealed = Buffer.from("sealed");
const secret = { name: "s-7", value: sealed, createdAt: nowMs, updatedAt: nowMs };

const rotationOf = { toKeyId: "new", fromKeyIds: ["old"], total: 1, nowMs };
const dataKeyOf = (scope: ProjectId | "deployment") => ({ scope, use: "seal" as const, rotation: 1, wrapped: sealed });

plan("data keys by their number", (db) => listDataKeys(db, 500));
plan("the data keys of projects", (db) => findDataKeys(db, [projectId, seededId("prj", 7)]));
plan("the data keys of the deployment", (db) => findDataKeys(db, ["deployment"]));
// A process with a copy of all data keys reads their numbers after a change, to find those that were deleted.
plan("the numbers of all data keys", (db) => listDataKeyNumbers(db));
plan("keep data keys", (db) => putDataKeys(db, [dataKeyOf(projectId), dataKeyOf("deployment")], nowMs));
plan("wrap a data key anew", (db) => rewrapDataKey(db, 7, sealed));
// At its end, a rotation of the vault key reads all data keys, one scope after another.
plan(
  "remove the data keys that a rotation replaced",
  async (db) => {
    await lockDataKeys(db);
    await removeReplacedDataKeys(db, 20_000);
  },
  { rowsMax: { data_keys: 30_000 } },
);
plan("destroy the data keys of a project", (db) => destroyDataKeys(db, projectId));

// Counts all data keys. A node compares the count with its own to detect a deleted key.
plan("the version of the vault", (db) => readVaultVersion(db));
plan("the last rotation", (db) => findVaultRotation(db));
plan("the vault keys that are refused", (db) => listRetiredVaultKeys(db));
plan("begin a rotation", (db) => beginVaultRotation(db, rotationOf));
plan("hold the rotation that is under way", (db) => leaseVaultRotation(db, nodeId, { nowMs, leaseMs: 1_000 }));
plan("move a rotation", (db) => moveVaultRotation(db, { number: 1, owner: nodeId, leaseUntil: nowMs }, { pass: 2 }));
plan("note that a node runs", (db) => noteVaultNode(db, { nodeId, keyIds: [], rotation: 0, seenAt: nowMs }));
plan("forget a node that ends", (db) => forgetVaultNodes(db, nodeId, seededAt(1)));
plan("forget nodes that were not seen", (db) => forgetVaultNodes(db, undefined, seededAt(1)));
plan("the nodes that were seen", (db) => listVaultNodes(db, seededAt(1)));
plan("which vault key wraps", (db) => findVaultCheck(db));
plan("keep which vault key wraps", (db) => ensureVaultCheck(db, sealed));
plan("change which vault key wraps", (db) => replaceVaultCheck(db, sealed));
plan("keep what vault keys derived that go", (db) =>
  putOldSubkeys(db, [{ keyId: "gone", purpose: "p", secret: sealed }], nowMs),
);
// Reads all old derived keys. There are few, because each rotation adds only a few.
plan("what vault keys derived that are gone", (db) => listOldSubkeys(db));

// Reads all secrets of the deployment, because there are only few.
plan("the secrets of the deployment", (db) => secretsOfDeployment(db).list());
plan("a secret of the deployment", (db) => secretsOfDeployment(db).find("s-7"));
plan("keep a secret of the deployment", (db) => secretsOfDeployment(db).put(secret));
plan("delete a secret of the deployment", (db) => secretsOfDeployment(db).delete("s-7"));
plan("keep a secret", (db) => secretsForProject(db, projectId).put(secret, 10_000));
plan("delete a secret", (db) => secretsForProject(db, projectId).delete("s-8"));
