import { chmod, chown, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** User id of the account `nobody`, as which programs run if root runs the tests. */
const nobody = 65_534;

const isRoot = process.getuid?.() === 0;

/** Creates a folder that any account may enter. It is removed at the test's end. */
export async function createPlace(): Promise<string> {
  const place = await mkdtemp("/var/tmp/svc-package-");
  onTestFinished(() => rm(place, { recursive: true, force: true }));
  await chmod(place, 0o755);
  return place;
}

/** Creates an empty folder of the ordinary account in `place`, such as its home. */
export async function createOwnFolder(place: string, name: string): Promise<string> {
  const folder = join(place, name);
  await mkdir(folder);
  if (isRoot) await chown(folder, nobody, nobody);
  return folder;
}

/** Returns the command that runs a command as an ordinary account, which is `nobody` if root runs the tests. */
export function asOrdinary(command: readonly string[]): [program: string, ...args: string[]] {
  const [program = "", ...args] = command;
  if (!isRoot) return [program, ...args];
  return ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups", "--no-new-privs", program, ...args];
}
