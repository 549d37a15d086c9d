import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** How large the young generation may grow under load, both of its halves together, bytes. */
const youngBytesMax = 64 * 1024 * 1024;

/**
 * Keeps V8's young generation as it is, until `growYoungGeneration`: what is loaded at a start stays, and nothing is gained by making
 * room for its garbage. Left alone it grows to 128 MiB with that, and gives nothing back. V8 takes no bound once it runs, but asks by
 * what factor to grow each time; flags of the start would have to be given to every way of starting.
 */
export function holdYoungGeneration(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * Lets it grow from now on, to 64 MiB: beyond that a burst leaves as much more memory behind, and calls of tools gain nothing. At 32
 * they take a third more of the processor.
 */
export function growYoungGeneration(): void {
  setFlagsFromString("--semi-space-growth-factor=2");
  const observer = new PerformanceObserver(() => {
    if (youngBytes() < youngBytesMax) return;
    holdYoungGeneration();
    observer.disconnect();
  });
  observer.observe({ entryTypes: ["gc"] });
}

function youngBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
  return space?.space_size ?? youngBytesMax;
}
