/** A part of a real app that the check of a connected account looks at. */
export type CheckedPart = "address" | "TLS" | "credential" | "answer" | "fields" | "paging";

/**
 * A finding of the check of a connected account: what svc saw of one part of the app. `isGood`: false if calls of the toolkit's tools will
 * not work as their definitions say. `says` may quote the app.
 */
export type Finding = { readonly part: CheckedPart; readonly isGood: boolean; readonly says: string };

/** Answer of TestConnection, as far as the check needs it. */
type CredentialTest = {
  readonly outcome: string;
  readonly message: string;
  readonly providerStatus: number;
  readonly toolSlug: string;
};

/**
 * Returns the findings about a test of an account's credential: the address of the app, TLS, and the credential. A part that the test did
 * not reach has no finding. `address`: base URL of the app's toolkit.
 */
export function testFindings(address: string, test: CredentialTest): readonly Finding[] {
  const { outcome, message, providerStatus: status, toolSlug } = test;
  if (outcome === "works") {
    const says = `taken: the app answered ${toolSlug}`;
    return [...reachedFindings(address), { part: "credential", isGood: true, says }];
  }
  if (status === 0) {
    const part = /certificate|self-signed|TLS|SSL/i.test(message) ? "TLS" : "address";
    return [{ part, isGood: false, says: `${address}: ${message}` }];
  }
  if (status === 404) {
    const says = `${address} answers 404: it is not the base URL of the app's API, or the app is another one (${message})`;
    return [{ part: "address", isGood: false, says }];
  }
  const part = outcome === "refused" ? "credential" : "answer";
  return [...reachedFindings(address), { part, isGood: false, says: message }];
}

function reachedFindings(address: string): readonly Finding[] {
  const tls = address.startsWith("https:") ? "the certificate is trusted" : "none: the app is on this machine";
  return [
    { part: "address", isGood: true, says: `${address} answers` },
    { part: "TLS", isGood: true, says: tls },
  ];
}

/** Answer of CallTool, as far as the check needs it. */
type ReadAnswer = {
  readonly outcome: string;
  readonly message: string;
  readonly warnings: readonly string[];
  readonly resultJson: string;
};

/** A tool of the catalog, as far as the check needs it. */
type CheckedTool = { readonly slug: string; readonly outputSchemaJson: string; readonly pagingJson: string };

/**
 * Returns the findings about the app's answer to a read: the form of the answer, missing fields, and paging. `tool`: the tool that was
 * called, undefined if the catalog no longer has it.
 */
export function answerFindings(tool: CheckedTool | undefined, answer: ReadAnswer): readonly Finding[] {
  const { warnings, resultJson, outcome, message } = answer;
  if (outcome !== "ok") return [{ part: "answer", isGood: false, says: message }];
  const mismatch = warnings.find((warning) => warning.startsWith("output_mismatch"));
  const says = mismatch?.replace(/^\w+: /, "") ?? "in the form that the definition says";
  return [{ part: "answer", isGood: mismatch === undefined, says }, ...formFindings(tool, resultJson)];
}

type Schema = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
};

/** Returns what an answer shows about the fields and the paging of a tool. */
function formFindings(tool: CheckedTool | undefined, resultJson: string): readonly Finding[] {
  if (tool === undefined) return [];
  const { properties = {} } = JSON.parse(tool.outputSchemaJson) as Schema;
  const result = fieldsOf(resultJson);
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

/** Returns the fields of a result. A result that is not an object, such as null, has none. */
function fieldsOf(resultJson: string): Readonly<Record<string, unknown>> {
  const result: unknown = JSON.parse(resultJson === "" ? "{}" : resultJson);
  return typeof result === "object" && result !== null ? (result as Readonly<Record<string, unknown>>) : {};
}

/** Maximum number of names that a finding lists. */
const namesMax = 8;

function shortened(names: readonly string[]): string {
  const more = names.length - namesMax;
  return `${names.slice(0, namesMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function pagingFindings({ slug, pagingJson }: CheckedTool, isList: boolean): readonly Finding[] {
  if (!isList && pagingJson === "") return [];
  const says = pagingJson === "" ? `${slug} has no paging: programs read its first page only` : `${slug} has paging`;
  return [{ part: "paging", isGood: true, says }];
}
