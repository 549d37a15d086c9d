import { readFile } from "node:fs/promises";

/** Length of a clock tick in milliseconds. Linux has 100 ticks a second on every system on which Node runs. */
const tickMs = 10;

/**
 * Returns the CPU time that a process has used, in milliseconds. Other processes do not affect it. It is read from /proc, which only Linux
 * has.
 */
export async function cpuMsOf(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}
