import type { Clock, KeyId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { touchApiKeys } from "@svc/db/keys/repo";
import { startLoop } from "../loop.ts";

/** Records when keys are used. */
export type KeyUse = {
  /** Records that a key was used. This costs one map lookup. A key is written at most once a minute, and one statement writes many keys. */
  note(id: KeyId): void;
  /** Stops the recording, and writes the recorded uses to the database. */
  stop(): Promise<void>;
};

const everyMs = 60_000;
const flushMs = 5_000;

/**
 * Starts recording when keys are used. If a write to the database fails, `onError` gets the error, and the write is retried with the next
 * use.
 */
export function startKeyUse({
  db,
  clock,
  onError,
}: {
  db: Executor;
  clock: Clock;
  onError: (error: unknown) => void;
}): KeyUse {
  const notedAt = new Map<KeyId, number>();
  let noted = new Set<KeyId>();
  const flush = async () => {
    if (noted.size === 0) return;
    const ids = [...noted];
    noted = new Set();
    try {
      await touchApiKeys(db, ids, clock.now());
    } catch (error) {
      for (const id of ids) notedAt.delete(id);
      onError(error);
    }
  };
  const loop = startLoop({ clock, everyMs: flushMs, run: flush, onError });
  return {
    note(id) {
      const nowMs = clock.now();
      if (nowMs - (notedAt.get(id) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
      notedAt.set(id, nowMs);
      noted.add(id);
    },
    async stop() {
      await loop.stop();
      await flush();
    },
  };
}
