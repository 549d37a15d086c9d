import { readFileSync } from "node:fs";

/** The resident memory of a process in MB; NaN where the system does not tell. */
export function readMemoryMb(pid: number): number {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) / 1_024;
  } catch {
    return Number.NaN;
  }
}
