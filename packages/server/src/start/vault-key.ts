import { access, chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { generateVaultKey, parseVaultKeys, requireText, type VaultKey } from "@svc/core";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/environment.ts";

/**
 * Returns the configured vault keys, or those of the key file, which is created (mode 0600) together with its embedded database. Throws
 * ConfigError if such a database exists without its key.
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
        message: `${file} is missing, and the database beside it holds secrets sealed with it; restore the file, or set the variable to the key`,
      },
    ]);
  }
  await createDataDir(dataDir);
  const key = generateVaultKey();
  await writeFile(file, `${key}\n`, { mode: 0o600, flag: "wx" });
  return parseVaultKeys(key);
}

/** Returns the same keys if they exist, and creates nothing. Throws ConfigError for an invalid key file. */
export async function findVaultKeys({
  vaultKeys,
  dataDir,
}: Pick<Config, "vaultKeys" | "dataDir">): Promise<readonly VaultKey[] | undefined> {
  if (vaultKeys !== undefined) return vaultKeys;
  const file = keyFileOf(dataDir);
  const text = await readIfThere(file);
  return text === undefined ? undefined : parseKeyFile(file, text);
}

function keyFileOf(dataDir: string): string {
  return join(dataDir, "vault-key");
}

/** PostgreSQL's account, used instead of root, must be able to enter every folder created here, regardless of the umask. */
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
