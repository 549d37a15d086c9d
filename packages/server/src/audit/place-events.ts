import { type Clock, createId, generateKeyBytes, type ProjectId, SealError, type Sealer, uuidOfId } from "@svc/core";
import {
  type AuditChain,
  type ChainedAuditEvent,
  chainAuditEvents,
  findAuditChains,
  findSentEntities,
  hasUnchainedAuditEvents,
  listUnchainedAuditEvents,
  lockAuditChains,
  putAuditChain,
} from "@svc/db/audit/chains";
import { type AuditEvent, deploymentProject, insertAuditEvent } from "@svc/db/audit/list";
import { type Database, type Executor, withTransaction } from "@svc/db/connect";
import { chainContext, eventMac, headMac, isSame, linkHash, openChainKey } from "./chain.ts";

/**
 * Dependencies of adding audit log rows to chains (rows linked by hashes, one chain for each project). `broken`: projects whose chains were
 * changed from outside. No more rows are added to these chains.
 */
export type PlacingOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly broken: Set<ProjectId>;
  readonly onBroken: (projectId: ProjectId, why: string) => void;
};

/** Name of the audited action that records that a destructive tool call was sent. */
export const sentAction = "ToolCall.Send";
/** Name of the audit log entry that begins a project's chain. In a chain, each entry's hash depends on the entry before. */
export const beginAction = "AuditLog.BeginChain";

const rowsAtOnce = 500;
// Milliseconds after which the outcome of a call without a recorded end counts as unknown. It is longer than any call takes.
const unknownAfterMs = 120_000;

/**
 * Adds new audit log rows to the chains of their projects, in which each row's hash depends on the row before. One call adds a limited
 * number of rows. Returns true if more new rows may exist. Returns false if there are no more, or if another node is doing this work.
 */
export async function placeEvents(options: PlacingOptions): Promise<boolean> {
  const { db, clock, broken } = options;
  const wanted = { unknownBefore: clock.now() - unknownAfterMs, without: [...broken] };
  // Usually there are no rows to add to chains, and this single statement is enough to find this out.
  if (!(await hasUnchainedAuditEvents(db, wanted))) return false;
  return withTransaction(db, async (tx) => {
    if (!(await lockAuditChains(tx))) return false;
    const events = await listUnchainedAuditEvents(tx, { ...wanted, limit: rowsAtOnce });
    if (events.length === 0) return false;
    const byProject = Map.groupBy(events, ({ projectId }) => projectId);
    const chains = new Map((await findAuditChains(tx, [...byProject.keys()])).map((one) => [one.projectId, one]));
    const entities = await findSentEntities(tx, sentUuids(events));
    await options.sealer.ready([...byProject.keys()].filter((id) => id !== deploymentProject));
    for (const [projectId, own] of byProject) {
      const chain = chains.get(projectId) ?? (await beginChain(tx, projectId, options));
      await extendChain(tx, { chain, events: own.map((event) => finished(event, entities, options)) }, options);
    }
    return events.length === rowsAtOnce || byProject.size > chains.size;
  });
}

function sentUuids(events: readonly AuditEvent[]): string[] {
  return events.flatMap(({ id, action }) => (action === sentAction ? [uuidOfId(id)] : []));
}

/**
 * Returns a completed row of the audit log, ready to be added to the project's chain. For a sent tool call, this adds the digest of its
 * entity (customer or user).
 */
function finished(event: AuditEvent, entities: ReadonlyMap<string, string>, { sealer }: PlacingOptions) {
  const entity = event.action === sentAction ? entities.get(uuidOfId(event.id)) : undefined;
  const entityDigest = entity === undefined ? event.entityDigest : sealer.entityDigest(event.projectId, entity);
  return { ...event, entityDigest, outcome: event.outcome ?? "unknown" };
}

/**
 * Creates and returns the audit chain of a project (rows linked by hashes). Its creation is recorded in the chain of the deployment, so
 * that the deletion of a whole chain is noticed.
 */
async function beginChain(tx: Executor, projectId: ProjectId, { clock, sealer }: PlacingOptions): Promise<AuditChain> {
  const key = sealer.seal(generateKeyBytes(), chainContext(projectId));
  const at = clock.now();
  const [projectOf, actor, outcome] = [deploymentProject, "service", "ok"] as const;
  if (projectId !== deploymentProject)
    await insertAuditEvent(tx, {
      ...{ id: createId("aud", at), at, projectId: projectOf, actor, outcome, actorId: null },
      ...{ action: beginAction, subject: projectId, entityDigest: null },
    });
  const empty = { projectId, key, length: 0, hash: Buffer.alloc(0) };
  return { ...empty, mac: headMac(openChainKey(empty, sealer), empty) };
}

type Extension = { readonly chain: AuditChain; readonly events: readonly (AuditEvent & { outcome: string })[] };

async function extendChain(tx: Executor, { chain, events }: Extension, options: PlacingOptions): Promise<void> {
  const key = openOrTell(chain, options);
  if (key === undefined) return;
  let { length, hash } = chain;
  const placed: ChainedAuditEvent[] = events.map((event) => {
    length += 1;
    const mac = eventMac(key, event, length);
    hash = linkHash(key, hash, mac);
    return { ...event, position: length, mac, hash };
  });
  await chainAuditEvents(tx, placed);
  await putAuditChain(tx, { ...chain, length, hash, mac: headMac(key, { length, hash }) });
}

/**
 * Returns the key of a project's audit chain (its sequence of linked audit entries). If the stored end of the chain was changed, or its key
 * cannot be decrypted, reports the chain and returns undefined. No entries are then added, because they would make the changed end look
 * valid.
 */
function openOrTell(chain: AuditChain, { sealer, broken, onBroken }: PlacingOptions) {
  const tell = (why: string) => {
    broken.add(chain.projectId);
    onBroken(chain.projectId, why);
    return undefined;
  };
  try {
    const key = openChainKey(chain, sealer);
    return isSame(headMac(key, chain), chain.mac) ? key : tell("its end was changed");
  } catch (error) {
    if (error instanceof SealError) return tell(error.message);
    throw error;
  }
}
