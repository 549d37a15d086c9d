import { spawn } from "node:child_process";

/** The account PostgreSQL's programs run as; undefined means the service's own. */
export type Account = { readonly uid: number; readonly gid: number } | undefined;

/** PostgreSQL refuses to run as root; uid 65534 exists on every system without being set up. */
export const unprivilegedAccount = { uid: 65534, gid: 65534 };

/** How a program ended. `code` is null when a signal ended it; `error` is set when it could not be started at all. */
export type ProgramResult = {
  readonly code: number | null;
  readonly output: string;
  readonly error?: NodeJS.ErrnoException;
};

/** Runs a program to its end as `account`, in `/` and without the service's environment. Never rejects. */
export function runProgram(file: string, args: readonly string[], account: Account): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { ...programOptions(account), stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const append = (chunk: Buffer) => {
      output = `${output}${chunk}`.slice(-4000);
    };
    child.stdout.on("data", append);
    child.stderr.on("data", append);
    child.on("error", (error) => resolve({ code: null, output, error }));
    child.on("close", (code) => resolve({ code, output }));
  });
}

/**
 * Spawn options all of PostgreSQL's programs share. The environment is bare because PGDATA, PGPORT and the like would
 * change what they do; the folder is one that every account can enter.
 */
export function programOptions(account: Account) {
  const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
  return { cwd: "/", env, ...account };
}
