import type { ConnectedAccount, SvcClient, Tool } from "@svc/sdk";
import { failureText } from "../../command/error.ts";
import { plainText } from "../../text/plain.ts";

/** A finding of the check of a connected account. `isGood`: false if calls of the toolkit's tools will not work as their definitions say. */
export type Finding = { readonly part: string; readonly isGood: boolean; readonly says: string };

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
  const address = spec?.baseUrlTemplate ?? "";
  const tested = await client.connections.testConnection({ id });
  if (tested.outcome !== "works") return failedFindings(address, tested);
  const reached = reachedFindings(address);
  const credential = { part: "credential", isGood: true, says: `taken: the app answered ${tested.toolSlug}` };
  const { tool } = await client.catalog.getTool({ slug: tested.toolSlug, projectId });
  const call = { toolSlug: tested.toolSlug, argumentsJson: "{}", entityId, connectedAccountId: id };
  const { warnings, resultJson, outcome, message } = await client.tools.callTool(call);
  if (outcome !== "ok") return [...reached, credential, { part: "answer", isGood: false, says: plainText(message) }];
  const mismatch = warnings.find((warning) => warning.startsWith("output_mismatch"));
  const answer = {
    part: "answer",
    isGood: mismatch === undefined,
    says: mismatch === undefined ? "in the form that the definition says" : plainText(mismatch.replace(/^\w+: /, "")),
  };
  return [...reached, credential, answer, ...formFindings(tool, resultJson)];
}

function reachedFindings(address: string): readonly Finding[] {
  const tls = address.startsWith("https:") ? "the certificate is trusted" : "none: the app is on this machine";
  return [
    { part: "address", isGood: true, says: `${address} answers` },
    { part: "TLS", isGood: true, says: tls },
  ];
}

type Tested = Awaited<ReturnType<SvcClient["connections"]["testConnection"]>>;

function failedFindings(address: string, { outcome, message, providerStatus: status }: Tested): readonly Finding[] {
  const says = plainText(message);
  if (status === 0) {
    const part = /certificate|self-signed|TLS|SSL/i.test(message) ? "TLS" : "address";
    return [{ part, isGood: false, says: `${address}: ${says}` }];
  }
  if (status === 404) {
    const what = `${address} answers 404: it is not the base URL of the app's API, or the app is another one (${says})`;
    return [{ part: "address", isGood: false, says: what }];
  }
  const part = outcome === "refused" ? "credential" : "answer";
  return [...reachedFindings(address), { part, isGood: false, says }];
}

type Schema = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
};

/** Returns what an answer shows about the fields and the paging of a tool. */
function formFindings(tool: Tool | undefined, resultJson: string): readonly Finding[] {
  if (tool === undefined) return [];
  const { properties = {} } = JSON.parse(tool.outputSchemaJson) as Schema;
  const result = JSON.parse(resultJson === "" ? "{}" : resultJson) as Readonly<Record<string, unknown>>;
  const missing = Object.keys(properties).filter((name) => !Object.hasOwn(result, name));
  const rows = Object.entries(properties).flatMap(([name, { items }]) => {
    const first = Array.isArray(result[name]) ? result[name][0] : undefined;
    const fields = Object.keys(items?.properties ?? {});
    return typeof first === "object" && first !== null && fields.length > 0 ? [{ name, fields, first }] : [];
  });
  const empty = rows.filter(({ fields, first }) => !fields.some((field) => Object.hasOwn(first, field)));
  const lists = Object.entries(properties).flatMap(([name, { type }]) => (type === "array" ? [name] : []));
  const hasNoList = lists.length > 0 && lists.every((name) => missing.includes(name));
  const isGood = !hasNoList && missing.length < Math.max(1, Object.keys(properties).length) && empty.length === 0;
  const absent = [
    ...missing,
    ...rows.flatMap(({ name, fields, first }) =>
      fields.filter((field) => !Object.hasOwn(first, field)).map((field) => `${name}[].${field}`),
    ),
  ];
  const says = absent.length === 0 ? "none is missing" : `the answer has no ${shortened(absent)}`;
  return [{ part: "fields", isGood, says }, ...pagingFindings(tool, rows.length > 0)];
}

/** Maximum number of names that a finding lists. */
const namesMax = 8;

function shortened(names: readonly string[]): string {
  const more = names.length - namesMax;
  return `${names.slice(0, namesMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function pagingFindings({ slug, pagingJson }: Tool, isList: boolean): readonly Finding[] {
  if (!isList && pagingJson === "") return [];
  const says = pagingJson === "" ? `${slug} has no paging: programs read its first page only` : `${slug} has paging`;
  return [{ part: "paging", isGood: true, says }];
}

/** Returns findings as lines of text, one each. */
export function findingLines(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ part, isGood, says }) => `${isGood ? "ok" : "WRONG"}`.padEnd(7) + part.padEnd(12) + says);
}

/** Returns the finding about an account that could not be connected, because the app refused its credential or could not be asked. */
export function refusedFinding(err: unknown): Finding {
  return { part: "credential", isGood: false, says: plainText(failureText(err)) };
}
