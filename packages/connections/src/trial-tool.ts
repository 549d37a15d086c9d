import type { Action, Toolkit } from "@svc/catalog";

/** A tool whose call tests the credential of an account, and the arguments of that call. */
export type TestTool = {
  readonly action: Action;
  readonly args: Readonly<Record<string, unknown>>;
  /** True if the definition of the app's toolkit names this tool as the one that identifies an account. */
  readonly isDeclared: boolean;
};

/** Matches names of tools that apps answer without checking the credential. */
const openNames = /(?:^|_)(?:health|ping|status|version|telemetry|metrics)(?:_|$)/;
/**
 * Matches names of tools whose answer contains secrets. Such a tool is not used for a test, because its answer would be stored in the
 * ledger (the record of calls).
 */
const secretNames = /(?:^|_)(?:keys?|secrets?|tokens?|credentials?|passwords?)(?:_|$)/;

/**
 * True if a successful answer of the tool proves that the app accepted the credential. False for tools (such as a status check) that apps
 * answer without a credential.
 */
export function needsCredential({ name }: Pick<Action, "name">): boolean {
  return !openNames.test(name);
}

/**
 * Returns the read that tests the credential of an app's account: the tool that the toolkit's definition names in `identify`, or else a
 * read without required arguments. Among these, a GET comes first, then the read with the fewest arguments. Undefined if there is none.
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

/** Returns the arguments that request the fewest rows of a list, because one row proves as much as a whole page. */
function fewestRows({ paging, inputSchema }: Action): TestTool["args"] {
  const size = paging?.size;
  if (size === undefined) return {};
  const schema: unknown = Object(inputSchema["properties"])[size];
  const least = { type: "integer", minimum: 1, ...Object(schema) };
  return least.type === "integer" && least.enum === undefined ? { [size]: Math.max(1, least.minimum) } : {};
}
