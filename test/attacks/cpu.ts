import { readFile } from "node:fs/promises";

/** Milliseconds of a clock tick, of which Linux has 100 a second wherever Node runs. */
const tickMs = 10;

/** CPU time that a process has used, milliseconds: others on the machine do not count. From /proc, so on Linux alone. */
export async function cpuMsOf(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}
