import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ProjectPrincipal } from "@svc/core";
import type { ConnectedAccount } from "@svc/db/connections/account";
import { noteCredentialTry } from "@svc/db/connections/refresh";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import { type TestConnectionResponse, TestConnectionResponseSchema } from "@svc/gen/connections";
import { toConnectedAccount } from "../convert.ts";
import { findToolkit } from "../definition.ts";
import { connectionFaults } from "../errors.ts";
import type { ConnectionsOptions, TestRead, TestReadResult } from "../options.ts";
import { chooseTestTool, type TestTool } from "../trial-tool.ts";

/** The parts that a test of a connection needs. `testRead` makes the read as a call of a tool. */
export type TestConnectionContext = ConnectionsOptions & { readonly testRead: TestRead };

type Verdict = { readonly outcome: "works" | "refused" | "unknown"; readonly message: string };

/** TestConnection of an account that the key reaches. Throws CONNECTION_NOT_USABLE, CONNECTION_NOT_TESTABLE and the refusals of CallTool. */
export async function testConnection(
  context: TestConnectionContext,
  principal: ProjectPrincipal,
  row: ConnectedAccount,
): Promise<TestConnectionResponse> {
  const { views, db, clock, testRead } = context;
  const { state, lastError } = toConnectedAccount(row, clock.now());
  if (state !== "active") throw connectionFaults.CONNECTION_NOT_USABLE(row.id, state, lastError);
  if (context.isSandbox || row.isSandbox) return answered(context, row, untried(context));
  const toolkit = await findToolkit(views, row);
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

/** Nothing is sent: the emulator takes any credential, and an account of the sandbox has none for the app. */
function untried({ isSandbox }: TestConnectionContext): Verdict {
  const why = isSandbox ? "the sandbox answers in place of the app" : "the account was made in the sandbox";
  return { outcome: "unknown", message: `nothing was tried: ${why}, so nothing is known of the credential` };
}

/** Returns what the read shows of the credential. Only an answer of the app shows that it is bad. */
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
  const how = isReached ? "the answer does not say whether the credential is good" : "the app could not be asked";
  return { outcome: "unknown", message: `${how}, so nothing is known of the credential: ${message}` };
}
