import { answerFindings, type Finding, testFindings } from "@svc/core/app-check";
import type { ConnectedAccount, SvcClient } from "@svc/sdk";
import { failureText } from "../../command/error.ts";
import { plainText } from "../../text/plain.ts";

/**
 * Checks that the real app of a toolkit answers as the toolkit's definition says, with two reads of the account. The read is the one that
 * identifies an account, or the first one that needs no arguments. Returns one finding for each part: the address, TLS, the credential, the
 * form of the answer, missing fields and paging. A part that could not be checked has no finding.
 */
export async function checkAccount(
  client: SvcClient,
  account: ConnectedAccount,
  projectId: string,
): Promise<readonly Finding[]> {
  const { toolkitSlug, entityId, id } = account;
  const { spec } = await client.catalog.getToolkitConnectSpec({ slug: toolkitSlug, projectId });
  const test = await client.connections.testConnection({ id });
  const findings = testFindings(spec?.baseUrlTemplate ?? "", test);
  if (test.outcome !== "works") return findings.map(asPlain);
  const { tool } = await client.catalog.getTool({ slug: test.toolSlug, projectId });
  const call = { toolSlug: test.toolSlug, argumentsJson: "{}", entityId, connectedAccountId: id };
  return [...findings, ...answerFindings(tool, await client.tools.callTool(call))].map(asPlain);
}

/** Returns a finding without characters that a terminal would interpret: it may quote the app. */
function asPlain(finding: Finding): Finding {
  return { ...finding, says: plainText(finding.says) };
}

/** Returns findings as lines of text, one each. */
export function findingLines(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ part, isGood, says }) => `${isGood ? "ok" : "WRONG"}`.padEnd(7) + part.padEnd(12) + says);
}

/** Returns the finding about an account that could not be connected, because the app refused its credential or could not be asked. */
export function refusedFinding(err: unknown): Finding {
  return { part: "credential", isGood: false, says: plainText(failureText(err)) };
}
