import { readFileSync, writeFileSync } from "node:fs";

/** Returns the resident memory of a process in MB, or NaN if the system does not report it. */
export function readMemoryMb(pid: number): number {
  return readMb(pid, "VmRSS");
}

/** Returns the largest resident memory in MB since the last `resetPeak` or the start. NaN if the system does not report it. */
export function readPeakMb(pid: number): number {
  return readMb(pid, "VmHWM");
}

/** Restarts the measurement of a process's largest memory. On systems other than Linux, the largest value since its start stays. */
export function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // Without the reset the figure may be too high, but never too low.
  }
}

function readMb(pid: number, name: string): number {
  try {
    const [, kilobytes] =
      new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) / 1_024;
  } catch {
    return Number.NaN;
  }
}
