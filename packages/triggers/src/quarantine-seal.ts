import type { QuarantineId, Sealer, Sweep } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { listQuarantineSeals, sealQuarantinedPost, type UnsealedPost } from "@svc/db/quarantine/repo";
import { sealEnvelope } from "./quarantined-row.ts";

/** Dependencies of the sweep (regular task) that encrypts quarantined webhook posts (which svc could not turn into events). */
export type QuarantineSealOptions = {
  readonly db: Executor;
  readonly sealer: Sealer;
  /**
   * Maximum number of quarantined webhook posts (which svc could not turn into events) whose headers and query are encrypted in one batch.
   * Default 200.
   */
  readonly batchMax?: number;
};

/** Replaces the error text that version 0.1 stored with a quarantined webhook post, because that text may quote the post. */
const oldDetail = "Version 0.1 kept it, whose words may quote the post. A release says why it stays.";

/**
 * Returns a sweep (regular task) that runs every 10 minutes. It encrypts the headers and query of quarantined webhook posts that version
 * 0.1 stored unencrypted. Each run reads only posts that this node has not read before.
 */
export function quarantineSealSweep({ db, sealer, batchMax = 200 }: QuarantineSealOptions): Sweep {
  let after: QuarantineId | undefined;
  return {
    what: "unsealed quarantined posts",
    everyMs: 600_000,
    async *round() {
      for (;;) {
        const posts = await listQuarantineSeals(db, { after, limit: batchMax });
        for (const post of posts) if (!post.isSealed) await sealPost(db, sealer, post);
        after = posts.at(-1)?.id ?? after;
        const isFull = posts.length === batchMax;
        yield isFull;
        if (!isFull) return;
      }
    },
  };
}

async function sealPost(db: Executor, sealer: Sealer, { id, reason, headers, query }: UnsealedPost): Promise<void> {
  const envelope = sealEnvelope(sealer, { id, projectId: null }, { headers, query });
  await sealQuarantinedPost(db, id, { envelope, detail: reason === "invalid_payload" ? oldDetail : undefined });
}
