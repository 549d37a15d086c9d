import { stat } from "node:fs/promises";
import { createSealer, isoTime, type VaultKey } from "@svc/core";
import { poolerText } from "@svc/db/driver";
import type { DatabaseFacts } from "@svc/db/examine";
import { findLastBackup } from "../backup/last-backup.ts";
import { ConfigError } from "../config/environment.ts";
import { loopbackRanges } from "../config/loopback.ts";
import type { Config } from "../config/settings.ts";
import { describeStartFault } from "../start/refusal.ts";
import { openVaultCheck } from "../start/vault-check.ts";
import { findVaultKeys, keyFileOf } from "../start/vault-key.ts";
import type { CheckResult, DoctorCheck, Examined, Problem } from "./examined.ts";

/** The check that the database answers, and that svc has the permissions there that it needs. */
export const databaseCheck: DoctorCheck = {
  name: "database",
  reads: ["SVC_DATABASE_URL", "SVC_DATA_DIR"],
  run: checkDatabase,
  mend: "Check that PostgreSQL runs, and correct the address, user and password in SVC_DATABASE_URL.",
};

/** The check that the clocks of this machine and of the database agree. */
export const clockCheck: DoctorCheck = {
  name: "clock",
  reads: ["SVC_DATABASE_URL"],
  run: checkClock,
  mend: "Synchronize the clocks of both machines by NTP.",
};

/** The check of the free space for the embedded database. */
export const diskCheck: DoctorCheck = {
  name: "disk",
  reads: ["SVC_DATA_DIR"],
  run: checkDisk,
  mend: "Give the disk more space, or delete other files on it. Never delete files of the data folder.",
};

/** The check that the vault key exists, is secret, and is the key of the database. */
export const vaultKeyCheck: DoctorCheck = {
  name: "vault key",
  reads: ["SVC_VAULT_KEY", "SVC_DATABASE_URL", "SVC_DATA_DIR"],
  run: checkVaultKey,
  mend: "Set SVC_VAULT_KEY to the vault key of this database, which every node needs.",
};

/** The check that a recent backup of the database exists. */
export const backupsCheck: DoctorCheck = {
  name: "backups",
  reads: ["SVC_DATABASE_URL", "SVC_DATA_DIR"],
  run: checkBackups,
  mend: "Run `svc backup <file>` every day.",
};

async function checkDatabase({ config, store }: Examined): Promise<CheckResult> {
  const found = await store();
  switch (found.kind) {
    case "unreachable":
      return databaseProblem(found.error, config);
    case "stopped":
    case "absent":
      return {
        state: "warning",
        message: `the embedded PostgreSQL in ${config.dataDir} ${found.kind === "stopped" ? "does not run" : "does not exist yet"}, and this command does not start it`,
        mend: "Start `svc serve`, and run `svc doctor` again.",
      };
    case "running":
      return judgeFacts(found.facts, config);
  }
}

function databaseProblem(error: unknown, config: Config): Problem {
  const { code, message = String(error) } = error as NodeJS.ErrnoException;
  if (config.databaseUrl === undefined && code === "EACCES") {
    return {
      state: "error",
      message: `this account cannot read the data folder ${config.dataDir} (EACCES)`,
      mend: "Run this command as the account of the service, or as root.",
    };
  }
  const isUnknownHost = config.databaseUrl !== undefined && (code === "ENOTFOUND" || code === "EAI_AGAIN");
  const unknown = `SVC_DATABASE_URL: the host of the database has no address (${code}); check its name`;
  return { state: "error", message: isUnknownHost ? unknown : (describeStartFault(error, config) ?? message) };
}

function judgeFacts(facts: DatabaseFacts, { databaseUrl }: Config): CheckResult {
  const { version, role, migrations } = facts;
  const problems = problemsOf(facts);
  if (problems.length > 0) return problems;
  const kind = databaseUrl === undefined ? "the embedded PostgreSQL" : "PostgreSQL";
  const pending = migrations.pending === 0 ? "" : `; the next start applies ${migrations.pending} migrations`;
  return `${kind} ${version} answers, and the role ${role} may do what svc needs${pending}`;
}

function problemsOf({
  version,
  isTooOld,
  isPooled,
  isReadOnly,
  role,
  missingRights,
  migrations,
}: DatabaseFacts): Problem[] {
  const problems: Problem[] = [];
  const add = (message: string, mend: string) => problems.push({ state: "error", message, mend });
  if (isTooOld) add(`the server is PostgreSQL ${version}, and svc needs 15 or newer`, "Upgrade PostgreSQL.");
  if (isPooled) add(poolerText, "Write the address of PostgreSQL itself into SVC_DATABASE_URL.");
  if (isReadOnly)
    add(
      "the server accepts no writes, because it is a standby or read-only",
      "Name the primary in SVC_DATABASE_URL, or list all servers with target_session_attrs=read-write.",
    );
  if (missingRights.length > 0)
    add(
      `the role ${role} lacks ${missingRights.join(", ")}`,
      "Make the role the owner of the database and of all its tables.",
    );
  if (migrations.unknown > 0)
    add(
      `the database has ${migrations.unknown} migrations that this version of svc does not know`,
      "Start the newer version of svc that migrated the database, or restore an older database.",
    );
  return problems;
}

