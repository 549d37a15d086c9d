import { type ProjectId, parseId, SealError, type Sealer } from "@svc/core";
import {
  type AuditChain,
  findAuditChainFrom,
  findBrokenAuditChains,
  findChainedProjects,
  listChainedAuditEvents,
} from "@svc/db/audit/chains";
import { type AuditEvent, deploymentProject } from "@svc/db/audit/list";
import type { Executor } from "@svc/db/connect";
import { type ChainKey, headMac, isSame, openChainKey } from "./chain.ts";
import { compareRows, type RowFault } from "./compare-rows.ts";
import { beginAction } from "./place-events.ts";

/**
 * A fault that was found in the audit log. If `position` is 0, the fault concerns the whole audit chain of the project (its sequence of
 * linked rows). Otherwise the fault concerns the row at this position.
 */
export type AuditFault = RowFault & { readonly projectId: ProjectId };

/**
 * Position up to which the log was verified. `after`: the last verified position in the project's chain, or `end` if the whole chain was
 * verified.
 */
export type VerifyPosition = { readonly projectId: ProjectId; readonly after: number | "end" };

/** Result of verifying a part of the audit log. `next`: position at which the next part begins; undefined at the end of the log. */
export type VerifyResult = {
  readonly checked: number;
  readonly faults: readonly AuditFault[];
  readonly heads: readonly Pick<AuditChain, "projectId" | "length" | "hash">[];
  readonly next: VerifyPosition | undefined;
};

/** Dependencies of the verification of the audit log. */
export type VerifyOptions = { readonly db: Executor; readonly sealer: Sealer };

/** Position at which a verification of the audit log starts. */
export const verifyStart: VerifyPosition = { projectId: deploymentProject, after: 0 };

// Maximum number of rows that are verified without a pause. Verifying them takes up to 5 ms.
const rowsAtOnce = 400;
const positionMax = 2_147_483_647;

/**
 * Verifies the next rows of the audit log against their MACs (keyed hashes) and against the hashes that link them. The rows belong to at
 * most one chain (the rows of one project).
 */
export async function verifyPart(options: VerifyOptions, from: VerifyPosition): Promise<VerifyResult> {
  const { db, sealer } = options;
  const chain = await findAuditChainFrom(db, from.projectId, from.after === "end");
  if (chain === undefined) return { checked: 0, faults: await findLost(db), heads: [], next: undefined };
  const { projectId } = chain;
  const after = projectId === from.projectId && from.after !== "end" ? from.after : 0;
  const behind: VerifyPosition = { projectId, after: "end" };
  const withProject = (faults: readonly RowFault[]) => faults.map((one) => ({ ...one, projectId }));
  const key = openKey(chain, sealer);
  if (key === undefined)
    return {
      checked: 0,
      faults: withProject([headFault("the key of the chain cannot be decrypted")]),
      heads: [],
      next: behind,
    };
  const isWhole = isSame(headMac(key, chain), chain.mac);
  const to = isWhole ? chain.length : positionMax;
  // The rows begin with the last row that was already verified, because the hash of the next row depends on its hash.
  const rows = await listChainedAuditEvents(db, projectId, { from: after, to, limit: rowsAtOnce + 1 });
  const isEnd = rows.length <= rowsAtOnce;
  const end = isWhole && isEnd ? chain : undefined;
  const faults = [...compareRows(key, { rows, after, end })];
  if (isEnd && !isWhole) faults.push(headFault("the end of the chain was changed"));
  const begun = projectId === deploymentProject ? await findGone(db, rows) : [];
  return {
    checked: rows.filter(({ position }) => (position ?? 0) > after).length,
    faults: [...withProject(faults), ...begun],
    heads: end === undefined ? [] : [end],
    next: isEnd ? behind : { projectId, after: rows.at(-1)?.position ?? after },
  };
}

function headFault(message: string): RowFault {
  return { position: 0, eventId: "", kind: "head", message };
}

function openKey(chain: AuditChain, sealer: Sealer): ChainKey | undefined {
  try {
    return openChainKey(chain, sealer);
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

/**
 * Returns an error for each project whose chain of audit log rows no longer exists, although the deployment's chain records that it was
 * created.
 */
async function findGone(db: Executor, rows: readonly AuditEvent[]): Promise<AuditFault[]> {
  const begun = rows.flatMap(({ action, subject }) => (action === beginAction ? (parseId("prj", subject) ?? []) : []));
  const there = await findChainedProjects(db, begun);
  const gone = begun.filter((projectId) => !there.has(projectId));
  return gone.map((projectId) => ({ ...headFault("the chain was removed"), projectId }));
}

/**
 * Returns an error for each project that has audit log rows outside its chain of rows: before the first position or after the end that is
 * stored for the chain.
 */
async function findLost(db: Executor): Promise<AuditFault[]> {
  const broken = await findBrokenAuditChains(db);
  return broken.map(({ projectId, ...chain }) => ({ ...headFault(lostWords(chain)), projectId }));
}

function lostWords({ length, first, last }: { length: number | null; first: number; last: number }): string {
  if (length === null) return "the chain was removed";
  if (last > length) return `the chain ends at ${length}, and has events up to ${last}`;
  return `the chain begins at 1, and has an event at ${first}`;
}
