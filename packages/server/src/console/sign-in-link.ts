import type { Clock, KeyId, ProjectId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { makeConsoleLink } from "@svc/db/console/links";
import { consolePath } from "./headers.ts";

/** What makes links: where they are kept, and where the service is reached. */
export type SignInLinks = { readonly db: Executor; readonly clock: Clock; readonly publicUrl: () => string };

/** How long a link to sign in by is good, milliseconds. */
const lifeMs = 600_000;

/** Makes a link that opens the console once, with the seat of a key. Its token is in `url` alone. */
export async function createSignInLink(
  { db, clock, publicUrl }: SignInLinks,
  { projectId, keyId }: { projectId: ProjectId; keyId: KeyId },
): Promise<{ url: string; expiresAt: number }> {
  const nowMs = clock.now();
  const expiresAt = nowMs + lifeMs;
  const { token } = await makeConsoleLink(db, {
    ...{ purpose: "sign_in", target: {} },
    ...{ projectId, keyId, expiresAt, nowMs },
  });
  return { url: `${publicUrl()}${consolePath}#link=${token}`, expiresAt };
}
