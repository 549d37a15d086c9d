import { createId, createSealer, generateVaultKey, idOfUuid, parseVaultKeys, systemClock } from "@svc/core";
import { createProject } from "@svc/db/projects/repo";
import { findVaultRotation } from "@svc/db/vault/rotations";
import { createTestDatabase } from "@svc/testing/database";
import { expect, test } from "vitest";
import { createLogger } from "../logger.ts";
import { checkVault } from "../start/vault-check.ts";
import { openVault } from "./open-vault.ts";

/**
 * Measures the rate of a key rotation. `SVC_VAULT_ROWS=1000000 npx vitest run packages/server/src/vault/rate.test.ts` prints the figures
 * for a million rows in docs/guides/operations/rotate-the-vault-key.md.
 */
const rows = Number(process.env["SVC_VAULT_ROWS"] ?? "2000");
const batch = 5_000;

test(`a rotation over ${rows} sealed rows, with its time and rate`, { timeout: Math.max(60_000, rows) }, async () => {
  const { db, drop } = await createTestDatabase();
  const [oldKey, newKey] = [generateVaultKey(), generateVaultKey()];
  const before = createSealer(parseVaultKeys(oldKey));
  await checkVault(db, before);
  const { id: projectId } = await createProject(db, "large", systemClock.now());
  const vault = await openVault({
    ...{ db, clock: systemClock, nodeId: createId("node", systemClock.now()), isRotating: false },
    keys: { read: async () => parseVaultKeys(`${newKey} ${oldKey}`) },
    logger: await createLogger({ level: "silent", destination: { write: () => {} } }),
    limits: { pollMs: 3_600_000, graceMs: 0 },
  });
  // Inserts steps of a job with outputs of 200 bytes, encrypted as in version 0.1.
  await db.sql.unsafe(`insert into jobs (id, project_id, status, mode, program_digest, params, step_args, key_id, principal_chain,
      content_digest, estimate, used, saga, created_at, updated_at)
    select '018bcfe5-6800-7000-8000-000000000001', id, 'succeeded', 'live', '', '{}', '{}', id, '{}', '', '{}', '{}', '{}', now(), now() from projects limit 1`);
  const jobId = idOfUuid("job", "018bcfe5-6800-7000-8000-000000000001");
  const output = Buffer.alloc(200, "x");
  for (let from = 0; from < rows; from += batch) {
    const numbers = Array.from({ length: Math.min(batch, rows - from) }, (_value, index) => from + index);
    const sealed = numbers.map((n) => before.seal(output, `${projectId}/jobs/${jobId}/steps/s${n}`).toString("hex"));
    await db.sql.unsafe(
      `insert into job_steps (job_id, step_id, ordinal, receipt, output)
       select '018bcfe5-6800-7000-8000-000000000001', 's' || n, n, '{}', decode(v, 'hex') from unnest($1::int4[], $2::text[]) as u(n, v)`,
      [`{${numbers.join(",")}}`, `{${sealed.join(",")}}`],
    );
  }
  const beganMs = performance.now();
  await vault.rotate();
  do await vault.step();
  while ((await findVaultRotation(db))?.state !== "done");
  const seconds = (performance.now() - beganMs) / 1_000;
  const { resealed = 0 } = (await findVaultRotation(db)) ?? {};
  process.stdout.write(`${resealed} values in ${seconds.toFixed(1)} s: ${Math.round(resealed / seconds)} a second\n`);
  expect(resealed).toBeGreaterThanOrEqual(rows);
  await vault.stop();
  await drop();
});
