import type { AuthScheme } from "@svc/catalog";
import type { AppCall } from "@svc/connections";

/**
 * Returns the authentication scheme of the credential that a call carries. Returns undefined if the app's toolkit does not declare this
 * scheme.
 */
export function schemeOf({ toolkit, scheme }: AppCall): AuthScheme | undefined {
  return toolkit.auth.find(({ type }) => type === scheme);
}
