import { statSync } from "node:fs";
import { dirname } from "node:path";
import { formatValue } from "@svc/core";
import type { ExportTarget } from "./export-target.ts";
import { checkApart } from "./listen.ts";
import { isLoopbackHost } from "./loopback.ts";
import type { ConfigReader } from "./reader.ts";
import type { Config } from "./settings.ts";

/**
 * Checks rules about the combination of several variables, and reports each violation as a fault. For example, SVC_DATABASE_URL requires
 * SVC_VAULT_KEY.
 */
export function checkTogether(config: Config, reader: ConfigReader, platform: NodeJS.Platform): void {
  checkApart(config, config.adminListen, reader);
  const isEmbedded = reader.text("SVC_DATABASE_URL") === undefined;
  if (!isEmbedded && reader.text("SVC_VAULT_KEY") === undefined) {
    reader.fault(
      "SVC_VAULT_KEY",
      'is unset, and SVC_DATABASE_URL is set; give all its nodes the same key, such as "k1:$(openssl rand -base64 32)"',
    );
  }
  if (isEmbedded && config.role !== "all") {
    reader.fault(
      "SVC_ROLE",
      `"${config.role}" shares its database with other nodes; set SVC_DATABASE_URL, or leave the role at "all"`,
    );
  }
  if (isEmbedded && config.restoredFromMs !== undefined) {
    reader.fault(
      "SVC_RESTORED",
      "is for a database of your own, and SVC_DATABASE_URL is unset: `svc restore` leaves a mark",
    );
  }
  if (sendsTokenInClear(config.exportTarget))
    reader.fault(
      "SVC_EXPORT_TOKEN",
      "is set, and SVC_EXPORT_TO begins with http://, so others could read it; use https://",
    );
  checkProcesses(config, reader, platform);
  checkSharedPort(config, reader, platform);
  if (config.adminToken !== undefined && config.adminToken === config.bootstrapKey) {
    reader.fault(
      "SVC_BOOTSTRAP_KEY",
      "equals SVC_ADMIN_TOKEN; the administrator and a project need secrets of their own",
    );
  }
}

/** True if a token would leave this machine without encryption. */
function sendsTokenInClear(target: ExportTarget | undefined): boolean {
  if (target?.kind !== "http" || target.token === undefined) return false;
  const { protocol, hostname } = new URL(target.url);
  return protocol === "http:" && !isLoopbackHost(hostname.replace(/^\[|\]$/g, ""));
}

function checkProcesses({ processes, sandboxMode }: Config, reader: ConfigReader, platform: NodeJS.Platform): void {
  if (processes === 1) return;
  if (sandboxMode !== "off") {
    reader.fault(
      "SVC_PROCESSES",
      `"${processes}" does not work with the sandbox, which keeps its data in the memory of one process; set SVC_SANDBOX=off, or leave it at 1`,
    );
  }
  if (platform !== "linux") {
    reader.fault("SVC_PROCESSES", `"${processes}" needs Linux, where processes share a port; leave it at 1`);
  }
}

function checkSharedPort(
  { isPortShared, processes, databaseUrl }: Config,
  reader: ConfigReader,
  platform: NodeJS.Platform,
): void {
  if (!isPortShared) return;
  const name = "SVC_REUSE_PORT";
  if (platform !== "linux") reader.fault(name, '"on" needs Linux, where nodes share a port; leave it at off');
  if (processes > 1)
    reader.fault(
      name,
      '"on" does not work with SVC_PROCESSES, whose processes share the port already; use only one of both',
    );
  if (databaseUrl === undefined)
    reader.fault(name, '"on" shares the port with other nodes, which need one database; set SVC_DATABASE_URL');
}

/** Reports each folder of SVC_TOOLKITS that does not exist. */
export function checkToolkitFolders({ toolkitFolders }: Config, reader: ConfigReader): void {
  for (const folder of toolkitFolders) {
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found?.isDirectory()) continue;
    const fault = found === undefined ? "does not exist" : "is not a folder";
    reader.fault("SVC_TOOLKITS", `${formatValue(folder)} ${fault}; name folders of toolkit definitions`);
  }
}

/** Checks that the data folder exists, or that no file on its path prevents creating it. */
export function checkDataDir({ dataDir }: Config, reader: ConfigReader): void {
  for (let path = dataDir; ; path = dirname(path)) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isDirectory()) {
      reader.fault(
        "SVC_DATA_DIR",
        `${formatValue(path)} is not a folder; name a folder, which svc creates if it is missing`,
      );
    }
    if (found !== undefined || path === dirname(path)) return;
  }
}
