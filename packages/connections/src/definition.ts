import type { CatalogViews, Toolkit } from "@svc/catalog";
import { isPrintableText } from "@svc/core";
import type { AccountDefinition, ConnectedAccount } from "@svc/db/connections/account";
import type { CallableAccountRow } from "@svc/db/connections/find-callable";

/**
 * Returns the definition that a toolkit's accounts belong to. A private toolkit that hides a shared one never uses its accounts, and
 * accounts of the sandbox are never used outside it, or the reverse.
 */
export function definitionOf(toolkit: Toolkit, isSandbox: boolean): AccountDefinition {
  return { toolkitSlug: toolkit.slug, isPrivate: toolkit.ownerProjectId !== "", isSandbox };
}

/** True if an account belongs to this toolkit, in the sandbox or outside it. */
export function belongsTo(account: Omit<AccountDefinition, "isSandbox">, toolkit: Toolkit): boolean {
  return account.toolkitSlug === toolkit.slug && account.isPrivate === (toolkit.ownerProjectId !== "");
}

/** Returns the toolkit of an account, including a shared one that the project hides, or undefined if it is gone. */
export async function findToolkit(
  views: CatalogViews,
  account: Pick<ConnectedAccount, "projectId" | "toolkitSlug" | "isPrivate">,
): Promise<Toolkit | undefined> {
  const view = account.isPrivate ? await views.forProject(account.projectId) : views.shared;
  const toolkit = view.toolkits.get(account.toolkitSlug);
  return toolkit !== undefined && belongsTo(account, toolkit) ? toolkit : undefined;
}

/** Returns a digest of the address that a private definition sends credentials to. Null for a shared one, whose author is the operator. */
export function originDigestOf(toolkit: Toolkit): Buffer | null {
  return toolkit.ownerProjectId === "" ? null : Buffer.from(toolkit.originDigest, "hex");
}

/** True if credentials still go to the same address as when the account was created. */
export function keepsOrigin(
  { originDigest }: Pick<ConnectedAccount | CallableAccountRow, "originDigest">,
  toolkit: Toolkit,
): boolean {
  return toolkit.ownerProjectId === "" || originDigest?.toString("hex") === toolkit.originDigest;
}

/**
 * Returns the references of an account that no other account of the deployment may have. A private toolkit's have none, because its slug
 * means nothing to others. The app's own id is exclusive only if events are matched by it: two entities may share an account of an app that
 * sends no events.
 */
export function exclusiveReferences(
  toolkit: Toolkit,
  references: readonly string[],
  verified: string | undefined,
): readonly string[] {
  if (toolkit.ownerProjectId !== "") return [];
  return toolkit.webhook === undefined ? references.filter((reference) => reference !== verified) : references;
}

const referenceCharactersMax = 512;

/** True if a text can be a reference of an account: 1 to 512 printable characters. */
export function isReference(text: string): boolean {
  return text !== "" && isPrintableText(text, referenceCharactersMax);
}
