import { createIdentityProvider } from "../people/provider.ts";
import type { CheckResult, DoctorCheck, Examined } from "./examined.ts";

/** The check of the company's identity provider, with whose accounts people sign in to the console. */
export const providerCheck: DoctorCheck = {
  name: "company accounts",
  reads: ["SVC_OIDC_ISSUER", "SVC_OIDC_CLIENT_ID", "SVC_OIDC_GROUPS"],
  run: checkProvider,
  mend: "Set SVC_OIDC_ISSUER to the address that the provider's discovery document names as its issuer. If it is a private address, add it to SVC_PROVIDER_CIDRS.",
};

async function checkProvider({ config, clock }: Examined): Promise<CheckResult> {
  const { oidc, providerRanges: allowedRanges } = config;
  if (oidc === undefined) return "not used: people sign in with keys";
  const provider = createIdentityProvider(oidc, { clock, allowedRanges, secret: async () => undefined });
  try {
    const { grant_types_supported: grants = ["refresh_token"] } = await provider.describe();
    if (grants.includes("refresh_token")) return `${oidc.issuer} answers`;
    return {
      state: "warning",
      message: `${oidc.issuer} gives no refresh tokens, so a removed account keeps its session until SVC_SESSION_MAX`,
      mend: "Allow refresh tokens for svc at the provider, or set SVC_SESSION_MAX to a short time, such as PT1H.",
    };
  } catch (error) {
    return { state: "error", message: error instanceof Error ? error.message : String(error) };
  } finally {
    await provider.close();
  }
}
