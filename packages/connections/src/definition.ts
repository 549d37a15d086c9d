import type { CatalogViews, Toolkit } from "@svc/catalog";
import { isPrintableText } from "@svc/core";
import type { AccountDefinition, ConnectedAccount } from "@svc/db/connections/account";
import type { CallableAccountRow } from "@svc/db/connections/find-callable";

/**
 * The definition that a toolkit's accounts belong to: a private toolkit that hides a shared one never meets its accounts, and
 * what was connected in the sandbox never meets what was connected outside it.
 */
export function definitionOf(toolkit: Toolkit, isSandbox: boolean): AccountDefinition {
  return { toolkitSlug: toolkit.slug, isPrivate: toolkit.ownerProjectId !== "", isSandbox };
}

/** Whether an account is one of this toolkit, in the sandbox or outside it. */
export function belongsTo(account: Omit<AccountDefinition, "isSandbox">, toolkit: Toolkit): boolean {
  return account.toolkitSlug === toolkit.slug && account.isPrivate === (toolkit.ownerProjectId !== "");
}

/** The toolkit of an account; a shared one also while the project hides it. Undefined when it is gone. */
export async function findToolkit(
  views: CatalogViews,
  account: Pick<ConnectedAccount, "projectId" | "toolkitSlug" | "isPrivate">,
): Promise<Toolkit | undefined> {
  const view = account.isPrivate ? await views.forProject(account.projectId) : views.shared;
  const toolkit = view.toolkits.get(account.toolkitSlug);
  return toolkit !== undefined && belongsTo(account, toolkit) ? toolkit : undefined;
}

/** What is kept of where a definition sends credentials: of a private one only, whose author is not the deployment's operator. */
export function originDigestOf(toolkit: Toolkit): Buffer | null {
  return toolkit.ownerProjectId === "" ? null : Buffer.from(toolkit.originDigest, "hex");
}

/** Whether credentials still go where they went when the account was made. */
export function keepsOrigin(
  { originDigest }: Pick<ConnectedAccount | CallableAccountRow, "originDigest">,
  toolkit: Toolkit,
): boolean {
  return toolkit.ownerProjectId === "" || originDigest?.toString("hex") === toolkit.originDigest;
}

/**
 * Which references of an account no other account of the deployment may hold. None of a private toolkit's, whose slug says
 * nothing to others; and what the app itself said of an account is its alone only where events are matched with it: two
 * entities may well share an account of an app that sends none.
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

/** Whether a text can be a reference of an account: 1 to 512 printable characters. */
export function isReference(text: string): boolean {
  return text !== "" && isPrintableText(text, referenceCharactersMax);
}
