import { chmod, mkdtemp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memoryFiles = "/dev/shm";
const memoryNeededBytes = 4 * 2 ** 30;

/**
 * Creates a folder that PostgreSQL can use, also if the tests run as root: in memory if there is space, else in the system's temporary
 * folder. A database has 500 files, and ext4 searches for a free inode past each one deleted in the last seconds, which took an eighth of
 * the run's processor time. A killed run leaves files in memory, as it would leave them in the system's cache.
 */
export async function createTestDataDir(): Promise<string> {
  const isRoomy = process.availableMemory() >= memoryNeededBytes && (await freeBytes(memoryFiles)) >= memoryNeededBytes;
  const dataDir = await mkdtemp(join(isRoomy ? memoryFiles : tmpdir(), "svc-test-"));
  await chmod(dataDir, 0o711);
  return dataDir;
}

/** Returns the free bytes of a file system, 0 if it does not exist. */
async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
