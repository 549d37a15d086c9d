import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks of /proc; 100 a second on every Linux that Node runs on. */
const tickMs = 10;

/** Returns the processor time in milliseconds that a process has used so far. Undefined if /proc does not exist. */
export function processCpuMs(pid: number): number | undefined {
  const stat = readStat(pid);
  return stat && stat.ownTicks * tickMs;
}

/**
 * Returns the processor time in milliseconds of a process and its children, including ended ones. For the main process of PostgreSQL, this
 * is the time of the whole PostgreSQL. Undefined if /proc does not show it.
 */
export function familyCpuMs(pid: number): number | undefined {
  const parent = readStat(pid);
  if (parent === undefined) return undefined;
  let ticks = parent.ownTicks + parent.endedChildrenTicks;
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined;
    if (stat?.parent === pid) ticks += stat.ownTicks;
  }
  return ticks * tickMs;
}

/** Returns the parent of a process. Undefined if /proc does not show it. */
export function parentOf(pid: number): number | undefined {
  return readStat(pid)?.parent;
}

/** Returns the running child processes of a process. Empty if /proc does not show them. */
export function childrenOf(pid: number): number[] {
  if (readStat(pid) === undefined) return [];
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return all.map(Number).filter((one) => parentOf(one) === pid);
}

type Stat = { readonly parent: number; readonly ownTicks: number; readonly endedChildrenTicks: number };

function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The program's name is in parentheses and may contain any text. Only numbers follow it (proc(5)).
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const [parent = 0, ownUser = 0, ownSystem = 0, childUser = 0, childSystem = 0] = [1, 11, 12, 13, 14].map(
      (index) => fields[index] ?? 0,
    );
    return { parent, ownTicks: ownUser + ownSystem, endedChildrenTicks: childUser + childSystem };
  } catch {
    return undefined;
  }
}
