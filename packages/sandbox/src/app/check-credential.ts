import type { AuthScheme } from "@svc/catalog";
import type { AppCall } from "@svc/connections";

/** The scheme whose credential a call carries, as its toolkit declares it; undefined when the toolkit declares no such scheme. */
export function schemeOf({ toolkit, scheme }: AppCall): AuthScheme | undefined {
  return toolkit.auth.find(({ type }) => type === scheme);
}
