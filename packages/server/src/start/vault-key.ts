import { access, chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { generateVaultKey, parseVaultKeys, requireText, type VaultKey } from "@svc/core";
import { ConfigError } from "../config/environment.ts";
import type { Config } from "../config/settings.ts";

/**
 * Returns the configured vault keys, or the keys in the key file. Creates the key file (mode 0600) if the embedded database does not exist
 * yet. Throws ConfigError if the embedded database exists but its key file does not.
 */
export async function readVaultKeys({
  vaultKeys,
  dataDir,
}: Pick<Config, "vaultKeys" | "dataDir">): Promise<readonly VaultKey[]> {
  const present = await findVaultKeys({ vaultKeys, dataDir });
  if (present !== undefined) return present;
  const file = keyFileOf(dataDir);
  if (await isThere(join(dataDir, "postgres"))) {
    throw new ConfigError([
      {
        variable: "SVC_VAULT_KEY",
        message: `${file} is missing, and the database in the same folder has secrets sealed with it; restore the file, or set the variable to the key`,
      },
    ]);
  }
  await createDataDir(dataDir);
  const key = generateVaultKey();
  await writeFile(file, `${key}\n`, { mode: 0o600, flag: "wx" });
  return parseVaultKeys(key);
}

/**
 * Returns the configured vault keys, or the keys in the key file. Creates no file; returns undefined if there are no keys. Throws
 * ConfigError if the key file is invalid.
 */
export async function findVaultKeys({
  vaultKeys,
  dataDir,
}: Pick<Config, "vaultKeys" | "dataDir">): Promise<readonly VaultKey[] | undefined> {
  if (vaultKeys !== undefined) return vaultKeys;
  const file = keyFileOf(dataDir);
  const text = await readIfThere(file);
  return text === undefined ? undefined : parseKeyFile(file, text);
}

/** Returns the path of the file that contains the vault keys if SVC_VAULT_KEY is not set. */
export function keyFileOf(dataDir: string): string {
  return join(dataDir, "vault-key");
}

/**
 * Creates the data folder and missing folders above it. PostgreSQL refuses to run as root, so a server that runs as root starts it with
 * another account. This account must be able to enter every new folder, so the permissions are set whatever the umask is.
 */
async function createDataDir(dataDir: string): Promise<void> {
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  const first = await mkdir(dataDir, { recursive: true });
  if (first === undefined) return;
  for (let folder = dataDir; folder.length >= first.length; folder = dirname(folder)) await chmod(folder, mode);
}

function parseKeyFile(file: string, text: string): VaultKey[] {
  try {
    return parseVaultKeys(text);
  } catch (error) {
    throw new ConfigError([{ variable: "SVC_VAULT_KEY", message: `${file}: ${(error as Error).message}` }]);
  }
}

/** Returns the text of a file; undefined if it does not exist. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return requireText(await readFile(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
