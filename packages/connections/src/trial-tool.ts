import type { Action, Toolkit } from "@svc/catalog";

/** A tool that tests a credential, and the arguments of that call. */
export type TestTool = {
  readonly action: Action;
  readonly args: Readonly<Record<string, unknown>>;
  /** True if the toolkit's definition names the tool as the one that identifies an account. */
  readonly isDeclared: boolean;
};

/** Names of tools that apps answer without a credential. */
const openNames = /(?:^|_)(?:health|ping|status|version|telemetry|metrics)(?:_|$)/;
/** Names of tools whose answer contains secrets. A test must not bring them into the ledger. */
const secretNames = /(?:^|_)(?:keys?|secrets?|tokens?|credentials?|passwords?)(?:_|$)/;

/** True if an answer of the tool proves that its app accepted the credential. Apps answer some tools without one. */
export function needsCredential({ name }: Pick<Action, "name">): boolean {
  return !openNames.test(name);
}

/**
 * Returns the read that tests a toolkit's credential: the tool that the definition names in `identify`, otherwise the smallest read without
 * required arguments. A GET comes before others, then the one with the fewest arguments. Undefined if there is none.
 */
export function chooseTestTool(toolkit: Toolkit): TestTool | undefined {
  const declared = toolkit.actions.find(({ name, callable }) => callable && name === toolkit.identify?.tool);
  if (declared !== undefined) return { action: declared, args: {}, isDeclared: true };
  const [action] = toolkit.actions.filter(isHarmless).sort(bySize);
  return action && { action, args: fewestRows(action), isDeclared: false };
}

function isHarmless(action: Action): boolean {
  const { class: accessClass, callable, replacedBy, name } = action;
  if (accessClass !== "read" || !callable || replacedBy !== undefined) return false;
  return needsCredential(action) && !secretNames.test(name) && isEmptyList(action.inputSchema["required"]);
}

function isEmptyList(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}

function bySize(a: Action, b: Action): number {
  const byMethod = Number(a.request.method !== "GET") - Number(b.request.method !== "GET");
  return byMethod || argumentNames(a).length - argumentNames(b).length || (a.name < b.name ? -1 : 1);
}

function argumentNames({ inputSchema }: Action): string[] {
  return Object.keys(inputSchema["properties"] ?? {});
}

/** One row of a list proves as much as a page. */
function fewestRows({ paging, inputSchema }: Action): TestTool["args"] {
  const size = paging?.size;
  if (size === undefined) return {};
  const schema: unknown = Object(inputSchema["properties"])[size];
  const least = { type: "integer", minimum: 1, ...Object(schema) };
  return least.type === "integer" && least.enum === undefined ? { [size]: Math.max(1, least.minimum) } : {};
}
