import type { Duration } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type Binding,
  bindingFaults,
  bindingOf,
  byId,
  type ConfirmRule,
  formatValue,
  isAsStrict,
  isEntityGranted,
  type KeyId,
  projectList,
  requireId,
  requireProject,
} from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import {
  type ApiKey,
  countMadeKeys,
  createApiKey,
  findKeyById,
  listMadeKeys,
  lockApiKey,
  revokeApiKey,
} from "@svc/db/keys/repo";
import type { GrantsService } from "@svc/gen/grants";
import { readBinding, requireToolkits } from "../admin/binding.ts";
import { apiKeyMessage } from "../admin/convert.ts";
import { generateKey } from "../admin/keys.ts";
import { readConfirmPolicy, requireName } from "../admin/request.ts";
import { isValidKey } from "../auth/key-cache.ts";
import { serverFaults } from "../errors.ts";
import { grantFaults } from "./errors.ts";
import type { GrantsServiceOptions } from "./options.ts";

const lifetimeMs = { min: 1_000, fallback: 3_600_000, max: 86_400_000 };
/** Maximum number of valid keys that one key may have created. */
const madeKeysMax = 100;

/** Returns the methods of GrantsService with which an approver creates keys for agents. */
export function agentKeyMethods({
  db,
  clock,
  sealer,
  cell,
  views,
  onRevoked,
}: GrantsServiceOptions): Pick<
  ServiceImpl<typeof GrantsService>,
  "createAgentKey" | "listAgentKeys" | "revokeAgentKey"
> {
  return {
    async createAgentKey(request, ctx) {
      const { projectId, keyId } = requireProject(ctx);
      const name = requireName(request.name);
      const lifeMs = readLifetime(request.lifetime);
      const asked = readBinding(request);
      requireToolkits(await views.forProject(projectId), asked.toolkitSlugs);
      const askedConfirm = await readConfirmPolicy(db, projectId, request.confirm);
      const { key, text } = await withTransaction(db, async (tx) => {
        const nowMs = clock.now();
        const maker = await requireMaker(tx, keyId, nowMs);
        const made = generateKey({
          ...{ projectId, role: "member", name, nowMs, cell, makerKeyId: maker.id },
          ...boundWithin(maker, asked),
          confirm: stricter(askedConfirm, maker.confirm),
          expiresAt: Math.min(nowMs + lifeMs, maker.expiresAt ?? Number.POSITIVE_INFINITY),
        });
        await createApiKey(tx, made.key);
        return made;
      });
      return { apiKey: apiKeyMessage(key), key: text };
    },
    listAgentKeys: projectList(sealer, {
      call: "ListAgentKeys",
      order: byId("key"),
      filter: (_, { keyId }) => ({ keyId }),
      rows: ({ filter: { keyId }, page }) => listMadeKeys(db, keyId, page),
      answer: (rows) => ({ apiKeys: rows.map(apiKeyMessage) }),
    }),
    async revokeAgentKey(request, ctx) {
      const { keyId } = requireProject(ctx);
      const id = requireId("key", "id", request.id);
      const found = await findKeyById(db, id);
      const revoked =
        found?.makerKeyId === keyId && found.purpose === "" ? await revokeApiKey(db, id, clock.now()) : undefined;
      if (revoked === undefined) throw grantFaults.AGENT_KEY_NOT_FOUND(id);
      onRevoked(revoked.endedIds);
      return { apiKey: apiKeyMessage(revoked.key) };
    },
  };
}

/**
 * Locks the database row of the caller's key and returns the key. The lock prevents that the key ends, or creates another key, during the
 * transaction. Throws API_KEY_INVALID if the key has ended. Throws AGENT_KEYS_EXCEEDED if the key has already created too many valid keys.
 */
async function requireMaker(tx: Executor, keyId: KeyId, nowMs: number): Promise<ApiKey> {
  await lockApiKey(tx, keyId);
  const maker = await findKeyById(tx, keyId);
  // The key was valid when the call started, but has ended since.
  if (maker === undefined || !isValidKey(maker, nowMs)) throw serverFaults.API_KEY_INVALID(false);
  if ((await countMadeKeys(tx, keyId, nowMs)) >= madeKeysMax) throw grantFaults.AGENT_KEYS_EXCEEDED(madeKeysMax);
  return maker;
}

function readLifetime(lifetime: Duration | undefined): number {
  if (lifetime === undefined) return lifetimeMs.fallback;
  // The lifetime is checked before it is rounded to the precision of the database.
  const ms = Number(lifetime.seconds) * 1_000 + lifetime.nanos / 1_000_000;
  if (ms < lifetimeMs.min || ms > lifetimeMs.max) throw grantFaults.LIFETIME_INVALID(`${ms / 1_000}s`);
  return Math.floor(ms);
}

/**
 * Returns the scope of a new key: the requested scope, with the creator's values in its empty fields. Throws if the scope allows something
 * that the creator's scope does not. Also throws if the scope is limited neither to an entity nor to toolkits.
 */
function boundWithin(maker: Binding, asked: Binding): Binding {
  const binding = bindingOf(maker);
  const entityId = asked.entityId || maker.entityId;
  if (binding !== undefined && !isEntityGranted(binding, entityId))
    throw bindingFaults.ENTITY_BOUND("entityId", `is ${formatValue(entityId)}`, binding);
  const bound = {
    entityId,
    accessClasses: partOf("accessClasses", asked.accessClasses, maker.accessClasses),
    toolkitSlugs: partOf("toolkitSlugs", asked.toolkitSlugs, maker.toolkitSlugs),
  };
  if (bound.entityId === "" && bound.toolkitSlugs.length === 0) throw grantFaults.AGENT_KEY_UNSCOPED();
  return bound;
}

/**
 * Returns one list of the new key's scope, for example its toolkits. An empty list means no limit. If the request has an empty list, the
 * new key gets the creator's list. Throws AGENT_KEY_WIDENED for a value that is not in the creator's list.
 */
function partOf<Name extends string>(field: string, asked: readonly Name[], has: readonly Name[]): readonly Name[] {
  if (asked.length === 0 || has.length === 0) return asked.length === 0 ? has : asked;
  const foreign = asked.findIndex((name) => !has.includes(name));
  if (foreign >= 0) throw grantFaults.AGENT_KEY_WIDENED(`${field}[${foreign}]`, asked[foreign] ?? "", has);
  return asked;
}

function stricter(asked: ConfirmRule | undefined, present: ConfirmRule): ConfirmRule {
  if (asked === undefined) return present;
  if (!isAsStrict(asked, present)) throw grantFaults.AGENT_KEY_CONFIRMS_LESS(asked.person, present.person);
  return asked;
}
