import { DefinitionError, definitionFaultText, isOauthRegistered } from "@svc/catalog";
import { faultOfWebhook } from "@svc/node";
import { secretPrefix } from "../config/environment.ts";
import { isLoopbackHost, isLoopbackUrl, loopbackRanges } from "../config/loopback.ts";
import type { Config } from "../config/settings.ts";
import { unknownVariablesText } from "../config/unknown-variables.ts";
import type { CheckResult, DoctorCheck, Examined, Problem } from "./examined.ts";
import { providerCheck } from "./provider-check.ts";
import { backupsCheck, clockCheck, databaseCheck, diskCheck, vaultKeyCheck } from "./store-checks.ts";

/** The check of `svc doctor` for the configuration variables that no other check covers. */
export const configurationCheck: DoctorCheck = {
  name: "configuration",
  run: ({ otherFaults }) =>
    otherFaults.length === 0
      ? "every variable has a valid value"
      : otherFaults.map(({ variable, message }) => ({ state: "error", message: `${variable}: ${message}` })),
  mend: "Correct the variable in the environment or in SVC_ENV_FILE.",
};

/** Every check of `svc doctor`, in the order of its output. A new check is one more entry. */
export const checks: readonly DoctorCheck[] = [
  configurationCheck,
  {
    name: "variables",
    run: ({ config: { environment } }) =>
      warningIf(unknownVariablesText(environment)) ?? "svc knows every SVC_ variable",
    mend: "Correct the names, or remove these variables.",
  },
  databaseCheck,
  clockCheck,
  diskCheck,
  vaultKeyCheck,
  {
    name: "toolkits",
    reads: ["SVC_TOOLKITS", "SVC_DEPLOYMENT"],
    run: checkToolkits,
    mend: "Correct the file. `svc toolkits check` checks it again.",
  },
  {
    name: "webhook secrets",
    run: (examined) => withDefinitions(examined, checkWebhookSecrets),
    mend: "Set the variable to the secret with which the app signs its posts.",
  },
  {
    name: "OAuth clients",
    run: (examined) => withDefinitions(examined, checkOauthClients),
    mend: "Register a client at the app, and set the two variables that `oauth` of the toolkit names in the file of SVC_DEPLOYMENT.",
  },
  {
    name: "public URL",
    reads: ["SVC_PUBLIC_URL", "SVC_HOST"],
    run: ({ config }) => checkPublicUrl(config),
    mend: "Set SVC_PUBLIC_URL to the https address at which callers and apps reach svc.",
  },
  {
    name: "proxies",
    reads: ["SVC_TRUSTED_PROXIES"],
    run: ({ config }) => checkProxies(config),
    mend: "Set SVC_TRUSTED_PROXIES to the addresses of your proxies, such as 10.0.0.0/24.",
  },
  providerCheck,
  {
    name: "open files",
    reads: ["SVC_CONNECTIONS"],
    run: checkOpenFiles,
    mend: "Raise the limit where svc starts (LimitNOFILE= of systemd, `ulimit -n` of a shell), or lower SVC_CONNECTIONS.",
  },
  {
    name: "embedded database",
    run: ({ config }) => checkEmbedded(config),
    mend: "Set SVC_DATABASE_URL to a PostgreSQL of your own, which can have a standby. Or keep the embedded database, and back it up every day.",
  },
  backupsCheck,
];

function warningIf(message: string | undefined): Problem | undefined {
  return message === undefined ? undefined : { state: "warning", message };
}

async function checkToolkits({ definitions }: Examined): Promise<CheckResult> {
  try {
    const { catalog, deployment } = await definitions();
    const bound =
      deployment === undefined ? "no deployment file" : `${deployment.toolkits.size} in the deployment file`;
    return `${catalog.toolkits.size} toolkits without an error, ${bound}`;
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    return error.faults.map((fault) => ({ state: "error", message: definitionFaultText(fault) }));
  }
}

type Definitions = Awaited<ReturnType<Examined["definitions"]>>;

/** Runs a check on the toolkit definitions. If they have errors, the check `toolkits` reports them, and this check does not run. */
async function withDefinitions(
  { definitions, config }: Examined,
  run: (definitions: Definitions, config: Config) => CheckResult,
): Promise<CheckResult> {
  const found = await definitions().catch((error: unknown) => {
    if (error instanceof DefinitionError) return undefined;
    throw error;
  });
  if (found !== undefined) return run(found, config);
  return {
    state: "warning",
    message: "not checked, because the definitions of the toolkits have errors",
    mend: "Solve the problems of the check `toolkits` first.",
  };
}