/** Differences of the two clocks in milliseconds from which `svc doctor` warns, and from which it reports an error. */
const [skewedMs, badlySkewedMs] = [1_000, 30_000];

async function checkClock({ config, store }: Examined): Promise<CheckResult> {
  const found = await store();
  if (config.databaseUrl === undefined) return "the embedded PostgreSQL has the clock of this machine";
  if (found.kind !== "running") return unchecked("the database did not answer");
  const skewMs = Math.abs(found.aheadMs);
  const direction = found.aheadMs > 0 ? "later" : "earlier";
  if (skewMs < skewedMs) return "this machine and the database have the same time";
  return {
    state: skewMs < badlySkewedMs ? "warning" : "error",
    message: `the time of the database is ${Math.round(skewMs / 1_000)} s ${direction} than the time of this machine`,
  };
}

function unchecked(why: string): Problem {
  return { state: "warning", message: `not checked: ${why}`, mend: "Solve the problem of the check `database` first." };
}

/** Free bytes below which `svc doctor` warns, and below which it reports an error. PostgreSQL's log alone may take 1 GB. */
const [scarceBytes, fewBytes] = [5e9, 1e9];

async function checkDisk({ config: { databaseUrl, dataDir }, freeBytes }: Examined): Promise<CheckResult> {
  if (databaseUrl !== undefined)
    return "not needed: the data is on the disk of your own PostgreSQL, which svc cannot see";
  const bytes = await freeBytes(dataDir);
  const text = `${(bytes / 1e9).toFixed(1)} GB are free for ${dataDir}`;
  if (bytes >= scarceBytes) return text;
  return { state: bytes < fewBytes ? "error" : "warning", message: `only ${text}` };
}

async function checkVaultKey({ config, store }: Examined): Promise<CheckResult> {
  const { vaultKeys, dataDir } = config;
  const file = keyFileOf(dataDir);
  let keys: readonly VaultKey[] | undefined;
  try {
    keys = await findVaultKeys(config);
  } catch (error) {
    return {
      state: "error",
      message: keyFault(error, file),
      mend: `Correct ${file}, or run this as the service's account.`,
    };
  }
  const found = await store();
  if (keys === undefined) {
    if (found.kind === "absent") return `the first start writes a new one to ${file}`;
    return {
      state: "error",
      message: `SVC_VAULT_KEY is unset, and ${file} is missing: svc cannot read its sealed values`,
    };
  }
  return (await problemOfKeys(keys, vaultKeys === undefined ? file : undefined)) ?? compareKeys(keys, found);
}

function keyFault(error: unknown, file: string): string {
  if (error instanceof ConfigError) return error.faults.map(({ message }) => message).join("; ");
  return `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown reason"})`;
}

/** Returns the problem of vault keys that are not secret; undefined if there is none. `file`: the file that contains them. */
async function problemOfKeys(keys: readonly VaultKey[], file: string | undefined): Promise<Problem | undefined> {
  // Tests and examples use keys of 32 equal bytes. Everyone knows them.
  const known = keys.find(({ secret }) => secret.every((byte) => byte === secret[0]));
  if (known !== undefined) {
    return {
      state: "error",
      message: `the vault key ${known.id} has 32 equal bytes, as in development: everyone can guess it`,
      mend: "Make a key with `openssl rand -base64 32`, and put it into use with `svc vault rotate`.",
    };
  }
  if (file === undefined || ((await stat(file)).mode & 0o077) === 0) return undefined;
  return { state: "warning", message: `other accounts can read ${file}`, mend: `Run chmod 600 ${file}.` };
}

function compareKeys(keys: readonly VaultKey[], found: Awaited<ReturnType<Examined["store"]>>): CheckResult {
  const ids = keys.map(({ id }) => id).join(", ");
  const sealed = found.kind === "running" ? found.facts.vaultCheck : undefined;
  if (sealed === undefined) return `set (${ids}), and not compared with the database`;
  try {
    openVaultCheck(sealed, createSealer(keys));
    return `set (${ids}), and it is the key of the database`;
  } catch (error) {
    return { state: "error", message: keyFault(error, "") };
  }
}

/** Age in milliseconds from which a backup is old. It is an hour more than a day, because a backup takes its time. */
const oldBackupMs = 25 * 3_600_000;

async function checkBackups({ config, clock, store }: Examined): Promise<CheckResult> {
  if (config.databaseUrl !== undefined)
    return "not known: the backups of your own PostgreSQL are made by its own tools";
  if ((await store()).kind === "absent") return "not needed: there is no embedded database yet";
  const last = await findLastBackup(config.dataDir);
  if (last === undefined) {
    if (loopbackRanges(config).length > 0) return "none so far by `svc backup`, and only this machine reaches svc";
    return { state: "warning", message: "`svc backup` has made no backup of the embedded database yet" };
  }
  const ageMs = clock.now() - last.endsAtMs;
  const text = `the last one ended at ${isoTime(last.endsAtMs)}, in ${last.file}`;
  if (ageMs < oldBackupMs) return text;
  return { state: "warning", message: `older than a day: ${text}` };
}
