import { setInterval } from "node:timers";
import { getHeapStatistics, setFlagsFromString } from "node:v8";

/** What the heap may grow to before it is collected, bytes: with the young generation, large values and the rest of a process less than 600 MiB. */
const grownBytes = 190 * 1024 * 1024;
/** A heap that is as large as that grows in such steps, and no heap in larger ones than V8 would make, percent. */
const [stepMin, stepMax] = [30, 300];
const lookEveryMs = 250;

/**
 * Keeps V8's young generation as it is, until `followHeapGrowth`: what is loaded at a start stays, and nothing is gained by making
 * room for its garbage. Left alone it grows to 128 MiB with that, which are never given back. V8 takes no bound once it runs, but asks
 * by what factor to grow each time; flags of the start would have to be given to every way of starting.
 */
export function holdHeapGrowth(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * Gives back what loading left behind: definitions as they were read, and pages of the heap with little in them, a quarter of an idle
 * process. Takes a third of a second of this thread, so it is for the moment before anything is listened to.
 */
export async function compactHeap(): Promise<void> {
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  try {
    // What V8 does where memory is short, and the only way to ask for it without a flag of the start.
    await session.post("HeapProfiler.enable");
    await session.post("HeapProfiler.collectGarbage");
  } finally {
    session.disconnect();
  }
}

/**
 * Lets the heap grow as the load makes it, for that costs the processor least (calls of tools take 12 % more of it where the young
 * generation ends at 64 MiB). How far the old one grows until it is collected again is said by what is used now, which no collection
 * leaves more of: by V8's own measure, up to four times what lives, floods of values made 600 MiB of it, one after the other. By the
 * process's size a third at most made a collection of every 14 MiB that a node under load let live for a moment, with no flood at all.
 */
export function followHeapGrowth(): void {
  setFlagsFromString("--semi-space-growth-factor=2");
  let step = 0;
  setInterval(() => {
    const room = Math.round((grownBytes / getHeapStatistics().used_heap_size - 1) * 100);
    const next = Math.min(stepMax, Math.max(stepMin, room));
    if (next !== step) setFlagsFromString(`--heap-growing-percent=${next}`);
    step = next;
  }, lookEveryMs).unref();
}
