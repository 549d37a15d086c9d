import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { isPlayed } from "@svc/catalog";
import { byId, isRowInScope, type ProjectPrincipal, projectList, requireId, requireProject } from "@svc/core";
import type { ConnectedAccount } from "@svc/db/connections/account";
import { setAccountReferences } from "@svc/db/connections/references";
import { noteCredentialTry } from "@svc/db/connections/refresh";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import { isUniqueViolation } from "@svc/db/driver";
import type { ConnectedAccountState } from "@svc/db/schema/words";
import {
  type ConnectionsService,
  type TestConnectionResponse,
  TestConnectionResponseSchema,
} from "@svc/gen/connections";
import { verifiedReferenceOf } from "../activate-account.ts";
import { toConnectedAccount } from "../convert.ts";
import { exclusiveReferences, findToolkit, isReference } from "../definition.ts";
import { connectionFaults } from "../errors.ts";
import type { ConnectionsOptions, TestReadResult } from "../options.ts";
import { chooseTestTool, type TestTool } from "../trial-tool.ts";
import type { TestConnectionContext } from "./try-connection.ts";

type Verdict = { readonly outcome: "works" | "refused" | "unknown"; readonly message: string };

type Methods = Pick<
  ServiceImpl<typeof ConnectionsService>,
  "getConnection" | "listConnections" | "testConnection" | "deleteConnection" | "setAccountReferences"
>;

/** Returns the methods of ConnectionsService for accounts that already exist, for example to list, test and delete them. */
export function accountMethods(options: TestConnectionContext): Methods {
  const { db, clock, sealer } = options;
  const find = async (text: string, ctx: HandlerContext): Promise<ConnectedAccount> => {
    const id = requireId("acc", "id", text);
    const { projectId, binding } = requireProject(ctx);
    const row = await connectedAccountsForProject(db, projectId).find(id);
    if (row === undefined || !isRowInScope(row, binding)) throw connectionFaults.CONNECTION_NOT_FOUND(text);
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
      isInScope: (row, binding) => isRowInScope(row, binding),
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

/**
 * Replaces the references of an account (the app's ids for it) by those of the request, and returns the account. The id that the app itself
 * reported is kept. Throws REFERENCE_TAKEN and CONNECTION_NOT_USABLE.
 */
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

/**
 * Tests the credential of an account in the key's scope (the call TestConnection). Throws CONNECTION_NOT_TESTABLE if no read can test it,
 * CONNECTION_NOT_USABLE if the account is not active, and the refusals of CallTool.
 */
async function testConnection(
  context: TestConnectionContext,
  principal: ProjectPrincipal,
  row: ConnectedAccount,
): Promise<TestConnectionResponse> {
  const { views, db, clock, testRead } = context;
  const { state, lastError } = toConnectedAccount(row, clock.now());
  if (state !== "active") throw connectionFaults.CONNECTION_NOT_USABLE(row.id, state, lastError);
  const toolkit = await findToolkit(views, row);
  const isSandbox = toolkit !== undefined && isPlayed(toolkit, context.sandboxMode);
  if (isSandbox || row.isSandbox) return answered(context, row, untried(isSandbox));
  if (toolkit === undefined) throw connectionFaults.CONNECTION_NOT_TESTABLE(row, "is not served any more");
  const tool = chooseTestTool(toolkit);
  if (tool === undefined) throw connectionFaults.CONNECTION_NOT_TESTABLE(row, "has no read that takes no arguments");
  const { action, args } = tool;
  const read = await testRead({ principal, toolkit, action, args, account: row });
  const accounts = connectedAccountsForProject(db, row.projectId);
  const verdict = judge(tool, read, (await accounts.find(row.id)) ?? row);
  const tried = { isTaken: verdict.outcome === "works", nowMs: clock.now() };
  if (verdict.outcome !== "unknown" && row.scheme !== "none") await noteCredentialTry(db, row, tried);
  const { callId, providerStatus } = read;
  const answer = { ...verdict, callId, providerStatus, toolSlug: action.slug };
  return answered(context, (await accounts.find(row.id)) ?? row, answer);
}

function answered(
  { clock }: TestConnectionContext,
  row: ConnectedAccount,
  answer: Verdict & { readonly callId?: string; readonly providerStatus?: number; readonly toolSlug?: string },
): TestConnectionResponse {
  const nowMs = clock.now();
  const account = toConnectedAccount(row, nowMs);
  return create(TestConnectionResponseSchema, { ...answer, testedAt: timestampFromMs(nowMs), account });
}

/**
 * Returns the result of a connection test (TestConnection) without a request to the app: nothing is known about the credential. It is used
 * in two cases. In the sandbox, svc plays the apps and accepts any credential. Outside of it, an account that was made in the sandbox has
 * no credential for the real app.
 */
function untried(isSandbox: boolean): Verdict {
  const why = isSandbox ? "the sandbox answers in place of the app" : "the account was made in the sandbox";
  return { outcome: "unknown", message: `nothing was tried: ${why}, so nothing is known of the credential` };
}

/**
 * Returns the result of a connection test, from the read that tested the credential: the credential works, the app refused it, or the read
 * does not show which. The result is "refused" only if the app itself refused the read.
 */
function judge({ action, isDeclared }: TestTool, read: TestReadResult, after: ConnectedAccount): Verdict {
  const { isOk, message, providerStatus: status, saysError } = read;
  if (isOk) return { outcome: "works", message: `the app answered ${action.slug} with ${status}` };
  if (status === 401 || (status === 0 && after.state === "expired" && after.isCredentialTaken === false))
    return { outcome: "refused", message };
  if (status === 403) {
    return { outcome: "refused", message: `${message}. The credential is wrong, or may not make this read` };
  }
  if (isDeclared && saysError) return { outcome: "refused", message };
  const isReached = status !== 0;
  const how = isReached ? "the answer does not say if the credential works" : "the app could not be asked";
  return { outcome: "unknown", message: `${how}, so nothing is known of the credential: ${message}` };
}
