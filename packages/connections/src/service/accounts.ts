import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { byId, isRowReached, projectList, requireId, requireProject } from "@svc/core";
import type { ConnectedAccount } from "@svc/db/connections/account";
import { setAccountReferences } from "@svc/db/connections/references";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import { isUniqueViolation } from "@svc/db/driver-error";
import type { ConnectedAccountState } from "@svc/db/schema/words";
import type { ConnectionsService } from "@svc/gen/connections";
import { verifiedReferenceOf } from "../activate-account.ts";
import { toConnectedAccount } from "../convert.ts";
import { exclusiveReferences, findToolkit, isReference } from "../definition.ts";
import { connectionFaults } from "../errors.ts";
import type { ConnectionsOptions } from "../options.ts";
import { type TestConnectionContext, testConnection } from "./try-connection.ts";

type Methods = Pick<
  ServiceImpl<typeof ConnectionsService>,
  "getConnection" | "listConnections" | "testConnection" | "deleteConnection" | "setAccountReferences"
>;

/** The calls about accounts that there are. */
export function accountMethods(options: TestConnectionContext): Methods {
  const { db, clock, sealer } = options;
  const find = async (text: string, ctx: HandlerContext): Promise<ConnectedAccount> => {
    const id = requireId("acc", "id", text);
    const { projectId, binding } = requireProject(ctx);
    const row = await connectedAccountsForProject(db, projectId).find(id);
    if (row === undefined || !isRowReached(row, binding)) throw connectionFaults.CONNECTION_NOT_FOUND(text);
    return row;
  };
  return {
    async getConnection({ id }, ctx) {
      const account = toConnectedAccount(await find(id, ctx), clock.now());
      return { account };
    },
    listConnections: projectList(sealer, {
      call: "ListConnections",
      order: byId("acc"),
      filter: ({ toolkitSlug, entityId, state }) => ({ toolkitSlug, entityId, state: stateOf(state) }),
      rows: ({ filter, page, caller: { projectId } }) =>
        connectedAccountsForProject(db, projectId).list(filter, page, clock.now()),
      isReached: (row, binding) => isRowReached(row, binding),
      answer: (rows) => ({ accounts: rows.map((row) => toConnectedAccount(row, clock.now())) }),
    }),
    async testConnection({ id }, ctx) {
      return testConnection(options, requireProject(ctx), await find(id, ctx));
    },
    async deleteConnection({ id }, ctx) {
      const row = await find(id, ctx);
      await connectedAccountsForProject(db, row.projectId).revoke(row.id, clock.now());
      return {};
    },
    async setAccountReferences({ id, references }, ctx) {
      const row = await find(id, ctx);
      checkReferences(references);
      const changed = await replaceReferences(options, row, references);
      const account = toConnectedAccount(changed, clock.now());
      return { account };
    },
  };
}

const states: readonly ConnectedAccountState[] = ["pending", "active", "expired", "superseded", "revoked"];

function stateOf(text: string): ConnectedAccountState | "" {
  const state = text === "" ? "" : states.find((known) => known === text);
  if (state === undefined) throw connectionFaults.CONNECTION_STATE_INVALID(text, states);
  return state;
}

const referencesMax = 100;

function checkReferences(references: readonly string[]): void {
  if (references.length > referencesMax) {
    throw connectionFaults.REFERENCE_INVALID(
      "references",
      `has ${references.length} entries; ${referencesMax} is the most`,
    );
  }
  const seen = new Set<string>();
  references.forEach((reference, index) => {
    const field = `references[${index}]`;
    if (!isReference(reference)) {
      throw connectionFaults.REFERENCE_INVALID(
        field,
        "is empty, longer than 512 characters, or holds control characters",
      );
    }
    if (seen.has(reference)) throw connectionFaults.REFERENCE_INVALID(field, "is given twice");
    seen.add(reference);
  });
}

/** Throws REFERENCE_TAKEN and CONNECTION_NOT_USABLE. */
async function replaceReferences(
  { views, db, clock, sealer }: ConnectionsOptions,
  row: ConnectedAccount,
  references: readonly string[],
): Promise<ConnectedAccount> {
  const verified = verifiedReferenceOf(sealer, row);
  const all = [...new Set([...(verified === undefined ? [] : [verified]), ...references])];
  const toolkit = await findToolkit(views, row);
  const exclusive = toolkit === undefined ? [] : exclusiveReferences(toolkit, all, verified);
  const change = { references: all, exclusive, nowMs: clock.now() };
  try {
    const changed = await setAccountReferences(db, row, change);
    if (changed !== undefined) return changed;
  } catch (error) {
    if (isUniqueViolation(error, "account_references_key")) throw connectionFaults.REFERENCE_TAKEN("references");
    throw error;
  }
  const now = await connectedAccountsForProject(db, row.projectId).find(row.id);
  throw connectionFaults.CONNECTION_NOT_USABLE(row.id, now?.state ?? "revoked");
}
