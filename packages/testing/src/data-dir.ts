import { chmod, mkdtemp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memoryFiles = "/dev/shm";
const memoryNeededBytes = 4 * 2 ** 30;

/**
 * Creates a folder that PostgreSQL can use, even if the tests run as root. If there is enough free memory, the folder is in a file system
 * in memory, and otherwise in the system's temporary folder. A database has 500 files. On ext4, each new file costs a search past all
 * inodes that were deleted in the last seconds, which took an eighth of the processor time of a run. If a run is killed, its files stay in
 * memory.
 */
export async function createTestDataDir(): Promise<string> {
  const isRoomy = process.availableMemory() >= memoryNeededBytes && (await freeBytes(memoryFiles)) >= memoryNeededBytes;
  const dataDir = await mkdtemp(join(isRoomy ? memoryFiles : tmpdir(), "svc-test-"));
  await chmod(dataDir, 0o711);
  return dataDir;
}

/** Returns the free bytes of a file system. Returns 0 if the path does not exist. */
async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
