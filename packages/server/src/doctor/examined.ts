import { statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Catalog, Deployment } from "@svc/catalog";
import { type Clock, systemClock } from "@svc/core";
import { dataFolderAt } from "@svc/db/embedded/data-folder";
import { findRunningServer } from "@svc/db/embedded/postgres";
import { type DatabaseFacts, examineDatabase, openExamined } from "@svc/db/examine";
import type { ConfigFault } from "../config/environment.ts";
import type { Config } from "../config/settings.ts";
import type { VariableName } from "../config/variables.ts";
import { readCatalog, readDeployment } from "../start/definitions.ts";
import { measureOffset } from "../start/store.ts";

/** A problem that a check of `svc doctor` found. `mend`: how to solve it; by default, the field `mend` of the check. */
export type Problem = { readonly state: "warning" | "error"; readonly message: string; readonly mend?: string };

/** Result of a check: the problems that it found, or a text that says what is right. */
export type CheckResult = string | Problem | readonly Problem[];

/** One check of `svc doctor`. A check reads, and never changes anything. */
export type DoctorCheck = {
  readonly name: string;
  /** Variables that the check needs. If one of them has an invalid value, svc reports that value instead of running the check. */
  readonly reads?: readonly VariableName[];
  readonly run: (examined: Examined) => CheckResult | Promise<CheckResult>;
  /** How the operator solves a problem that the check finds. */
  readonly mend: string;
};

/** Properties of the machine that the checks measure. Tests give their own values. */
export type Machine = {
  readonly clock: Clock;
  /** Returns the free bytes of the disk that contains a folder. The folder may be missing. */
  freeBytes(folder: string): Promise<number>;
  /** Returns the largest number of files that this process may open. Undefined if the system does not report it. */
  openFilesMax(): number | undefined;
  /** Milliseconds that the database has to answer all questions. */
  readonly answerMs: number;
};

/** The machine on which this process runs. */
export const thisMachine: Machine = { clock: systemClock, freeBytes: freeBytesOf, openFilesMax, answerMs: 10_000 };

/**
 * The database as `svc doctor` finds it. `running`: it answered. `stopped`: the embedded database exists, and its server does not run.
 * `absent`: the data folder has no embedded database yet. `unreachable`: it did not answer, or refused the connection.
 */
export type ExaminedStore =
  | { readonly kind: "running"; readonly facts: DatabaseFacts; readonly aheadMs: number }
  | { readonly kind: "stopped" | "absent" }
  | { readonly kind: "unreachable"; readonly error: unknown };

/** The deployment that `svc doctor` examines. Each promise is made once, and all checks share it. */
export type Examined = Machine & {
  readonly config: Config;
  /** Invalid values of variables that no other check reads. */
  readonly otherFaults: readonly ConfigFault[];
  store(): Promise<ExaminedStore>;
  /** Returns the definitions of the toolkits and the deployment file. Rejects with DefinitionError if they have errors. */
  definitions(): Promise<{ readonly catalog: Catalog; readonly deployment: Deployment | undefined }>;
};

/** Returns the parts of a deployment that the checks read. Nothing is read or connected before a check needs it. */
export function examinedOf(config: Config, otherFaults: readonly ConfigFault[], machine: Machine): Examined {
  let store: Promise<ExaminedStore> | undefined;
  let definitions: ReturnType<Examined["definitions"]> | undefined;
  return {
    ...machine,
    config,
    otherFaults,
    store: () => (store ??= findStore(config, machine).catch((error: unknown) => ({ kind: "unreachable", error }))),
    definitions: () => (definitions ??= readDefinitions(config)),
  };
}

async function readDefinitions(config: Config) {
  const deployment = await readDeployment(config);
  return { deployment, catalog: await readCatalog(config, deployment) };
}

async function findStore(config: Config, machine: Machine): Promise<ExaminedStore> {
  if (config.databaseUrl !== undefined) return examineStore(config.databaseUrl, machine);
  const url = await findRunningServer(dataFolderAt(join(config.dataDir, "postgres"))).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "absent" as const;
      throw error;
    },
  );
  if (url === "absent") return { kind: "absent" };
  return url === undefined ? { kind: "stopped" } : examineStore(url, machine);
}

async function examineStore(url: string, { clock, answerMs }: Machine): Promise<ExaminedStore> {
  const db = openExamined(url);
  const done = new AbortController();
  const examining = (async () => {
    const facts = await examineDatabase(db);
    // A slow answer makes a measurement inexact, so the smallest of three counts.
    const offsets = [await measureOffset(db, clock), await measureOffset(db, clock), await measureOffset(db, clock)];
    const [aheadMs = 0] = offsets.toSorted((a, b) => Math.abs(a) - Math.abs(b));
    return { kind: "running", facts, aheadMs } as const;
  })();
  const late = clock.wait(answerMs, done.signal).then(() => {
    if (!done.signal.aborted)
      throw Object.assign(new Error(`no answer within ${answerMs / 1_000} s`), { code: "CONNECT_TIMEOUT" });
    return examining;
  });
  try {
    return await Promise.race([examining, late]);
  } finally {
    done.abort();
    // The losing promise is not awaited any more.
    examining.catch(() => {});
    late.catch(() => {});
    void db.close();
  }
}

async function freeBytesOf(folder: string): Promise<number> {
  for (let path = folder; ; path = dirname(path)) {
    const found = await statfs(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" && path !== dirname(path)) return undefined;
      throw error;
    });
    if (found !== undefined) return found.bavail * found.bsize;
  }
}

/** The part of Node's diagnostic report that svc uses. Node's types do not declare it. */
type Report = {
  excludeNetwork: boolean;
  getReport(): { readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } } };
};

function openFilesMax(): number | undefined {
  const report = process.report as unknown as Report;
  // Without this setting, the report would look up the names of connected hosts.
  report.excludeNetwork = true;
  const { soft } = report.getReport().userLimits?.open_files ?? {};
  if (soft === "unlimited") return Number.POSITIVE_INFINITY;
  return typeof soft === "number" ? soft : undefined;
}
