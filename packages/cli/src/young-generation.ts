import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** How large the young generation is, both of its halves together, bytes. */
const youngBytes = 32 * 1024 * 1024;
/** Objects between two looks. */
const step = 10_000;

/**
 * Lets V8's young generation grow to 32 MiB, and no further, in this process. Left alone it grows to 128 with the first load, which
 * reading the definitions is, and is not given back: that much more for each burst to leave behind. V8 takes no bound once it runs, but
 * asks how far to grow each time; flags of the start would have to be given to every way of starting. Takes some 20 ms.
 */
export function boundYoungGeneration(): void {
  // It grows where much of it survives.
  const kept: object[] = [];
  while (grownBytes() < youngBytes) for (let made = 0; made < step; made++) kept.push({ made });
  setFlagsFromString("--semi-space-growth-factor=1");
}

function grownBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
  return space?.space_size ?? youngBytes;
}
