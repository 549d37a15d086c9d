import { startIdentityProvider, type TestIdentityProvider } from "@svc/testing/identity-provider";
import { startTestServer, type TestServer } from "@svc/testing/server";

/** A test server whose people sign in at a provider on loopback. */
export type PeopleServer = {
  readonly provider: TestIdentityProvider;
  readonly svc: TestServer;
  /** Adds an account to the provider, with which the next sign-in happens. Returns its id. */
  account(name: string, groups?: string[]): string;
  /** Makes every person due for a check with the provider. The server's loop then asks within 10 s. */
  checkPeople(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts a provider and a server that uses it. */
export async function startPeopleServer(variables: Record<string, string> = {}): Promise<PeopleServer> {
  const provider = await startIdentityProvider();
  const svc = await startTestServer({
    variables: {
      SVC_OIDC_ISSUER: provider.url,
      SVC_OIDC_CLIENT_ID: provider.clientId,
      SVC_OIDC_CLIENT_SECRET: provider.clientSecret,
      SVC_OIDC_ALLOWED_DOMAINS: "example.com",
      SVC_OIDC_GROUPS: "ops=administrator; dev=member@default; cn=leads,ou=all=approver@*; audit=viewer@default",
      SVC_PROVIDER_CIDRS: "127.0.0.0/8",
      ...variables,
    },
  });
  provider.register(svc.url);
  return {
    ...{ provider, svc },
    account(name, groups = []) {
      provider.accounts.set(name, { mail: `${name}@example.com`, name: `Name of ${name}`, groups });
      provider.current = name;
      return name;
    },
    checkPeople: async () =>
      void (await svc.database.db.sql.unsafe("update people set checked_at = now() - interval '1 hour'")),
    async stop() {
      await svc.stop();
      await provider.stop();
    },
  };
}
