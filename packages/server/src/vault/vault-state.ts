import { type DataKey, type Keyring, SealError, type VaultKey, vaultKeyIdOf } from "@svc/core";
import { type DataKeyRow, listDataKeyNumbers, listDataKeys } from "@svc/db/vault/data-keys";
import {
  findVaultCheck,
  listOldSubkeys,
  listRetiredVaultKeys,
  noteVaultNode,
  readVaultVersion,
  type VaultVersion,
} from "@svc/db/vault/rotations";
import type { VaultOptions, VaultState } from "./context.ts";
import type { VaultLimits } from "./key-source.ts";

type StateOptions = Pick<VaultOptions, "db" | "clock" | "nodeId" | "keys" | "logger"> & {
  readonly limits: VaultLimits;
  readonly sealer: Keyring;
};

/**
 * Creates this process's copy of the vault's state, which says which keys encrypt and decrypt. The copy is empty until `sync` reads the
 * database.
 */
export function createVaultState({ db, clock, nodeId, keys, logger, limits, sealer }: StateOptions): VaultState {
  let version: VaultVersion | undefined;
  let known = new Map<string, VaultKey>();
  let order: readonly VaultKey[] = [];
  let retired: ReadonlySet<string> = new Set();
  let lacking: string | undefined;
  let rotationRead = 0;
  let syncedMs = Number.NEGATIVE_INFINITY;
  let notedMs = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;
  const rotationOf = new Map<number, number>();
  const problems = new Set<string>();

  const tellOnce = (problem: string) => {
    if (problems.has(problem)) return;
    problems.add(problem);
    logger.error({ problem }, "a key of the vault cannot be decrypted here");
  };

  const take = (rows: readonly DataKeyRow[]): boolean => {
    let isWhole = true;
    const held = sealer.numbers();
    const opened: DataKey[] = [];
    for (const { number, scope, use, rotation, wrapped } of rows) {
      rotationOf.set(number, rotation);
      if (held.has(number)) continue;
      try {
        opened.push({ number, scope, use, secret: sealer.unwrap(scope, use, wrapped) });
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        isWhole = false;
        tellOnce(`data key ${number}: ${error.message}`);
      }
    }
    if (opened.length > 0) sealer.add(opened);
    return isWhole;
  };

  const readKeys = async (wanted: string): Promise<void> => {
    const list = known.has(wanted) ? [...known.values()] : await keys.read();
    known = new Map(list.map((key) => [key.id, key]));
    const first = known.get(wanted);
    const others = list.filter(({ id }) => id !== wanted && !retired.has(id));
    lacking = first === undefined ? wanted : undefined;
    if (first === undefined)
      tellOnce(`this process does not have vault key ${wanted}, which wraps the keys of the deployment`);
    order = first === undefined ? others : [first, ...others];
    if (order.length > 0) sealer.setVaultKeys(order);
  };

  const readAll = async (next: VaultVersion): Promise<void> => {
    const { rotation } = next;
    retired = await listRetiredVaultKeys(db);
    const check = await findVaultCheck(db);
    const current =
      rotation === undefined || rotation.state === "done" ? check && vaultKeyIdOf(check) : rotation.toKeyId;
    await readKeys(current ?? [...known.keys()][0] ?? "");
    let isWhole = true;
    for (let after = 0; ; ) {
      const rows = await listDataKeys(db, after);
      if (!take(rows)) isWhole = false;
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last.number;
    }
    // Numbers of the data keys in memory. They must be taken before the database query. Otherwise, a key that is added during the query
    // would look like a removed key.
    const held = sealer.numbers();
    const there = await listDataKeyNumbers(db);
    sealer.drop([...held].filter((number) => !there.has(number)));
    const isOver = rotation === undefined || rotation.state === "resealing" || rotation.state === "done";
    sealer.sealsWith((number) => isOver || (rotationOf.get(number) ?? 0) < rotation.number);
    sealer.setOldSubkeys(await readOldSubkeys());
    if (rotation?.state === "done") await keys.retire?.(retired);
    // A rotation in the state `announced` is still creating its data keys. So the node does not report yet that it has read the keys of
    // this rotation.
    if (isWhole && rotation !== undefined && rotation.state !== "announced") rotationRead = rotation.number;
  };

  const readOldSubkeys = async (): Promise<Map<string, VaultKey[]>> => {
    const byPurpose = new Map<string, VaultKey[]>();
    for (const { keyId, purpose, secret } of await listOldSubkeys(db)) {
      if (order.some(({ id }) => id === keyId)) continue;
      const opened = sealer.open(secret, `deployment/old_subkeys/${keyId}/${purpose}`);
      byPurpose.set(purpose, [...(byPurpose.get(purpose) ?? []), { id: keyId, secret: opened }]);
    }
    return byPurpose;
  };

  const syncOnce = async (): Promise<void> => {
    const beganMs = performance.now();
    const next = await readVaultVersion(db);
    const isOther = JSON.stringify(next) !== JSON.stringify(version);
    if (isOther) {
      await readAll(next);
      version = next;
    }
    if (isOther || beganMs - notedMs >= limits.noteMs) {
      await noteVaultNode(db, { nodeId, keyIds: [...known.keys()], rotation: rotationRead, seenAt: clock.now() });
      notedMs = beganMs;
    }
    syncedMs = beganMs;
  };

  const sync = () => {
    running ??= syncOnce().finally(() => {
      running = undefined;
    });
    return running;
  };

  return {
    sync,
    take,
    sealer,
    ready(missing, ensure) {
      // Other nodes may change the keys while this process is suspended. So the age of the copy is measured with `performance.now`, which
      // also counts the time of a suspension.
      const isFresh = performance.now() - syncedMs < limits.freshMs;
      if (isFresh && missing.length === 0) return undefined;
      return (async () => {
        if (!isFresh) await sync();
        const lacking = missing.filter((id) => !sealer.has(id));
        if (lacking.length > 0) await ensure(lacking);
      })();
    },
    keyIds: () => new Set(known.keys()),
    vaultKeys: () => order,
    retired: () => retired,
    lacks: () => lacking,
    isRotating: () => version?.rotation !== undefined && version.rotation.state !== "done",
    rotationRead: () => rotationRead,
  };
}
