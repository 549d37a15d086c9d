import { readFileSync, writeFileSync } from "node:fs";

/** The resident memory of a process in MB; NaN where the system does not tell. */
export function readMemoryMb(pid: number): number {
  return readMb(pid, "VmRSS");
}

/** The most that it was since the last `resetPeak`, or since its start, in MB; NaN where the system does not tell. */
export function readPeakMb(pid: number): number {
  return readMb(pid, "VmHWM");
}

/** Begins the peak of a process anew; on another system than Linux it stays that since its start. */
export function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // The figure is then too high, never too low.
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
