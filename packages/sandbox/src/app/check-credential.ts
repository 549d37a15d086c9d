import type { AuthScheme } from "@svc/catalog";
import type { AppCall } from "@svc/connections";

/** Returns the scheme of the credential that a call carries, as its toolkit declares it; undefined if the toolkit does not declare it. */
export function schemeOf({ toolkit, scheme }: AppCall): AuthScheme | undefined {
  return toolkit.auth.find(({ type }) => type === scheme);
}
