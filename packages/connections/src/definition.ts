import { type CatalogViews, isPlayed, type SandboxMode, type Toolkit } from "@svc/catalog";
import { isPrintableText } from "@svc/core";
import type { AccountDefinition, ConnectedAccount } from "@svc/db/connections/account";
import type { CallableAccountRow } from "@svc/db/connections/find-callable";

/**
 * Returns the slug, `isPrivate` and `isSandbox` of the accounts that a toolkit can use. An account fits only if it has the same three
 * values. So a private toolkit never uses accounts of a shared toolkit with the same slug.
 */
export function definitionOf(toolkit: Toolkit, mode: SandboxMode): AccountDefinition {
  const isPrivate = toolkit.ownerProjectId !== "";
  return { toolkitSlug: toolkit.slug, isPrivate, isSandbox: isPlayed(toolkit, mode) };
}

/** True if an account belongs to this toolkit's app, in the sandbox or outside it. */
export function belongsTo(account: Omit<AccountDefinition, "isSandbox">, toolkit: Toolkit): boolean {
  return account.toolkitSlug === toolkit.slug && account.isPrivate === (toolkit.ownerProjectId !== "");
}

/**
 * Returns the toolkit (svc's definition of one app) of an account; undefined if it no longer exists. It may also be a shared toolkit that a
 * private one hides from the project.
 */
export async function findToolkit(
  views: CatalogViews,
  account: Pick<ConnectedAccount, "projectId" | "toolkitSlug" | "isPrivate">,
): Promise<Toolkit | undefined> {
  const view = account.isPrivate ? await views.forProject(account.projectId) : views.shared;
  const toolkit = view.toolkits.get(account.toolkitSlug);
  return toolkit !== undefined && belongsTo(account, toolkit) ? toolkit : undefined;
}

/**
 * Returns a hash of the address to which a private toolkit (published by one project) sends credentials. Returns null for a shared toolkit,
 * because its author is the operator.
 */
export function originDigestOf(toolkit: Toolkit): Buffer | null {
  return toolkit.ownerProjectId === "" ? null : Buffer.from(toolkit.originDigest, "hex");
}

/**
 * True if svc still sends an account's credential to the same address as when the account was created. False if a private toolkit
 * (published by one project) has changed this address since then. Always true for a shared toolkit.
 */
export function keepsOrigin(
  { originDigest }: Pick<ConnectedAccount | CallableAccountRow, "originDigest">,
  toolkit: Toolkit,
): boolean {
  return toolkit.ownerProjectId === "" || originDigest?.toString("hex") === toolkit.originDigest;
}

/**
 * Returns the references (the app's ids for an account) that no other account in the deployment may have. svc uses such a reference to find
 * the one account to which a webhook post belongs.
 * - Returns none for a private toolkit (an app that a project defined for itself), because only this project receives its posts.
 * - Leaves out the id that the app itself reported if the toolkit has no webhook. Two entities (customers or users) may then connect the
 *   same account of the app.
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
