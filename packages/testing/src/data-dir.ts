import { chmod, mkdtemp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memoryFiles = "/dev/shm";
const memoryNeededBytes = 4 * 2 ** 30;

/**
 * A new folder that PostgreSQL can enter, also when the tests run as root: in memory where there is room, else in the system's temporary one.
 * A database is 500 files, and ext4 looks for a free inode past each that was deleted in the last seconds: an eighth of the whole run's
 * processor time went there. What is killed leaves in memory what it would leave to the system's cache.
 */
export async function createTestDataDir(): Promise<string> {
  const isRoomy = process.availableMemory() >= memoryNeededBytes && (await freeBytes(memoryFiles)) >= memoryNeededBytes;
  const dataDir = await mkdtemp(join(isRoomy ? memoryFiles : tmpdir(), "svc-test-"));
  await chmod(dataDir, 0o711);
  return dataDir;
}

/** What is free of a file system, 0 where there is none. */
async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