function checkWebhookSecrets({ catalog, deployment }: Definitions, { environment }: Config): CheckResult {
  const webhooks = [...catalog.toolkits.values()].flatMap(({ slug, webhook }) =>
    webhook === undefined ? [] : [{ slug, webhook, isSet: environment.get(webhook.secretEnv) !== undefined }],
  );
  // A shipped toolkit that the operator has not bound to an app needs no secret.
  const used = webhooks.filter(({ slug, isSet }) => isSet || deployment?.toolkits.has(slug));
  const faulty = used.flatMap(({ slug, webhook }) => {
    const fault = faultOfWebhook(webhook, (name) => environment.get(name));
    return fault === undefined ? [] : [{ state: "warning" as const, message: `${slug} takes no posts: ${fault}` }];
  });
  const known = webhooks.map(({ webhook }) => webhook.secretEnv);
  const set = environment.names().filter((name) => environment.get(name) !== undefined);
  const idle = set.filter((name) => name.startsWith(secretPrefix) && !known.includes(name));
  const unused = idle.map((name) => ({
    state: "warning" as const,
    message: `${name} is set, and no toolkit has a webhook with this variable`,
    mend: "Correct its name. `svc endpoints` lists the variables of all webhooks.",
  }));
  if (faulty.length + unused.length > 0) return [...faulty, ...unused];
  const rest = webhooks.length - used.length;
  const others = rest === 1 ? "1 other toolkit" : `${rest} other toolkits`;
  const refused = rest === 0 ? "" : `; svc refuses the posts of ${others} without a secret`;
  return `set for ${used.map(({ slug }) => slug).join(", ") || "no toolkit"}${refused}`;
}

function checkOauthClients({ catalog, deployment }: Definitions, { environment }: Config): CheckResult {
  const variable = (name: string) => environment.get(name);
  const needing = [...catalog.toolkits.values()].filter(
    ({ slug, auth }) => deployment?.toolkits.has(slug) && auth.some(({ type }) => type === "oauth2"),
  );
  const missing = needing.filter((toolkit) => !isOauthRegistered(toolkit, deployment, variable));
  if (missing.length === 0)
    return `set for ${needing.map(({ slug }) => slug).join(", ") || "no toolkit, and none of the deployment file needs one"}`;
  return missing.map(({ slug }) => {
    const oauth = deployment?.toolkits.get(slug)?.oauth;
    const unset = oauth === undefined ? [] : Object.values(oauth).filter((name) => (variable(name) ?? "") === "");
    const reason = oauth === undefined ? "the deployment file names none" : `${unset.join(" and ")} unset`;
    return { state: "warning", message: `${slug} has no OAuth client, so no person can connect an account: ${reason}` };
  });
}

function checkPublicUrl({ publicUrl, host, port, role }: Config): CheckResult {
  if (role === "worker") return "not needed: a worker takes no calls";
  if (publicUrl === undefined) {
    if (isLoopbackHost(host)) return `unset: only this machine reaches svc, at ${host}, port ${port}`;
    return {
      state: "warning",
      message: `SVC_PUBLIC_URL is unset, and svc listens on ${host}: links, sign-ins and signatures of apps need the address that others use`,
    };
  }
  if (publicUrl.startsWith("https:") || isLoopbackUrl(publicUrl)) return publicUrl;
  return {
    state: "warning",
    message: `SVC_PUBLIC_URL is ${publicUrl}, without TLS: others can read keys and tokens on the network`,
  };
}

function checkProxies({ publicUrl, host, tls, trustedProxies }: Config): CheckResult {
  const all = trustedProxies.filter((range) => /\/0+$/.test(range));
  if (all.length > 0) {
    return {
      state: "warning",
      message: `SVC_TRUSTED_PROXIES contains ${all.join(", ")}: any client can write another address into X-Forwarded-For`,
    };
  }
  if (trustedProxies.length > 0) return `svc trusts X-Forwarded-For from ${trustedProxies.join(", ")}`;
  const isPublic = publicUrl !== undefined && !isLoopbackUrl(publicUrl);
  const hasProxy = isPublic && (isLoopbackHost(host) || (tls === undefined && publicUrl.startsWith("https:")));
  if (!hasProxy) return "no proxy, so svc uses the address of each connection";
  return {
    state: "warning",
    message: `SVC_TRUSTED_PROXIES is empty, and ${publicUrl} is the address of a proxy: to svc, all clients have the proxy's address and share its limits`,
  };
}

/** Files that a process opens in addition to its connections: the database, deliveries, calls to apps, definitions. */
const ownFiles = 500;

function checkOpenFiles({ config: { connectionsMax, processes }, openFilesMax }: Examined): CheckResult {
  const limit = openFilesMax();
  if (limit === undefined) return "this system reports no limit";
  const connections = Math.ceil(connectionsMax / processes);
  const needed = connections + ownFiles;
  if (limit >= needed) return `this process may open the ${needed} files that svc needs at most`;
  return {
    state: limit < ownFiles ? "error" : "warning",
    message: `a process may open ${limit} files, and svc needs up to ${needed}: SVC_CONNECTIONS allows ${connections} connections`,
  };
}

function checkEmbedded(config: Config): CheckResult {
  if (config.databaseUrl !== undefined) return "not used: SVC_DATABASE_URL names a PostgreSQL of your own";
  if (loopbackRanges(config).length > 0) return "used, and only this machine reaches svc";
  return {
    state: "warning",
    message: "used in production: it runs on one machine only, and the service ends with it",
  };
}
