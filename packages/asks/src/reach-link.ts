import type { AskRecord } from "@svc/db/asks/repo";
import { makeConsoleLink } from "@svc/db/console/make-link";
import type { Contact } from "@svc/db/contacts/repo";
import { jobsForProject } from "@svc/db/jobs/repo";
import { findKeyById } from "@svc/db/keys/repo";
import { answerLinkLifeMs } from "./answer-link.ts";
import { isOwnConfirmation } from "./by-caller.ts";
import type { AskContext } from "./context.ts";

/** Where a contact answers a question, and what of that no text may repeat. */
export type ReachLink = { readonly url: string; readonly secrets: readonly string[] };

/**
 * Where a contact that is told of a question answers it: by a link of its own, where the approver's key that put the contact vouches for
 * it. An approval, a call that the same key made and is to be confirmed, and a contact that no such key stands behind, has the console's
 * page of the question, for who can sign in.
 */
export async function reachLink(
  { db, clock, consoleUrl }: AskContext,
  ask: AskRecord,
  { principalId, keyId, createdAt: contactCreatedAt }: Pick<Contact, "principalId" | "keyId" | "createdAt">,
): Promise<ReachLink> {
  const { projectId, jobId, id } = ask;
  if (consoleUrl === undefined) return { url: "(the console is off)", secrets: [] };
  const nowMs = clock.now();
  const key = ask.approvalId === "" && keyId !== null ? await findKeyById(db, keyId) : undefined;
  const job = key && ask.kind === "confirm" ? await jobsForProject(db, projectId).find(jobId) : undefined;
  const confirmed = { ask, job: job ?? { principalChain: [] } };
  const isCaller = key !== undefined && (await isOwnConfirmation(db, confirmed, key.id));
  const vouches =
    !isCaller && key?.role === "approver" && key.revokedAt === null && (key.expiresAt ?? Infinity) > nowMs;
  if (!vouches) return { url: `${consoleUrl()}p/${projectId}/asks/${jobId}/${id}`, secrets: [] };
  const { token } = await makeConsoleLink(db, {
    ...{ purpose: "answer", projectId, keyId: key.id, nowMs, expiresAt: nowMs + answerLinkLifeMs },
    target: { answer: { jobId, requestId: id, principalId, contactCreatedAt } },
  });
  return { url: `${consoleUrl()}answer#${token}`, secrets: [token] };
}
