/** So many streams are open at once, over all tabs and windows of a browser: it has six connections to a service, and calls need the others. */
const streamsMax = 3;

/**
 * Runs in one of the browser's places for streams, which is free again when `run` has settled; where all are taken, not at all, and answers
 * false. Off https there are no locks to count by, and it runs.
 */
export async function inStreamPlace(run: () => Promise<void>, signal: AbortSignal): Promise<boolean> {
  const locks = (navigator as { locks?: LockManager }).locks;
  if (locks === undefined) {
    await run();
    return true;
  }
  for (let place = 0; place < streamsMax && !signal.aborted; place += 1) {
    const wasFree = await locks.request(`svc-stream-${place}`, { ifAvailable: true }, async (lock) => {
      if (lock !== null) await run();
      return lock !== null;
    });
    if (wasFree) return true;
  }
  return false;
}
